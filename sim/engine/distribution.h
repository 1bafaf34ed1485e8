// Distributions of durations, with samples that are the same on every machine and standard library.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/random.h"
#include "sim/engine/time.h"

namespace sim {

struct Distribution {
  enum class Kind : std::uint8_t { constant, exponential, uniform, lognormal, pareto, empirical };

  Kind kind = Kind::constant;
  Time mean{};  // constant: the value; exponential, lognormal, pareto: the mean
  Time low{};   // uniform: bounds, both included; pareto: `low` is unused
  Time high{};
  double shape = 0;  // lognormal: sigma of the logarithm (> 0); pareto: alpha (> 1)
  std::vector<Time> values{};  // empirical: sample points (at least one), of equal weight

  static Distribution constant(Time value) { return {.mean = value}; }
  // Always >= 0; at most kSampleMax.
  Time sample(Random& random) const;
  Time expected() const;

  static constexpr Time kSampleMax = seconds(100'000);
};

}  // namespace sim
