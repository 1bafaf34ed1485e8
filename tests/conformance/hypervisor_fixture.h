// A machine, a hypervisor and vCPUs whose code a test gives as lambdas; who ran where and when is
// recorded.
//
//   World w({.cores = 1, .partitions = {{.vcpus = 2}}});
//   w.body(0, [&](Vcpu& me) { w.hv.h_cede(me); });   // the others compute for ever
//   w.run(milliseconds(1));
//
// The profile's figures are round, and threads of a core don't slow each other down, so that a test
// can say to the nanosecond when something happens. vCPUs are named by their global number.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hv/hypervisor.h"

namespace hv::test {

using sim::microseconds;
using sim::milliseconds;
using sim::nanoseconds;
using sim::seconds;
using sim::Time;

inline constexpr Time kHcall = microseconds(1);
inline constexpr Time kProd = nanoseconds(500);
inline constexpr Time kSwitch = microseconds(2);
inline constexpr Time kTransfer = nanoseconds(100);
inline constexpr Time kHit = nanoseconds(1);
inline constexpr Time kMemory = nanoseconds(80);

inline sim::Profile round_profile() {
  sim::Profile p;
  p.l1_hit = p.loop = p.relax = p.store = kHit;
  p.reservation = nanoseconds(2);
  p.transfer_chip = p.transfer_socket = p.transfer_remote = p.transfer_far = kTransfer;
  p.memory = kMemory;
  p.capacity_2 = 2000;
  p.capacity_4 = 4000;
  p.capacity_8 = 8000;
  p.hcall = kHcall;
  p.prod = kProd;
  p.switch_cost = kSwitch;
  return p;
}

struct Scenario {
  std::uint32_t cores = 1;
  std::uint32_t threads = 1;
  // Slices so long that none ends by itself, unless a test wants it to.
  PolicyKind policy = PolicyKind::round_robin;
  Time timeslice = seconds(1000);
  std::vector<PartitionConfig> partitions;
  std::uint64_t seed = 1;
  Granularity granularity = Granularity::thread;
  ProdMemory prod_memory = ProdMemory::until_dispatch;
  bool confer_all_waits_for_ceded = false;
  Time wakeup_granularity = milliseconds(1);
  Background background = {};
  std::string replay = {};
  Time switch_cost = kSwitch;
};

inline PartitionConfig partition(std::uint32_t vcpus, std::vector<std::uint32_t> pin = {}) {
  PartitionConfig config;
  config.name = "guest";
  config.vcpus = vcpus;
  config.pin = std::move(pin);
  return config;
}

class World final : public VcpuObserver {
 public:
  enum class What : std::uint8_t { dispatched, preempted, ceded, conferred };
  struct Event {
    Time at;
    std::uint32_t vcpu;
    What what;
    std::uint32_t thread;  // where it is, or was
  };

  explicit World(const Scenario& setup)
      : engine(kStack),
        machine(engine, {1, 1, setup.cores, setup.threads}, profile_of(setup), true),
        hv(machine, config_of(setup), setup.partitions, setup.seed) {
    hv.set_observer(this);
    running_since_.resize(hv.vcpus().size(), sim::kNever);
    thread_.resize(hv.vcpus().size());
    ran_.resize(hv.vcpus().size());
    for (Vcpu& vcpu : hv.vcpus())
      body(vcpu.id, [](Vcpu& me) {
        for (;;) me.execution.compute(seconds(1));
      });
  }

  // A vCPU whose code has returned cedes for ever.
  void body(std::uint32_t vcpu, std::function<void(Vcpu&)> code) {
    Vcpu& v = hv.vcpus()[vcpu];
    v.execution.set_body([this, &v, code = std::move(code)] {
      code(v);
      for (;;) hv.h_cede(v);
    });
  }
  void idle(std::uint32_t vcpu) {
    body(vcpu, [](Vcpu&) {});
  }
  void at(Time time, std::function<void()> action) {
    timers_.emplace_back(std::move(action));
    engine.schedule(engine.add_slot(timers_.back()), time);
  }
  // From time 0. Once.
  void run(Time until) {
    hv.start();
    at(until, [this] {
      machine.account().settle(now());
      for (Vcpu& vcpu : hv.vcpus()) settle(vcpu.id);
      engine.stop();
    });
    engine.run();
  }

  Time now() const { return engine.now(); }
  Vcpu& vcpu(std::uint32_t id) { return hv.vcpus()[id]; }
  std::uint32_t count_of(std::uint32_t id) { return vcpu(id).vpa->yield_count; }
  bool runs(std::uint32_t id) { return vcpu(id).state == VcpuState::running; }
  void interrupt(std::uint32_t id) {
    vcpu(id).interrupt_pending = true;
    hv.interrupt(vcpu(id));
  }
  // Time dispatched, as of the end of the run.
  Time ran(std::uint32_t id) const { return ran_[id]; }
  Time ran(const Partition& p) const {
    Time sum{0};
    for (const Vcpu* v : p.vcpus) sum += ran_[v->id];
    return sum;
  }
  double share_of(const Partition& p) const {
    return static_cast<double>(ran(p).count()) / static_cast<double>(now().count());
  }
  // The instants at which the vCPU was dispatched, or left for that reason.
  std::vector<Time> times(std::uint32_t id, What what) const {
    std::vector<Time> result;
    for (const Event& event : history)
      if (event.vcpu == id && event.what == what) result.push_back(event.at);
    return result;
  }

  void dispatched(Vcpu& v) override {
    EXPECT_EQ(running_since_[v.id], sim::kNever);
    running_since_[v.id] = now();
    thread_[v.id] = v.execution.thread();
    history.push_back({now(), v.id, What::dispatched, thread_[v.id]});
    if (on_dispatch) on_dispatch(v);
  }
  void undispatched(Vcpu& v, Left why) override {
    settle(v.id);
    running_since_[v.id] = sim::kNever;
    const What what = why == Left::preempted ? What::preempted
                      : why == Left::ceded   ? What::ceded
                                             : What::conferred;
    history.push_back({now(), v.id, what, thread_[v.id]});
  }

  std::vector<Event> history;
  std::function<void(Vcpu&)> on_dispatch;

  sim::Engine engine;
  sim::Machine machine;
  Hypervisor hv;

 private:
  static constexpr std::size_t kStack = 256 * 1024;  // assertions need room

  static sim::Profile profile_of(const Scenario& setup) {
    sim::Profile profile = round_profile();
    profile.switch_cost = setup.switch_cost;
    return profile;
  }
  static HypervisorConfig config_of(const Scenario& setup) {
    HypervisorConfig config;
    config.policy = setup.policy;
    config.granularity = setup.granularity;
    config.timeslice = setup.timeslice;
    config.background = setup.background;
    config.prod_memory = setup.prod_memory;
    config.confer_all_waits_for_ceded = setup.confer_all_waits_for_ceded;
    config.wakeup_granularity = setup.wakeup_granularity;
    config.replay = setup.replay;
    return config;
  }
  void settle(std::uint32_t id) {
    if (running_since_[id] == sim::kNever) return;
    ran_[id] += now() - running_since_[id];
    running_since_[id] = now();
  }

  std::vector<Time> running_since_;
  std::vector<std::uint32_t> thread_;
  std::vector<Time> ran_;
  std::deque<sim::Timer> timers_;
};

}  // namespace hv::test
