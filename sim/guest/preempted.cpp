#include "sim/guest/preempted.h"

namespace sim {
namespace {

bool odd_count(hv::Vcpu& caller, const hv::Vcpu& target) {
  const auto& count = target.vpa->yield_count;
  return caller.execution.load(&count, sizeof(count)) % 2 != 0;
}

bool idle(hv::Vcpu& caller, const hv::Vcpu& target) {
  return caller.execution.load(&target.vpa->idle, sizeof(target.vpa->idle)) != 0;
}

// The target is off its CPU and idle. If its core is dispatched, or another thread of it has lost
// the core without being idle, that thread's fate tells whether the whole core was preempted.
bool core_is_preempted(hv::Vcpu& caller, const hv::Vcpu& target) {
  if (target.unit == caller.unit) return false;
  for (const hv::Vcpu* sibling : target.unit->vcpus) {
    if (sibling == &target) continue;
    if (!odd_count(caller, *sibling)) return false;
    if (!idle(caller, *sibling)) return true;
  }
  return false;
}

}  // namespace

bool vcpu_is_preempted(hv::PreemptedRule rule, hv::Vcpu& caller, std::uint32_t cpu) {
  const hv::Vcpu& target = *caller.partition->vcpus[cpu];
  const bool whole_cores = target.unit->vcpus.size() > 1;
  switch (rule) {
    case hv::PreemptedRule::odd_count:
      return odd_count(caller, target);
    case hv::PreemptedRule::not_same_core:
      if (whole_cores && target.unit == caller.unit) return false;
      return odd_count(caller, target);
    case hv::PreemptedRule::idle_aware:
      break;
  }
  if (!odd_count(caller, target)) return false;
  if (!idle(caller, target)) return true;
  return whole_cores && core_is_preempted(caller, target);
}

}  // namespace sim
