// A lock of the config, whatever its algorithm, as guests use it.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <typeindex>

#include "sim/guest/lock_config.h"
#include "sim/guest/sim_platform.h"
#include "sim/measure/lock_monitor.h"

namespace sim {

class GuestLock {
 public:
  virtual ~GuestLock() = default;
  virtual lock::Path lock(SimPlatform& platform) = 0;
  virtual void unlock(SimPlatform& platform) = 0;
  virtual bool strict_fifo() const = 0;
  virtual bool queues() const = 0;
  // The lock object that the algorithm's notes name.
  virtual const void* address() const = 0;

  LockMonitor* monitor = nullptr;
  bool taken_in_interrupts = false;  // then tasks take it with interrupts disabled
};

// Per-CPU data (queue nodes) of one guest; locks of one algorithm share it.
class LockMemory {
 public:
  LockMemory(Machine& machine, const hv::Partition& partition)
      : machine_(machine), partition_(partition) {}

  template <class Area>
  std::span<Area> areas() {
    std::shared_ptr<void>& kept = areas_[std::type_index(typeid(Area))];
    if (!kept) {
      const auto node = [this](std::size_t cpu) { return partition_.vcpus[cpu]->node; };
      kept = std::make_shared<std::span<Area>>(
          machine_.memory().make_array<Area>(partition_.vcpus.size(), node));
    }
    return *std::static_pointer_cast<std::span<Area>>(kept);
  }
  Machine& machine() { return machine_; }

 private:
  Machine& machine_;
  const hv::Partition& partition_;
  std::map<std::type_index, std::shared_ptr<void>> areas_;
};

// Throws std::invalid_argument for an unknown algorithm, stage or knob.
std::unique_ptr<GuestLock> make_guest_lock(const LockConfig& config, LockMemory& memory);

}  // namespace sim
