// The parts of the config reader, one a group of sections. Internal to sim/config.
//
// Each reads its part of the root table into `config` and may look at what those before it have
// filled in: machine, hypervisor, partitions, locks, workloads, in that order.
#pragma once

#include "sim/config/section.h"
#include "sim/guest/simulation_config.h"

namespace sim {

void read_machine(const Section& root, Config& config);
void read_hypervisor(const Section& root, Config& config);
void read_partitions(const Section& root, Config& config);
void read_locks(const Section& root, Config& config);
void read_workloads(const Section& root, Config& config);

// Physical CPUs of the hypervisor's granularity: hardware threads or cores.
std::uint32_t physical_cpus(const Config& config);

// Figures of the profile that configs spell in [hypervisor]: {its key there, key of the Figure}.
struct CostKey {
  std::string_view key;
  std::string_view figure;
};
std::span<const CostKey> hypervisor_costs();

}  // namespace sim
