#include "sim/engine/distribution.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace sim {
namespace {

Time clamp(Time t) {
  return std::clamp(t, Time{0}, Distribution::kSampleMax);
}

Time from_picoseconds(double ps) {
  if (!(ps > 0)) return Time{0};
  if (ps >= static_cast<double>(Distribution::kSampleMax.count())) return Distribution::kSampleMax;
  return Time{static_cast<std::int64_t>(std::round(ps))};
}

// Standard normal by Marsaglia's polar method, which needs no sine. The second variate of the pair
// is dropped: a distribution keeps no state between samples.
double standard_normal(Random& random) {
  for (;;) {
    const double x = 2 * random.open_unit() - 1;
    const double y = 2 * random.open_unit() - 1;
    const double square = x * x + y * y;
    if (square > 0 && square < 1) return x * std::sqrt(-2 * portable_log(square) / square);
  }
}

std::uint64_t distance(Time low, Time high) {
  assert(low <= high);
  return static_cast<std::uint64_t>(high.count()) - static_cast<std::uint64_t>(low.count());
}

}  // namespace

Time Distribution::sample(Random& random) const {
  const auto scale = static_cast<double>(mean.count());
  switch (kind) {
    case Kind::constant:
      break;
    case Kind::exponential:
      return from_picoseconds(scale * -portable_log(random.open_unit()));
    case Kind::uniform: {
      const std::uint64_t offset = random.below(distance(low, high) + 1);
      return clamp(low + Time{static_cast<std::int64_t>(offset)});
    }
    case Kind::lognormal: {
      // exp(mu + sigma·z) with mu = log(mean) - sigma²/2, so that the mean is `mean`.
      const double exponent = shape * standard_normal(random) - shape * shape / 2;
      return from_picoseconds(scale * portable_exp(exponent));
    }
    case Kind::pareto: {
      // Inverse CDF, minimum · u^(-1/alpha); the minimum is what gives the mean.
      const double minimum = scale * (shape - 1) / shape;
      return from_picoseconds(minimum * portable_exp(-portable_log(random.open_unit()) / shape));
    }
    case Kind::empirical:
      assert(!values.empty());
      return clamp(values[random.below(values.size())]);
  }
  return clamp(mean);
}

Time Distribution::expected() const {
  if (kind == Kind::uniform) {
    return clamp(low + Time{static_cast<std::int64_t>(distance(low, high) / 2)});
  }
  if (kind != Kind::empirical || values.empty()) return clamp(mean);
  // Quotients and remainders apart: the sum of many long samples would not fit.
  const auto n = static_cast<std::int64_t>(values.size());
  std::int64_t quotients = 0;
  std::int64_t remainders = n / 2;  // rounds to nearest
  for (const Time value : values) {
    quotients += clamp(value).count() / n;
    remainders += clamp(value).count() % n;
  }
  return Time{quotients + remainders / n};
}

}  // namespace sim
