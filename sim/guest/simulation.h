// One simulated run, from config to result: the entry point of the simulator proper.
#pragma once

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>

#include "sim/config/config.h"
#include "sim/measure/result.h"

namespace sim {

// The guest deadlocked, livelocked or broke mutual exclusion. what() is the story in several lines:
// who holds, who waits for what, and since when.
class GuestFailure : public std::runtime_error {
 public:
  enum class Kind : std::uint8_t { deadlock, livelock, broken_exclusion };
  GuestFailure(Kind kind, const std::string& story) : std::runtime_error(story), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

struct SimulationHooks {
  // Called now and then from the simulating thread with the virtual time reached and the end.
  std::function<void(Time now, Time end)> progress;
  // When it becomes true the run ends early; the result covers what was simulated.
  const std::atomic<bool>* interrupted = nullptr;
};

// Simulates `config` on the calling thread. One simulation at a time on a thread; any number in a
// process. Throws GuestFailure, and std::invalid_argument for a config that no reader would pass.
Result simulate(const Config& config, const SimulationHooks& hooks = {});

}  // namespace sim
