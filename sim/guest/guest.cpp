#include "sim/guest/guest.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace sim {

Guest::Guest(hv::Hypervisor& hypervisor, hv::Partition& partition, GuestMonitor& monitor,
             const Config& config)
    : hypervisor_(hypervisor),
      partition_(partition),
      config_(config),
      memory_(hypervisor.machine(), partition) {
  make_locks(config, monitor);
  const bool shared = shares_processors();
  for (hv::Vcpu* vcpu : partition.vcpus)
    cpus_.emplace_back(hypervisor, *vcpu, monitor, monitored_, shared);
  add_tasks(config);
  add_interrupts(config);
}

// An empty name is the first partition.
bool Guest::is_mine(const std::string& partition) const {
  return partition.empty() ? partition_.id == 0 : partition == partition_.config.name;
}

bool Guest::uses(const std::string& lock) const {
  const auto& locks = config_.locks;
  const auto names_it = [&](const std::string& name) {
    return name == lock || (name.empty() && !locks.empty() && locks.front().name == lock);
  };
  for (const WorkloadConfig& work : config_.workloads) {
    if (!is_mine(work.partition) || work.kind != WorkloadKind::locktorture) continue;
    if (work.locks.empty() ? names_it("") : std::ranges::any_of(work.locks, names_it)) return true;
  }
  return std::ranges::any_of(config_.interrupts, [&](const InterruptConfig& interrupt) {
    return is_mine(interrupt.partition) && interrupt.lock == lock;
  });
}

// A guest has its processors to itself when every vCPU has a physical CPU that nobody else wants.
bool Guest::shares_processors() const {
  if (hypervisor_.config().background.share > 0) return true;
  if (hypervisor_.units().size() > hypervisor_.seats().size()) return true;
  if (partition_.config.capped &&
      partition_.config.entitlement.value_or(1e9) < static_cast<double>(partition_.units.size()))
    return true;
  std::vector<std::uint32_t> pins(hypervisor_.seats().size());
  for (const hv::Unit& unit : hypervisor_.units())
    if (unit.pinned != nullptr && ++pins[unit.pinned->id] > 1) return true;
  return false;
}

void Guest::make_locks(const Config& config, GuestMonitor& monitor) {
  for (const LockConfig& lock_config : config.locks) {
    if (!uses(lock_config.name)) continue;
    auto lock = make_guest_lock(lock_config, memory_);
    lock->monitor = &monitor.add_lock(partition_, lock_config.name, lock_config.algorithm,
                                      lock->strict_fifo(), lock->queues());
    lock->taken_in_interrupts = std::ranges::any_of(
        config.interrupts, [&](const auto& i) { return i.lock == lock_config.name; });
    monitored_.emplace_back(lock->address(), lock->monitor);
    locks_.emplace_back(lock_config.name, std::move(lock));
  }
}

GuestLock* Guest::find_lock(const std::string& name) {
  const auto it = std::ranges::find_if(locks_, [&](const auto& l) { return l.first == name; });
  if (it == locks_.end()) throw std::invalid_argument("no lock named " + name);
  return it->second.get();
}

std::vector<std::uint32_t> Guest::cpus_of(const std::vector<std::uint32_t>& chosen) const {
  if (!chosen.empty()) return chosen;
  std::vector<std::uint32_t> all(partition_.vcpus.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void Guest::add_tasks(const Config& config) {
  std::uint64_t id = std::uint64_t{partition_.id} << 32;
  for (const WorkloadConfig& work : config.workloads) {
    if (!is_mine(work.partition)) continue;
    std::vector<GuestLock*> locks;
    if (work.kind == WorkloadKind::locktorture) {
      for (const std::string& name : work.locks) locks.push_back(find_lock(name));
      if (locks.empty()) locks.push_back(find_lock(config.locks.at(0).name));
    }
    const auto cpus = cpus_of(work.vcpus);
    const std::size_t tasks = work.tasks == 0 ? cpus.size() : work.tasks;
    for (std::size_t i = 0; i < tasks; ++i)
      cpus_.at(cpus[i % cpus.size()]).add_task(Task(config.seed, id++, work, locks));
  }
}

void Guest::add_interrupts(const Config& config) {
  std::uint64_t id = std::uint64_t{partition_.id} << 32;
  for (const InterruptConfig& interrupt : config.interrupts) {
    if (!is_mine(interrupt.partition)) continue;
    GuestLock* lock = interrupt.lock.empty() ? nullptr : find_lock(interrupt.lock);
    for (const std::uint32_t cpu : cpus_of(interrupt.vcpus))
      cpus_.at(cpu).add_interrupt(InterruptLine(config.seed, id++, interrupt, lock));
  }
}

void Guest::start() {
  for (GuestCpu& cpu : cpus_) cpu.start();
}

bool Guest::armed() const {
  return std::ranges::any_of(cpus_, [](const GuestCpu& cpu) { return cpu.armed(); });
}

}  // namespace sim
