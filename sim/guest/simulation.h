// One simulated run, from config to result: the entry point of the simulator proper.
#pragma once

#include <atomic>
#include <functional>

#include "sim/guest/simulation_config.h"
#include "sim/measure/guest_failure.h"
#include "sim/measure/result.h"

namespace sim {

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
