// fair: a Linux host with KVM, where each vCPU is a thread of the fair scheduling class.
//
// 1. What it models. CFS (kernel/sched/fair.c up to 6.5) as far as vCPU threads feel it: a queue a
//    physical CPU, ordered by virtual runtime; slices; wake-up preemption; idle and periodic
//    balancing. The config's timeslice stands for what latency, granularity and HZ make of it (12
//    ms for two vCPUs a CPU on a host of 8 CPUs or more, 3 ms with EEVDF's base slice).
//
//      pCPU 0 runs A (weight 128), B (128) waits; C (128) sleeps, and wakes at w:
//
//      time →          slice        slice          w
//      pCPU 0    [ A          ][ B          ][ A   ][ C  ][ B …
//      vruntime    A 0→12        B 0→12        12→16
//                                              C = max(its own, min - half a slice) = 12 - 6
//                                              A - C = 10 > wakeup_granularity: C preempts A
//
// 2. Virtual runtime is time divided by weight (the partition's; 128 counts as 1). At the end of a
//    slice the smallest goes next, which may be who ran: so in the long run units on one CPU share
//    it by weight. `min` of a queue never goes back; a unit that moves to another queue keeps its
//    distance from it.
//
// 3. Waking. A unit goes to its last CPU, or to an idle one if that is busy. A long sleep is worth
//    no more than half a slice. It preempts who runs there if it is behind by more than
//    wakeup_granularity.
//
// 4. Balancing. A CPU that runs dry pulls a unit from the longest queue. Every four slices, load
//    (weights of who waits and runs) is evened out as far as moving single units can; where a
//    difference of one unit remains, it moves too, so that three vCPUs on two CPUs get two thirds
//    each in the long run and not 1, ½ and ½. The kernel does this less regularly.
//
// 5. Confer. The target of a directed confer takes the caller's seat out of turn (the "next buddy"
//    of CFS); Linux honours that less often than it seems. What a vCPU gives up by H_CEDE goes to
//    whoever is next in the queue, not to its partition: the host doesn't know partitions.
//
// 6. Left out: ticks (preemption is exact), scheduling domains and NUMA balancing (any CPU is as
//    near as another), cgroup hierarchies, EEVDF's deadlines and lag, halt polling.
//
// Units: picoseconds, scaled by 128 / weight. Ties: the lower unit id.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "hv/dispatch_policy.h"
#include "sim/engine/engine.h"

namespace hv {

class Fair final : public DispatchPolicy {
 public:
  Fair(sim::Time slice, sim::Time wakeup_granularity);

  void start(Hypervisor& hypervisor) override;
  void enqueue(Unit& unit, Reason reason) override;
  void dequeue(Unit& unit) override;
  Choice pick(Seat& seat, const Partition* prefer) override;
  void ran(Unit& unit, Seat& seat, sim::Time time) override;
  Seat* victim(Unit& unit) override;
  Seat* place(Unit& unit) override;

 private:
  struct Entity {
    std::int64_t vruntime = 0;
    std::int64_t weight = 128;
    std::uint32_t queue = 0;  // where it waits, or ran last
  };
  // A physical CPU's.
  struct Queue {
    std::set<std::pair<std::int64_t, std::uint32_t>> waiting;  // (virtual runtime, unit)
    std::int64_t min = 0;
    std::int64_t load = 0;  // while balancing: weights of who waits and runs
  };

  struct Move {
    const Unit* unit = nullptr;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::int64_t gain = 0;  // > 0: the loads come closer; 0: they are exchanged
  };

  std::int64_t scaled(const Entity& e, sim::Time time) const;
  void insert(std::uint32_t unit);
  void remove(std::uint32_t unit);
  void move(std::uint32_t unit, std::uint32_t queue);
  void advance_min(std::uint32_t queue, const Unit* running);
  // The waiting unit of the queue with the smallest virtual runtime that may run on the seat.
  Unit* first_for(const Queue& queue, const Seat& seat) const;
  Unit* pull(Seat& seat);
  void balance();
  Unit* first_movable(const Queue& queue) const;
  // From the busiest queue to the least busy one; no unit: there is none to move.
  Move best_move() const;
  void carry_out(const Move& m);

  sim::Time slice_;
  sim::Time wakeup_granularity_;
  Hypervisor* hypervisor_ = nullptr;
  std::vector<Entity> entities_;  // by unit
  std::vector<Queue> queues_;     // by seat
  std::size_t waiting_ = 0;       // in all queues
  std::optional<std::uint32_t> last_rotated_;
  sim::Timer timer_;
  sim::Slot slot_ = sim::kNoSlot;
};

}  // namespace hv
