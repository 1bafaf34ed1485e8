// Dispatch policies: who gets a physical CPU next, and for how long.
//
// The hypervisor calls a policy; a policy decides and keeps its queues, and never moves a vCPU
// itself. It may own timers (start()) and ask the hypervisor to look again (see hypervisor.h:
// reschedule, fill_idle_seats). To add one: derive, list it in make_policy, describe it in
// policy_descriptions().
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "hv/vcpu.h"

namespace hv {

class Hypervisor;

class DispatchPolicy {
 public:
  enum class Reason : std::uint8_t {
    woken,      // was ceded, or a prod or an interrupt ended its confer, or the run begins
    yielded,    // had conferred, and its target was dispatched: it goes on, but claims nothing
    slice_end,  // its slice ended while others may wait
    preempted,  // its seat was taken away
  };
  struct Choice {
    Unit* unit = nullptr;  // null: leave the seat idle
    sim::Time slice{};     // > 0
  };

  virtual ~DispatchPolicy() = default;

  // Before the first dispatch: all units exist, none is queued.
  virtual void start(Hypervisor& hypervisor) = 0;
  // The unit waits for a seat from now on.
  virtual void enqueue(Unit& unit, Reason reason) = 0;
  // A waiting unit no longer does: it is dispatched by a directed confer.
  virtual void dequeue(Unit& unit) = 0;
  // Takes the next unit for the seat out of the queue. `prefer`: the partition whose vCPU has just
  // given the seat up; null: none.
  virtual Choice pick(Seat& seat, const Partition* prefer) = 0;
  // The unit has run on the seat for that long; called when it leaves and before a slice is
  // renewed.
  virtual void ran(Unit& unit, Seat& seat, sim::Time time) = 0;
  // A unit was woken and no idle seat took it: the seat to preempt for it, or null.
  virtual Seat* victim(Unit& unit) = 0;
  // The seat a woken unit should take among idle ones; null: any (its last one first).
  virtual Seat* place(Unit&) { return nullptr; }
  // Whether a confer may put its target on the caller's seat out of turn.
  virtual bool allows_directed_dispatch() const { return true; }
  // Whether each seat's first slice gets a random length, so that seats don't switch in step.
  // False for policies that decide themselves when which seats switch.
  virtual bool staggers() const { return true; }
};

std::unique_ptr<DispatchPolicy> make_policy(const HypervisorConfig& config);

struct PolicyDescription {
  PolicyKind kind;
  std::string_view name;
  std::string_view summary;
};
std::span<const PolicyDescription> policy_descriptions();

}  // namespace hv
