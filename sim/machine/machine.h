// The physical machine: topology, costs, memory, caches, cores and the account of their time.
#pragma once

#include <vector>

#include "sim/engine/engine.h"
#include "sim/machine/cache_directory.h"
#include "sim/machine/cpu_account.h"
#include "sim/machine/guest_memory.h"
#include "sim/machine/profile.h"
#include "sim/machine/smt_core.h"
#include "sim/machine/topology.h"

namespace sim {

class Machine {
 public:
  // `fast_forward`: whether spin loops may be skipped; results are the same either way.
  Machine(Engine& engine, const Topology& topology, const Profile& profile, bool fast_forward)
      : engine_(engine),
        topology_(topology),
        profile_(profile),
        fast_forward_(fast_forward),
        memory_(static_cast<std::size_t>(profile.line_bytes)),
        directory_(engine, memory_, topology, profile),
        rates_(profile, topology.threads),
        cores_(topology.total_cores(), SmtCore(rates_)),
        account_(topology.total_threads()) {}
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Engine& engine() { return engine_; }
  const Topology& topology() const { return topology_; }
  const Profile& profile() const { return profile_; }
  bool fast_forward() const { return fast_forward_; }
  GuestMemory& memory() { return memory_; }
  CacheDirectory& directory() { return directory_; }
  SmtCore& core(std::uint32_t core) { return cores_[core]; }
  CpuAccount& account() { return account_; }

 private:
  Engine& engine_;
  Topology topology_;
  Profile profile_;
  bool fast_forward_;
  GuestMemory memory_;
  CacheDirectory directory_;
  RateTable rates_;
  std::vector<SmtCore> cores_;
  CpuAccount account_;
};

}  // namespace sim
