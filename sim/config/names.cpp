#include "sim/config/names.h"

#include <array>

namespace sim {
namespace {

using hv::Granularity;
using hv::PolicyKind;
using hv::PreemptedRule;
using hv::ProdMemory;
using Kind = Distribution::Kind;

constexpr std::array kPolicies{
    Named<PolicyKind>{PolicyKind::dispatch_wheel, "dispatch_wheel",
                      "PowerVM-like: every vCPU runs its entitlement once a rotation"},
    Named<PolicyKind>{PolicyKind::fair, "fair",
                      "KVM host: virtual runtime, slices, wake-up preemption, balancing"},
    Named<PolicyKind>{PolicyKind::round_robin, "round_robin",
                      "one queue, equal slices, no entitlement"},
    Named<PolicyKind>{PolicyKind::gang, "gang",
                      "strict co-scheduling: all vCPUs of a partition at once, the ideal"},
    Named<PolicyKind>{PolicyKind::replay, "replay",
                      "a recorded schedule ([hypervisor] replay = its file)"},
};

constexpr std::array kGranularities{
    Named<Granularity>{Granularity::thread, "thread", "a hardware thread runs one vCPU"},
    Named<Granularity>{Granularity::core, "core",
                       "a core runs one virtual core, all its threads together"},
};

constexpr std::array kProdMemories{
    Named<ProdMemory>{ProdMemory::until_dispatch, "until_dispatch",
                      "LoPAR: a dispatch clears the prod bit"},
    Named<ProdMemory>{ProdMemory::until_cede, "until_cede",
                      "KVM: only H_CEDE consumes the prod bit"},
};

constexpr std::array kPreemptedRules{
    Named<PreemptedRule>{PreemptedRule::odd_count, "odd_count", "Linux 5.9: an odd yield count"},
    Named<PreemptedRule>{PreemptedRule::not_same_core, "not_same_core",
                         "Linux 5.11: nor a sibling of the caller's core"},
    Named<PreemptedRule>{PreemptedRule::idle_aware, "idle_aware",
                         "Linux 6.7: idle flag and siblings as well"},
};

constexpr std::array kWorkloadKinds{
    Named<WorkloadKind>{WorkloadKind::locktorture, "locktorture",
                        "for ever: think, lock, critical section, unlock, block"},
    Named<WorkloadKind>{WorkloadKind::compute, "compute",
                        "for ever: think; takes no lock, only physical CPUs"},
};

constexpr std::array kInterruptLevels{
    Named<InterruptLevel>{InterruptLevel::softirq, "softirq", "interrupts tasks"},
    Named<InterruptLevel>{InterruptLevel::hardirq, "hardirq", "interrupts tasks and softirqs"},
    Named<InterruptLevel>{InterruptLevel::nmi, "nmi", "interrupts everything but another nmi"},
};

constexpr std::array kDistributionKinds{
    Named<Kind>{Kind::constant, "constant", "always mean"},
    Named<Kind>{Kind::exponential, "exponential", "mean"},
    Named<Kind>{Kind::uniform, "uniform", "low to high"},
    Named<Kind>{Kind::lognormal, "lognormal", "mean, sigma of the logarithm"},
    Named<Kind>{Kind::pareto, "pareto", "mean, alpha"},
    Named<Kind>{Kind::empirical, "empirical", "values, or a file of them"},
};

}  // namespace

std::span<const Named<hv::PolicyKind>> policies() {
  return kPolicies;
}
std::span<const Named<hv::Granularity>> granularities() {
  return kGranularities;
}
std::span<const Named<hv::ProdMemory>> prod_memories() {
  return kProdMemories;
}
std::span<const Named<hv::PreemptedRule>> preempted_rules() {
  return kPreemptedRules;
}
std::span<const Named<WorkloadKind>> workload_kinds() {
  return kWorkloadKinds;
}
std::span<const Named<InterruptLevel>> interrupt_levels() {
  return kInterruptLevels;
}
std::span<const Named<Distribution::Kind>> distribution_kinds() {
  return kDistributionKinds;
}

std::string default_name(std::string_view list, std::size_t index) {
  std::string name = list == "partition" ? "guest" : list == "lock" ? "hot" : "";
  if (!name.empty() && index > 0) name += std::to_string(index);
  return name;
}

}  // namespace sim
