// dispatch_wheel: PowerVM-like dispatch by entitlement.
//
// 1. What it models. LoPAR, chapter "Logical Partitioning Option" (dispatch and capacity sections):
//    a partition of entitlement E is guaranteed E physical CPUs, split evenly over its virtual
//    processors. Time goes in rotations of a fixed period (10 ms). In each rotation a unit may run
//    E / units of the period, never more than the whole of it. Entitlement that nobody wanted is
//    lost at the end of the rotation. PowerVM's own order of dispatch is not published beyond
//    "ready; then cache affinity"; what stands here is the simplest that keeps the guarantees.
//
// 2. Windows. Each unit's rotation begins at a phase of its own, drawn once from the seed, so that
//    CPUs don't switch in step. Nothing says where in its window a unit runs, so it may run at the
//    start of one and at the end of the next: 2 × (period - slice) without a physical CPU.
//
//      unit A, half a CPU      |<- window 1, 10 ms ->|<- window 2 ------->|
//                              [###5 ms###]           ..........[###5 ms###]
//                              ↑ budget 5 ms          ↑ refilled, waits for B
//                                         |<-- the gap: 10 ms here ------->|
//      a wait like this one (budget left, no seat free) is not the unit's fault: what it lost by
//      waiting, at most one window's worth, is added to the next budget.
//
// 3. Who gets a seat.
//    a) Entitled units (budget left), in the order of becoming ready. Their slice is their budget.
//       One that was on this seat last goes before one that is ahead by less than a twentieth of
//       the period.
//    b) What a vCPU gives up by H_CEDE or H_CONFER goes to its own partition first: to an entitled
//       unit, or else to one that has used its budget up, which then lives on the budgets of its
//       sleeping siblings. A unit that overdraws its budget otherwise pays from its next ones.
//    c) Spare time goes to units of uncapped partitions, in pieces of 1 ms or what is left of the
//       unit's window. Competing partitions share it by weight (start-time fair queueing over
//       partitions: the one with the least weighted use goes next); a capped partition, or one of
//       weight 0, gets none, and so never more than E.
//    An entitled unit that wakes up, or whose window begins while it waits, takes an idle seat, or
//    the seat of a unit that runs on spare time. It never preempts another entitled one.
//
// 4. Left out: virtual processor folding, latency hints, dedicated processors and their donation,
//    shared processor pools, the split of a wait into "for capacity" and "for a processor". Time
//    in the hypervisor's switch is nobody's: entitlements that add up to all of the machine can't
//    be met in full.
//
// Units: entitlement in physical CPUs of the config's granularity; budgets in virtual time; a
// partition's weighted use in picoseconds divided by its weight.
#pragma once

#include <cstdint>
#include <deque>

#include "hv/dispatch_policy.h"
#include "sim/engine/engine.h"

namespace hv {

class DispatchWheel final : public DispatchPolicy {
 public:
  explicit DispatchWheel(sim::Time period) : period_(period) {}

  void start(Hypervisor& hypervisor) override;
  void enqueue(Unit& unit, Reason reason) override;
  void dequeue(Unit& unit) override;
  Choice pick(Seat& seat, const Partition* prefer) override;
  void ran(Unit& unit, Seat& seat, sim::Time time) override;
  Seat* victim(Unit& unit) override;

 private:
  // What a unit may run, and where it waits.
  struct Share {
    Share(DispatchWheel& wheel, Unit& u)
        : unit(u), timer([this, &wheel] { wheel.window_ends(*this); }) {}

    Unit& unit;
    sim::Timer timer;
    sim::Slot slot = sim::kNoSlot;
    sim::Time quota{};       // of one window
    sim::Time budget{};      // left in this one; negative: overdrawn
    sim::Time window_end{};  // may lie in the past while the unit sleeps
    sim::Time waited{};      // in this window, with budget left
    sim::Time queued_at{};
    sim::Time settled{};    // of its time on the seat, charged already
    bool entitled = false;  // waits in entitled_; otherwise, if it waits, in its partition's queue
    bool on_spare = false;  // it runs, or ran last, on spare time
    std::int64_t advance = 0;  // weighted use charged for the piece in progress
  };
  using Queue = std::deque<Share*>;
  // A partition, as it competes for spare time.
  struct Competitor {
    std::int64_t weight = 0;  // 0: doesn't compete
    std::int64_t used = 0;
    Queue exhausted;  // its units that wait without budget
  };

  sim::Time now() const;
  Share& share(const Unit& unit) { return shares_[unit.id]; }
  Competitor& competitor(const Share& s) { return competitors_[s.unit.partition->id]; }

  void window_ends(Share& s);
  // Brings the budget up to the window that holds now().
  void open_window(Share& s, bool asleep);
  void put(Share& s);
  void take(Queue& queue, Queue::iterator at);
  void charge(Share& s, sim::Time time);
  sim::Time lent_by_siblings(const Partition& partition, sim::Time wanted, bool take_it);
  Queue::iterator find(Queue& queue, const Seat& seat, const Partition* only);
  Choice run_entitled(Queue::iterator at);
  Choice run_spare(Competitor& c, Queue::iterator at);

  sim::Time period_;
  Hypervisor* hypervisor_ = nullptr;
  std::deque<Share> shares_;            // by unit
  std::deque<Competitor> competitors_;  // by partition
  Queue entitled_;
  std::int64_t spare_clock_ = 0;  // weighted use of whoever got spare time last, when it got it
};

}  // namespace hv
