// A guest: the operating system of one partition, with its CPUs, locks and workloads.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "sim/guest/guest_cpu.h"
#include "sim/guest/guest_lock.h"
#include "sim/guest/simulation_config.h"

namespace sim {

class Guest {
 public:
  // `config` outlives the guest. Locks, workloads and interrupts of other partitions are passed
  // over. Throws std::invalid_argument for names that don't exist.
  Guest(hv::Hypervisor& hypervisor, hv::Partition& partition, GuestMonitor& monitor,
        const Config& config);

  void start();
  // Whether a timer or a device could still make a ceded CPU act.
  bool armed() const;

 private:
  bool is_mine(const std::string& partition) const;
  bool uses(const std::string& lock) const;
  bool shares_processors() const;
  void make_locks(const Config& config, GuestMonitor& monitor);
  void add_tasks(const Config& config);
  void add_interrupts(const Config& config);
  GuestLock* find_lock(const std::string& name);
  std::vector<std::uint32_t> cpus_of(const std::vector<std::uint32_t>& chosen) const;

  hv::Hypervisor& hypervisor_;
  hv::Partition& partition_;
  const Config& config_;
  LockMemory memory_;
  std::vector<std::pair<std::string, std::unique_ptr<GuestLock>>> locks_;
  SimPlatform::Locks monitored_;
  std::deque<GuestCpu> cpus_;
};

}  // namespace sim
