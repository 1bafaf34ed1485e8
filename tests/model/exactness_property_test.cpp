// Skipping the turns of spin loops changes nothing that is measured: on random configs a run with
// and one without give the same bytes.
//
// EXACTNESS_FIRST and EXACTNESS_RUNS choose other configs, for a soak.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "sim/config/effective.h"
#include "sim/config/error.h"
#include "sim/guest/simulation.h"
#include "sim/report/report.h"
#include "tests/model/random_config.h"

namespace sim {
namespace {

struct Outcome {
  std::string bytes;  // the JSON result without the engine's counters, or how the guest failed
  EngineResult engine;
};

Outcome outcome(Config config, bool fast_forward) {
  config.fast_forward = fast_forward;
  try {
    const Result result = simulate(config);
    std::ostringstream text;
    write_json(text, config, result);
    auto json = nlohmann::ordered_json::parse(text.str());
    json.erase("engine");
    // Nanoseconds hide picoseconds.
    for (const Time time : {result.cpu.useful, result.cpu.spin, result.cpu.hypervisor,
                            result.cpu.idle, result.hypervisor.steal})
      json["picoseconds"].push_back(time.count());
    return {json.dump(1), result.engine};
  } catch (const GuestFailure& failure) {
    return {failure.what(), {}};
  }
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// The first line in which the two differ, with its neighbours.
std::string difference(const std::string& a, const std::string& b) {
  std::istringstream left(a), right(b);
  std::string x, y, before;
  while (std::getline(left, x) && std::getline(right, y) && x == y) before = x;
  return before + "\n  skipping: " + x + "\n  running:  " + y;
}

TEST(Exactness, OfFastForwardHoldsForRandomConfigs) {
  const std::uint64_t first = from_environment("EXACTNESS_FIRST", 1);
  const std::uint64_t runs = from_environment("EXACTNESS_RUNS", 150);
  std::uint64_t refused = 0, failed = 0, skipped = 0, iterations = 0;
  for (std::uint64_t number = first; number < first + runs; ++number) {
    SCOPED_TRACE("config " + std::to_string(number));
    Config config;
    try {
      config = random_config(number);
    } catch (const ConfigError& error) {
      ++refused;
      continue;
    }
    try {
      const Outcome fast = outcome(config, true);
      const Outcome slow = outcome(config, false);
      if (fast.bytes != slow.bytes || fast.engine.iterations != slow.engine.iterations) {
        ADD_FAILURE() << effective_toml(config) << difference(fast.bytes, slow.bytes)
                      << "\niterations " << fast.engine.iterations << " and "
                      << slow.engine.iterations;
        if (++failed == 3) break;
      }
      EXPECT_EQ(slow.engine.fast_forwarded, 0u);
      skipped += fast.engine.fast_forwarded;
      iterations += slow.engine.iterations;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\n" << effective_toml(config);
      if (++failed == 3) break;
    }
  }
  // The configs test something: nearly all are taken, and most turns could be skipped.
  EXPECT_LE(refused, runs / 10);
  EXPECT_GT(skipped, iterations / 2);
}

}  // namespace
}  // namespace sim
