// gang: strict co-scheduling, the ideal that other policies are compared with.
//
// 1. What it models. Ousterhout's matrix ("Scheduling Techniques for Concurrent Systems", ICDCS
//    1982): columns are physical CPUs, rows are gangs, and time goes through the rows in frames of
//    one timeslice. All vCPUs of a gang run together or not at all, so within a gang no lock holder
//    and no waiter is ever off its CPU because of somebody else.
//
//      time →        frame 0       frame 1       frame 2
//      pCPU 0     [ A0         ][ A2         ][ B0         ][ A0 …
//      pCPU 1     [ A1         ][ A3         ][ B1         ][ A1 …
//      pCPU 2     [ (idle)     ][ (idle)     ][ B2         ][ (idle) …
//                 ↑ all seats switch at one instant; each pays the switch cost
//
// 2. Gangs. Each partition is cut into as few gangs as its size and its pins allow: pinned units
//    take their seat in the first gang where it is free, the others fill what is left in order. A
//    unit keeps its seat for the whole run. A partition with more vCPUs than there are seats gets
//    several gangs; between those, preemption of holders is possible again.
//
// 3. Turns. Gangs take turns in a fixed order, one frame each; a gang of which nobody wants to run
//    is passed over, and one that falls asleep in the middle of its frame gives the rest of it up.
//    Apart from that a seat whose unit is not ready stays idle: that loss is the price of the
//    scheme. A unit that wakes while its gang's frame is on gets its seat back at once, unless what
//    is left of the frame would go into the switch.
//
// 4. Left out: weights and entitlements, filling idle seats from other gangs ("alternate
//    selection"), relaxed co-scheduling, directed dispatch (a confer makes its caller wait, and
//    changes no order). Background load on a seat breaks the gang for as long as it lasts.
//
// Units: all times are virtual time; a unit is a vCPU, or a virtual core (granularity core).
#pragma once

#include <optional>
#include <vector>

#include "hv/dispatch_policy.h"
#include "sim/engine/engine.h"

namespace hv {

class Gang final : public DispatchPolicy {
 public:
  explicit Gang(sim::Time frame);

  void start(Hypervisor& hypervisor) override;
  void enqueue(Unit& unit, Reason reason) override;
  void dequeue(Unit&) override {}
  Choice pick(Seat& seat, const Partition* prefer) override;
  void ran(Unit&, Seat&, sim::Time) override {}
  Seat* victim(Unit&) override { return nullptr; }
  Seat* place(Unit& unit) override { return places_[unit.id].seat; }
  bool allows_directed_dispatch() const override { return false; }
  bool staggers() const override { return false; }

 private:
  using Row = std::vector<Unit*>;  // by seat; null: nobody's
  struct Place {
    std::size_t row = 0;
    Seat* seat = nullptr;
  };

  void seat_units(Partition& partition);
  bool try_place(Unit& unit, std::size_t row);
  bool wants_to_run(std::size_t row) const;
  // Ends the frame now: the next gang that wants to run takes all seats.
  void next_frame();
  sim::Time now() const;

  sim::Time frame_;
  Hypervisor* hypervisor_ = nullptr;
  std::vector<Row> rows_;
  std::vector<Place> places_;  // by unit
  std::optional<std::size_t> current_;
  std::size_t last_row_ = 0;
  sim::Time frame_end_{};
  sim::Timer timer_;
  sim::Slot slot_ = sim::kNoSlot;
};

}  // namespace hv
