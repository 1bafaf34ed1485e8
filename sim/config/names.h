// The names by which configs call enumerated things, with a line on each; for the reader, the
// effective config and `trainwreck list`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "hv/hypervisor_config.h"
#include "sim/engine/distribution.h"
#include "sim/guest/workload_config.h"

namespace sim {

template <class E>
struct Named {
  E value;
  std::string_view name;
  std::string_view summary;
};

std::span<const Named<hv::PolicyKind>> policies();
std::span<const Named<hv::Granularity>> granularities();
std::span<const Named<hv::ProdMemory>> prod_memories();
std::span<const Named<hv::PreemptedRule>> preempted_rules();
std::span<const Named<WorkloadKind>> workload_kinds();
std::span<const Named<InterruptLevel>> interrupt_levels();
std::span<const Named<Distribution::Kind>> distribution_kinds();

// What the entry of that list ("partition" or "lock") is called when it does not say; empty for
// other lists.
std::string default_name(std::string_view list, std::size_t index);

template <class E>
std::string_view name_of(std::span<const Named<E>> names, E value) {
  for (const Named<E>& named : names) {
    if (named.value == value) return named.name;
  }
  return {};
}

}  // namespace sim
