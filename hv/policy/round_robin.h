// round_robin: one queue for all, first come first served, equal slices.
//
//   time →        slice        slice
//   pCPU 0   [ vCPU 0     ][ vCPU 2     ][ vCPU 0 …
//   pCPU 1   [ vCPU 1  ][ vCPU 3     ][ vCPU 1 …      (first slices are of random length)
//
// A unit whose slice has ended, or that was woken or preempted, goes to the tail. Whoever is woken
// waits its turn; nobody is preempted for it. What a vCPU gives up goes to the first unit of its
// partition that waits.
#pragma once

#include <deque>

#include "hv/dispatch_policy.h"

namespace hv {

class RoundRobin final : public DispatchPolicy {
 public:
  explicit RoundRobin(sim::Time slice) : slice_(slice) {}

  void start(Hypervisor&) override {}
  void enqueue(Unit& unit, Reason) override { queue_.push_back(&unit); }
  void dequeue(Unit& unit) override;
  Choice pick(Seat& seat, const Partition* prefer) override;
  void ran(Unit&, Seat&, sim::Time) override {}
  Seat* victim(Unit&) override { return nullptr; }

 private:
  sim::Time slice_;
  std::deque<Unit*> queue_;
};

}  // namespace hv
