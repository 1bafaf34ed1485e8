// Follows every vCPU and every lock of a run: dispatches, waits, ownership; finds guests that hang.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "hv/hypervisor.h"
#include "sim/measure/guest_failure.h"
#include "sim/measure/lock_monitor.h"

namespace sim {

class GuestMonitor final : public hv::VcpuObserver {
 public:
  explicit GuestMonitor(hv::Hypervisor& hypervisor);

  // Locks are numbered in the order of these calls.
  LockMonitor& add_lock(hv::Partition& partition, const std::string& name,
                        const std::string& algorithm, bool strict_fifo, bool queues);

  // The vCPU starts to wait for the lock. Throws GuestFailure when it can never get it: its owner
  // waits, directly or through others, for a lock that this vCPU owns.
  void wait_begins(hv::Vcpu& vcpu, LockMonitor& lock);
  void note(hv::Vcpu& vcpu, LockMonitor& lock, lock::Note note);
  // The vCPU leaves what it did, a wait perhaps, for an interrupt's handler, and goes back to it.
  void interrupt_begins(hv::Vcpu& vcpu);
  void interrupt_ends(hv::Vcpu& vcpu);
  // The lock that the vCPU waits for in the context that it executes; null: none.
  LockMonitor* waits_for(const hv::Vcpu& vcpu) const;

  void dispatched(hv::Vcpu& vcpu) override;
  void undispatched(hv::Vcpu& vcpu, Left why) override;
  void hcall_begins(hv::Vcpu& vcpu) override;
  void hcall_ends(hv::Vcpu& vcpu) override;

  // Throws GuestFailure if somebody waits and no lock has changed hands for `limit` while no owner
  // was at work, or if `dead` (no vCPU runs or ever will).
  void check_progress(Time limit, bool dead);

  void restart(Time now);
  std::vector<LockResult> finish(Time now);

 private:
  struct View {
    bool dispatched = false;
    bool in_hcall = false;
    std::vector<LockMonitor*> waits;  // innermost last; null: an interrupt came in between
    std::vector<LockMonitor*> owns;
    Time changed{};  // last change of `dispatched`
  };
  struct Lock {
    LockMonitor monitor;
    hv::Partition* partition;
  };

  void report(hv::Vcpu& vcpu, bool preempted);
  void check_cycle(hv::Vcpu& vcpu);
  hv::Vcpu* owner_of(LockMonitor& lock) const;
  // One line a lock: who holds it, who waits, since when.
  std::string story() const;
  std::string describe(const Lock& lock) const;
  std::string where(const hv::Vcpu& vcpu) const;
  Time now() const { return hypervisor_.machine().engine().now(); }

  hv::Hypervisor& hypervisor_;
  std::deque<Lock> locks_;
  std::vector<View> views_;  // by vCPU
};

}  // namespace sim
