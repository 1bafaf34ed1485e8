#include "sim/guest/simulation.h"

#include <algorithm>
#include <deque>

#include "hv/hypervisor.h"
#include "sim/guest/guest.h"
#include "sim/machine/machine.h"
#include "sim/measure/guest_monitor.h"

namespace sim {
namespace {

class Simulation {
 public:
  Simulation(const Config& config, const SimulationHooks& hooks)
      : config_(config),
        hooks_(hooks),
        machine_(engine_, config.topology, config.profile, config.fast_forward),
        hypervisor_(machine_, config.hypervisor, config.partitions, config.seed),
        monitor_(hypervisor_) {
    for (hv::Partition& partition : hypervisor_.partitions())
      guests_.emplace_back(hypervisor_, partition, monitor_, config_);
  }

  Result run() {
    hypervisor_.set_observer(&monitor_);
    for (Guest& guest : guests_) guest.start();
    hypervisor_.start();
    if (config_.run.warmup > Time{0}) at(config_.run.warmup, [this] { begin_window(); });
    end_ = saturating_add(config_.run.warmup, config_.duration);
    at(end_, [this] { engine_.stop(); });
    every(std::max(Time{1}, config_.run.livelock_limit / 4),
          [this] { monitor_.check_progress(config_.run.livelock_limit, dead()); });
    every(std::max(Time{1}, end_ / 1000), [this] { report_progress(); });
    engine_.run();
    return finish();
  }

 private:
  void at(Time when, std::function<void()> action) {
    timers_.emplace_back(std::move(action));
    engine_.schedule(engine_.add_slot(timers_.back()), when);
  }
  void every(Time period, std::function<void()> action) {
    const Slot slot = engine_.slots();
    timers_.emplace_back([this, slot, period, action = std::move(action)] {
      action();
      engine_.schedule(slot, saturating_add(engine_.now(), period));
    });
    engine_.schedule(engine_.add_slot(timers_.back()), period);
  }

  void begin_window() {
    window_start_ = engine_.now();
    monitor_.restart(engine_.now());
    machine_.account().restart(engine_.now());
    hypervisor_.restart_counters();
  }

  void report_progress() {
    if (hooks_.interrupted != nullptr && *hooks_.interrupted) engine_.stop();
    if (hooks_.progress) hooks_.progress(engine_.now(), end_);
  }

  // No vCPU runs or waits to, and nothing is armed that would wake one.
  bool dead() {
    const auto alive = [](const hv::Vcpu& vcpu) {
      return vcpu.state == hv::VcpuState::running || vcpu.state == hv::VcpuState::ready;
    };
    return std::ranges::none_of(hypervisor_.vcpus(), alive) &&
           std::ranges::none_of(guests_, [](const Guest& guest) { return guest.armed(); });
  }

  Result finish() {
    const Time now = engine_.now();
    Result result;
    result.virtual_time = now - window_start_;
    result.seed = config_.seed;
    result.locks = monitor_.finish(now);
    CpuAccount& account = machine_.account();
    account.settle(now);
    result.cpu = {account.total(CpuUse::useful), account.total(CpuUse::spin),
                  account.total(CpuUse::hypervisor) + account.total(CpuUse::background),
                  account.total(CpuUse::idle)};
    const hv::HypervisorCounters counters = hypervisor_.counters();
    result.hypervisor = {counters.dispatches,
                         counters.preemptions,
                         counters.confer_directed,
                         counters.confer_undirected,
                         counters.confer_stale,
                         counters.prod,
                         counters.cede,
                         counters.steal,
                         account.total(CpuUse::background)};
    result.engine.events = engine_.events();
    result.engine.switches = engine_.switches();
    for (hv::Vcpu& vcpu : hypervisor_.vcpus()) {
      result.engine.iterations += vcpu.execution.counters().iterations;
      result.engine.fast_forwarded += vcpu.execution.counters().fast_forwarded;
    }
    return result;
  }

  const Config& config_;
  const SimulationHooks& hooks_;
  Engine engine_;
  Machine machine_;
  hv::Hypervisor hypervisor_;
  GuestMonitor monitor_;
  std::deque<Guest> guests_;
  std::deque<Timer> timers_;
  Time window_start_{};
  Time end_{};
};

}  // namespace

Result simulate(const Config& config, const SimulationHooks& hooks) {
  return Simulation(config, hooks).run();
}

}  // namespace sim
