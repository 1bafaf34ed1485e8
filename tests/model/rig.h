// A machine without hypervisor or guest: vCPUs whose code is a test's, attached and detached at
// instants that the test chooses.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "sim/machine/execution.h"
#include "sim/machine/machine.h"

namespace sim {

// Round figures: a load that hits takes 1 ns, a turn's relax and loop 2 ns and 3 ns, transfers
// 10, 20, 40, 80 ns by distance, memory 100 ns. Nothing else costs anything.
inline Profile round_profile() {
  Profile p;
  p.name = "round";
  p.l1_hit = nanoseconds(1);
  p.relax = nanoseconds(2);
  p.loop = nanoseconds(3);
  p.transfer_chip = nanoseconds(10);
  p.transfer_socket = nanoseconds(20);
  p.transfer_remote = nanoseconds(40);
  p.transfer_far = nanoseconds(80);
  p.memory = nanoseconds(100);
  p.shared_occupancy = nanoseconds(2);
  p.capacity_2 = 1500;
  p.capacity_4 = 2000;
  p.capacity_8 = 2000;
  p.weight_medium = 7;
  p.weight_low = 1;
  p.weight_relax = 7;
  p.reserve_exclusive = 0;
  p.sockets_per_hop = 2;
  return p;
}

class Rig {
 public:
  explicit Rig(const Topology& topology, const Profile& profile = round_profile(),
               bool fast_forward = true)
      : machine_(engine_, topology, profile, fast_forward) {}

  Engine& engine() { return engine_; }
  Machine& machine() { return machine_; }
  CacheDirectory& directory() { return machine_.directory(); }
  Time now() const { return engine_.now(); }

  // Its code starts when it is attached. Lower slots are those of earlier calls.
  Execution& vcpu(std::function<void(Execution&)> body) {
    Execution& execution = vcpus_.emplace_back(machine_);
    // Parked for good at the end, as a vCPU that never returns.
    execution.set_body([this, &execution, body = std::move(body)] {
      body(execution);
      engine_.park(execution.slot());
    });
    return execution;
  }
  // On hardware thread `thread` from the start.
  Execution& vcpu_on(std::uint32_t thread, std::function<void(Execution&)> body) {
    Execution& execution = vcpu(std::move(body));
    at(Time{0}, [&execution, thread] { execution.attach(thread); });
    return execution;
  }

  // Calls in a slot of their own: after the vCPUs made before it at the same instant, ahead of
  // those made later.
  void at(Time when, std::function<void()> action) {
    timers_.emplace_back(std::move(action));
    engine_.schedule(engine_.add_slot(timers_.back()), when);
  }

  template <class T>
  T* word(std::uint32_t node = 0) {
    return machine_.memory().make<T>(node);
  }

  void run(Time end) {
    for (Execution& execution : vcpus_) execution.add_store_buffer_slot();
    at(end, [this] { engine_.stop(); });
    engine_.run();
  }

 private:
  Engine engine_;
  Machine machine_;
  std::deque<Execution> vcpus_;
  std::deque<Timer> timers_;
};

}  // namespace sim
