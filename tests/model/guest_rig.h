// A guest whose CPUs run a test's code over real locks: engine, machine, hypervisor, monitor and
// one SimPlatform a vCPU, without tasks or interrupts.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/guest/guest_lock.h"
#include "sim/machine/profile.h"
#include "sim/measure/guest_monitor.h"

namespace sim {

class GuestRig {
 public:
  // `vcpus` on as many hardware threads, one a core, unless `threads` says otherwise.
  explicit GuestRig(std::uint32_t vcpus, std::uint32_t threads = 0,
                    const std::string& profile = "power9")
      : machine(engine, Topology{.cores = threads == 0 ? vcpus : threads}, *find_profile(profile),
                true),
        hypervisor(machine, policy(), {partition(vcpus)}, 1),
        monitor(hypervisor),
        memory(machine, hypervisor.partitions().front()) {
    for (hv::Vcpu& vcpu : hypervisor.vcpus())
      platforms.emplace_back(hypervisor, vcpu, monitor, monitored, true);
    hypervisor.set_observer(&monitor);
  }

  GuestLock& add_lock(const std::string& name, const std::string& algorithm = "qspinlock") {
    LockConfig config;
    config.name = name;
    config.algorithm = algorithm;
    return adopt(name, make_guest_lock(config, memory));
  }
  GuestLock& adopt(const std::string& name, std::unique_ptr<GuestLock> lock) {
    lock->monitor = &monitor.add_lock(hypervisor.partitions().front(), name, "test",
                                      lock->strict_fifo(), lock->queues());
    monitored.emplace_back(lock->address(), lock->monitor);
    locks.push_back(std::move(lock));
    return *locks.back();
  }

  void body(std::uint32_t cpu, std::function<void(SimPlatform&, Execution&)> code) {
    Execution& execution = hypervisor.vcpus()[cpu].execution;
    execution.set_body([this, cpu, &execution, code = std::move(code)] {
      code(platforms[cpu], execution);
      // Nothing more to do: asleep for good.
      for (;;) hypervisor.h_cede(hypervisor.vcpus()[cpu]);
    });
  }
  void lock(SimPlatform& p, GuestLock& which) {
    p.execution().sync();
    monitor.wait_begins(p.vcpu(), *which.monitor);
    p.enter(which.monitor);
    which.monitor->path(p.vcpu().cpu, which.lock(p));
  }
  void unlock(SimPlatform& p, GuestLock& which) {
    which.monitor->release_issued();
    which.unlock(p);
  }

  void every(Time period, const std::function<void()>& action) {
    const Slot slot = engine.slots();
    timers.emplace_back([this, slot, period, action] {
      action();
      engine.schedule(slot, engine.now() + period);
    });
    engine.schedule(engine.add_slot(timers.back()), period);
  }
  void run(Time end) {
    hypervisor.start();
    every(end, [this] { engine.stop(); });
    engine.run();
  }

  Engine engine;
  Machine machine;
  hv::Hypervisor hypervisor;
  GuestMonitor monitor;
  LockMemory memory;
  SimPlatform::Locks monitored;
  std::deque<SimPlatform> platforms;
  std::vector<std::unique_ptr<GuestLock>> locks;
  std::deque<Timer> timers;

 private:
  static hv::PartitionConfig partition(std::uint32_t vcpus) {
    hv::PartitionConfig config;
    config.name = "guest";
    config.vcpus = vcpus;
    return config;
  }
  static hv::HypervisorConfig policy() {
    hv::HypervisorConfig config;
    config.policy = hv::PolicyKind::round_robin;
    return config;
  }
};

}  // namespace sim
