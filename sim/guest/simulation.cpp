// Stand-in: passes virtual time and answers hooks, simulates nothing. TRAINWRECK_STAND_IN makes it
// fail or dawdle, for the command line's tests.
#include "sim/guest/simulation.h"

#include <cstdlib>
#include <string_view>
#include <thread>

namespace sim {

Result simulate(const Config& config, const SimulationHooks& hooks) {
  const char* mode = std::getenv("TRAINWRECK_STAND_IN");
  const std::string_view how = mode == nullptr ? "" : mode;
  if (how == "deadlock")
    throw GuestFailure(GuestFailure::Kind::deadlock, "deadlock:\n  vcpu 0 waits");
  Result result;
  result.seed = config.seed;
  const Time step = config.duration / 100;
  for (int i = 1; i <= 100; ++i) {
    if (how == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(30));
    if (hooks.interrupted != nullptr && hooks.interrupted->load()) break;
    result.virtual_time = i == 100 ? config.duration : step * i;
    if (hooks.progress) hooks.progress(result.virtual_time, config.duration);
  }
  return result;
}

}  // namespace sim
