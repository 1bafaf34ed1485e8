#include "hv/dispatch_policy.h"

#include <array>
#include <stdexcept>

#include "hv/policy/dispatch_wheel.h"
#include "hv/policy/fair.h"
#include "hv/policy/gang.h"
#include "hv/policy/replay.h"
#include "hv/policy/round_robin.h"

namespace hv {

std::unique_ptr<DispatchPolicy> make_policy(const HypervisorConfig& config) {
  switch (config.policy) {
    case PolicyKind::dispatch_wheel:
      return std::make_unique<DispatchWheel>(config.timeslice);
    case PolicyKind::fair:
      return std::make_unique<Fair>(config.timeslice, config.wakeup_granularity);
    case PolicyKind::round_robin:
      return std::make_unique<RoundRobin>(config.timeslice);
    case PolicyKind::gang:
      return std::make_unique<Gang>(config.timeslice);
    case PolicyKind::replay:
      return std::make_unique<Replay>(config.replay, config.timeslice);
  }
  throw std::invalid_argument("no such dispatch policy");
}

std::span<const PolicyDescription> policy_descriptions() {
  static constexpr std::array kAll{
      PolicyDescription{PolicyKind::dispatch_wheel, "dispatch_wheel",
                        "PowerVM-like: entitled slices of a rotating window, spare time by weight"},
      PolicyDescription{PolicyKind::fair, "fair",
                        "KVM host: virtual runtime, per-CPU queues, balancing, wake-up preemption"},
      PolicyDescription{PolicyKind::round_robin, "round_robin", "one queue, equal slices"},
      PolicyDescription{PolicyKind::gang, "gang",
                        "strict co-scheduling: a partition's vCPUs run together or not at all"},
      PolicyDescription{PolicyKind::replay, "replay", "a recorded schedule"},
  };
  return kAll;
}

}  // namespace hv
