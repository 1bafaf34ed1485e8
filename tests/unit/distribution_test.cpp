// Distributions of durations, each against its closed-form distribution function (a
// Kolmogorov-Smirnov bound that one run in a thousand would miss; seeds are fixed) and its mean.
#include "sim/engine/distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

namespace sim {
namespace {

using Kind = Distribution::Kind;

constexpr int kSamples = 40'000;

std::vector<double> samples(const Distribution& distribution, int n = kSamples) {
  Random random(11, "distribution test");
  std::vector<double> values;
  for (int i = 0; i < n; ++i) {
    values.push_back(static_cast<double>(distribution.sample(random).count()));
  }
  std::ranges::sort(values);
  return values;
}

double average(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Largest gap between the empirical and the given distribution function.
double largest_gap(const std::vector<double>& sorted, const std::function<double(double)>& cdf) {
  const auto n = static_cast<double>(sorted.size());
  double gap = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double f = cdf(sorted[i]);
    gap = std::max({gap, f - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - f});
  }
  return gap;
}

const double kGapMax = 1.95 / std::sqrt(kSamples);

TEST(Distribution, ConstantIsItsValueAndDrawsNothing) {
  Random random(1, "constant");
  Random untouched(1, "constant");
  EXPECT_EQ(Distribution::constant(nanoseconds(500)).sample(random), nanoseconds(500));
  EXPECT_EQ(random.next(), untouched.next());
  EXPECT_EQ(Distribution::constant(nanoseconds(500)).expected(), nanoseconds(500));
}

TEST(Distribution, ExponentialFollowsItsLaw) {
  const Distribution d{.kind = Kind::exponential, .mean = microseconds(2)};
  const auto values = samples(d);
  EXPECT_LT(largest_gap(values, [](double x) { return 1 - std::exp(-x / 2e6); }), kGapMax);
  EXPECT_NEAR(average(values), 2e6, 4 * 2e6 / std::sqrt(kSamples));
  EXPECT_EQ(d.expected(), microseconds(2));
}

TEST(Distribution, UniformFollowsItsLawAndReachesBothBounds) {
  const Distribution d{.kind = Kind::uniform, .low = microseconds(1), .high = microseconds(3)};
  EXPECT_LT(largest_gap(samples(d), [](double x) { return (x - 1e6) / 2e6; }), kGapMax);
  EXPECT_EQ(d.expected(), microseconds(2));

  const Distribution narrow{.kind = Kind::uniform, .low = picoseconds(5), .high = picoseconds(8)};
  std::map<double, int> counts;
  for (const double value : samples(narrow)) ++counts[value];
  ASSERT_EQ(counts.size(), 4u);
  EXPECT_EQ(counts.begin()->first, 5);
  EXPECT_EQ(counts.rbegin()->first, 8);
  for (const auto& [value, count] : counts) {
    EXPECT_NEAR(count, kSamples / 4, 5 * std::sqrt(kSamples / 4)) << value;
  }
  const Distribution point{.kind = Kind::uniform, .low = picoseconds(5), .high = picoseconds(5)};
  EXPECT_EQ(samples(point, 10), std::vector<double>(10, 5));
}

TEST(Distribution, LognormalFollowsItsLawWithTheMeanGiven) {
  const double sigma = 0.8;
  const Distribution d{.kind = Kind::lognormal, .mean = microseconds(10), .shape = sigma};
  const auto values = samples(d);
  const double mu = std::log(1e7) - sigma * sigma / 2;
  EXPECT_LT(largest_gap(values,
                        [&](double x) {
                          return std::erfc((mu - std::log(x)) / (sigma * std::sqrt(2))) / 2;
                        }),
            kGapMax);
  const double deviation = 1e7 * std::sqrt(std::exp(sigma * sigma) - 1);
  EXPECT_NEAR(average(values), 1e7, 4 * deviation / std::sqrt(kSamples));
  EXPECT_EQ(d.expected(), microseconds(10));
}

TEST(Distribution, ParetoFollowsItsLawWithTheMeanGiven) {
  const double alpha = 3;
  const Distribution d{.kind = Kind::pareto, .mean = microseconds(3), .shape = alpha};
  const auto values = samples(d);
  const double minimum = 2e6;
  EXPECT_GE(values.front(), minimum);
  EXPECT_LT(largest_gap(values, [&](double x) { return 1 - std::pow(minimum / x, alpha); }),
            kGapMax);
  const double deviation = minimum * std::sqrt(alpha / ((alpha - 1) * (alpha - 1) * (alpha - 2)));
  EXPECT_NEAR(average(values), 3e6, 4 * deviation / std::sqrt(kSamples));
  EXPECT_EQ(d.expected(), microseconds(3));
}

TEST(Distribution, EmpiricalDrawsItsValuesEvenly) {
  const Distribution d{.kind = Kind::empirical,
                       .values = {nanoseconds(1), nanoseconds(10), nanoseconds(100)}};
  std::map<double, int> counts;
  for (const double value : samples(d)) ++counts[value];
  ASSERT_EQ(counts.size(), 3u);
  for (const auto& [value, count] : counts) {
    EXPECT_NEAR(count, kSamples / 3, 5 * std::sqrt(kSamples / 3)) << value;
  }
  EXPECT_TRUE(counts.contains(1e3) && counts.contains(1e4) && counts.contains(1e5));
  EXPECT_EQ(d.expected(), nanoseconds(37));
}

TEST(Distribution, SamplesStayWithinBounds) {
  const Time huge = Distribution::kSampleMax * 10;
  const Time late = Distribution::kSampleMax - Time{1};
  const std::vector<Distribution> all{
      {.kind = Kind::constant, .mean = huge},
      {.kind = Kind::constant, .mean = Time{-5}},
      {.kind = Kind::exponential, .mean = huge},
      {.kind = Kind::exponential, .mean = Time{0}},
      {.kind = Kind::uniform, .low = Time{-5}, .high = Time{5}},
      {.kind = Kind::uniform, .low = Time{0}, .high = kNever},
      {.kind = Kind::lognormal, .mean = late, .shape = 50},
      {.kind = Kind::lognormal, .mean = Time{0}, .shape = 1},
      {.kind = Kind::pareto, .mean = late, .shape = 1.01},
      {.kind = Kind::empirical, .values = {huge, Time{-1}, Time{3}}},
  };
  for (const Distribution& d : all) {
    Random random(12, "bounds");
    for (int i = 0; i < 2'000; ++i) {
      const Time t = d.sample(random);
      ASSERT_GE(t, Time{0});
      ASSERT_LE(t, Distribution::kSampleMax);
    }
    EXPECT_GE(d.expected(), Time{0});
    EXPECT_LE(d.expected(), Distribution::kSampleMax);
  }
}

// Figures from a separate program, which every machine must reproduce: a change here changes every
// result.
TEST(Distribution, SamplesAreTheSameEverywhere) {
  Random random(1, "golden");
  const auto draw = [&](const Distribution& d) { return d.sample(random).count(); };
  EXPECT_EQ(draw({.kind = Kind::exponential, .mean = microseconds(2)}), 1926956);
  EXPECT_EQ(draw({.kind = Kind::uniform, .low = Time{0}, .high = microseconds(1)}), 549545);
  EXPECT_EQ(draw({.kind = Kind::lognormal, .mean = microseconds(2), .shape = 1}), 3780030);
  EXPECT_EQ(draw({.kind = Kind::pareto, .mean = microseconds(2), .shape = 1.5}), 815039);
}

}  // namespace
}  // namespace sim
