// A whole config: what `trainwreck run` simulates. Plain data; sim/config/reader.h makes it.
#pragma once

#include <cstdint>
#include <vector>

#include "hv/hypervisor_config.h"
#include "sim/engine/time.h"
#include "sim/guest/lock_config.h"
#include "sim/guest/workload_config.h"
#include "sim/machine/profile.h"
#include "sim/machine/topology.h"

namespace sim {

struct RunConfig {
  Time warmup{};                     // simulated, not measured, before `duration`
  Time livelock_limit = seconds(1);  // no lock progress while somebody waits: livelock
};

struct Config {
  Time duration = seconds(1);
  std::uint64_t seed = 1;
  RunConfig run;
  Topology topology;
  Profile profile;
  hv::HypervisorConfig hypervisor;
  std::vector<hv::PartitionConfig> partitions;
  std::vector<LockConfig> locks;
  std::vector<WorkloadConfig> workloads;
  std::vector<InterruptConfig> interrupts;
  bool fast_forward = true;  // --no-fast-forward; not part of the effective config
};

}  // namespace sim
