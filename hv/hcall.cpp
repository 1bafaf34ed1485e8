// H_CEDE, H_PROD and H_CONFER. The order of the checks is LoPAR's; see hypervisor.h.
#include <algorithm>

#include "hv/hypervisor.h"

namespace hv {

void Hypervisor::begin_hcall(Vcpu& caller, sim::Time time) {
  caller.execution.sync();
  caller.execution.set_use(sim::CpuUse::hypervisor);
  observer_->hcall_begins(caller);
  caller.execution.delay(time);
}

void Hypervisor::end_hcall(Vcpu& caller, sim::CpuUse use) {
  // Whoever was made ready may have taken the caller's seat: it goes on when it has one again.
  caller.execution.halt();
  observer_->hcall_ends(caller);
  caller.execution.set_use(use);
}

void Hypervisor::block(Vcpu& caller, VcpuState state, Vcpu* target) {
  Unit& unit = *caller.unit;
  Seat& seat = *unit.seat;
  const sim::Time left = std::max(sim::Time{0}, seat.slice_end - now());
  caller.state = state;
  stop(caller,
       state == VcpuState::ceded ? VcpuObserver::Left::ceded : VcpuObserver::Left::conferred);
  if (!unit.runnable()) {
    policy_->ran(unit, seat, now() - seat.dispatched_at);
    unit.seat = nullptr;
    seat.unit = nullptr;
    Unit* next = target == nullptr ? nullptr : target->unit;
    if (next != nullptr && next->queued && next->may_run_on(seat) && left > sim::Time{0} &&
        policy_->allows_directed_dispatch()) {
      policy_->dequeue(*next);
      dispatch(seat, *next, left);
    } else {
      pick_for(seat, unit.partition, left);
    }
  }
  caller.execution.halt();
}

HcallStatus Hypervisor::h_cede(Vcpu& caller) {
  const sim::CpuUse use = caller.execution.use();
  begin_hcall(caller, machine_.profile().hcall);
  ++counters_.cede;
  caller.interrupts_enabled = true;
  if (caller.prodded) {
    caller.prodded = false;
  } else if (!caller.interrupt_pending) {
    block(caller, VcpuState::ceded, nullptr);
  }
  end_hcall(caller, use);
  return HcallStatus::success;
}

HcallStatus Hypervisor::h_prod(Vcpu& caller, std::int32_t target) {
  const sim::CpuUse use = caller.execution.use();
  const auto& vcpus = caller.partition->vcpus;
  const bool valid = target >= 0 && static_cast<std::size_t>(target) < vcpus.size();
  begin_hcall(caller, machine_.profile().hcall);
  if (valid) {
    ++counters_.prod;
    Vcpu& vcpu = *vcpus[static_cast<std::size_t>(target)];
    if (vcpu.state == VcpuState::ceded || vcpu.state == VcpuState::conferred)
      caller.execution.delay(machine_.profile().prod);
    // The target may have moved on meanwhile; only what it does now counts.
    vcpu.prodded = true;
    if (vcpu.state == VcpuState::ceded) {
      make_ready(vcpu, DispatchPolicy::Reason::woken);
    } else if (vcpu.state == VcpuState::conferred) {
      end_confer(vcpu, DispatchPolicy::Reason::woken);
    }
  }
  end_hcall(caller, use);
  return valid ? HcallStatus::success : HcallStatus::parameter;
}

HcallStatus Hypervisor::h_confer(Vcpu& caller, std::int32_t target, std::uint32_t dispatch) {
  const sim::CpuUse use = caller.execution.use();
  const auto& vcpus = caller.partition->vcpus;
  const bool all = target == kAllProcessors;
  const bool valid = all || (target >= 0 && static_cast<std::size_t>(target) < vcpus.size());
  begin_hcall(caller, machine_.profile().hcall);
  if (!valid) {
    end_hcall(caller, use);
    return HcallStatus::parameter;
  }
  // An interrupt that came during the call would not come again to end the wait.
  const bool interrupted = caller.interrupts_enabled && caller.interrupt_pending;
  if (all) {
    ++counters_.confer_undirected;
    if (!interrupted && confer_to_all(caller)) {
      caller.conferred_to_all = true;
      block(caller, VcpuState::conferred, nullptr);
    }
  } else if (Vcpu& vcpu = *vcpus[static_cast<std::size_t>(target)]; &vcpu == &caller) {
    // Until prodded; a prod that came first ends it at once.
    ++counters_.confer_directed;
    if (caller.prodded) {
      caller.prodded = false;
    } else if (!interrupted) {
      ++caller.confer_number;
      block(caller, VcpuState::conferred, nullptr);
    }
  } else if (vcpu.vpa->yield_count != dispatch || dispatch % 2 == 0 || vcpu.conferred_to_all) {
    ++counters_.confer_stale;
  } else {
    ++counters_.confer_directed;
    if (!interrupted) {
      ++caller.confer_number;
      wait_for_dispatch_of(vcpu, caller);
      block(caller, VcpuState::conferred, &vcpu);
    }
  }
  end_hcall(caller, use);
  return HcallStatus::success;
}

// Waits for one dispatch of each vCPU of the partition that wants one. Those that run, have
// conferred, or (by default) have ceded are passed over. Whether there is anybody to wait for.
bool Hypervisor::confer_to_all(Vcpu& caller) {
  ++caller.confer_number;
  for (Vcpu* vcpu : caller.partition->vcpus) {
    const bool waits = vcpu->state == VcpuState::ready ||
                       (vcpu->state == VcpuState::ceded && config_.confer_all_waits_for_ceded);
    if (vcpu != &caller && waits) wait_for_dispatch_of(*vcpu, caller);
  }
  return caller.confer_waits > 0;
}

void Hypervisor::wait_for_dispatch_of(Vcpu& target, Vcpu& waiter) {
  auto& list = target.conferrers;
  if (list.size() > 2 * waiter.partition->vcpus.size())
    std::erase_if(list, [](const auto& c) { return c.confer != c.vcpu->confer_number; });
  list.push_back({&waiter, waiter.confer_number});
  ++waiter.confer_waits;
}

void Hypervisor::release_conferrers(Vcpu& target) {
  if (target.conferrers.empty()) return;
  // A waiter that becomes ready may be dispatched at once, and so come back here.
  std::vector<Vcpu::Conferrer> list;
  list.swap(target.conferrers);
  for (const auto& [vcpu, confer] : list)
    if (confer == vcpu->confer_number && --vcpu->confer_waits == 0)
      end_confer(*vcpu, DispatchPolicy::Reason::yielded);
}

void Hypervisor::end_confer(Vcpu& vcpu, DispatchPolicy::Reason reason) {
  ++vcpu.confer_number;
  vcpu.confer_waits = 0;
  vcpu.conferred_to_all = false;
  make_ready(vcpu, reason);
}

}  // namespace hv
