// The latency histogram: HdrHistogram's layout and figures, quantiles against sorted samples, and
// merging as recording.
#include "sim/measure/histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/engine/random.h"

namespace sim {
namespace {

constexpr double kPercentiles[] = {0, 1, 10, 25, 50, 75, 90, 99, 99.9, 99.99, 100};

Histogram recorded(const std::vector<std::int64_t>& values) {
  Histogram histogram;
  for (const std::int64_t ns : values) histogram.record(nanoseconds(ns));
  return histogram;
}

// Values of every magnitude, with repetitions among the small ones.
rc::Gen<std::vector<std::int64_t>> latencies() {
  const auto value = rc::gen::map(
      rc::gen::pair(rc::gen::inRange<std::int64_t>(0, Histogram::kHighestNs + 1),
                    rc::gen::inRange(0, 42)),
      [](const std::pair<std::int64_t, int>& drawn) { return drawn.first >> drawn.second; });
  return rc::gen::container<std::vector<std::int64_t>>(value);
}

// The smallest value with at least that share of the sample at or below it, by whole numbers: the
// percentiles used here are hundredths.
std::int64_t exact_percentile(std::vector<std::int64_t> values, double percentile) {
  std::ranges::sort(values);
  const auto hundredths = static_cast<std::uint64_t>(std::llround(percentile * 100));
  const std::uint64_t rank = (hundredths * values.size() + 9'999) / 10'000;
  return values[std::max<std::uint64_t>(rank, 1) - 1];
}

TEST(Histogram, EmptyIsAllZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.min_ns(), 0);
  EXPECT_EQ(histogram.max_ns(), 0);
  EXPECT_EQ(histogram.mean_ns(), 0);
  EXPECT_EQ(histogram.percentile_ns(99), 0);
  EXPECT_EQ(histogram.buckets(), 0u);
}

TEST(Histogram, HasTheReferenceLayout) {
  EXPECT_EQ(Histogram::kCounters, 33'792u);
  EXPECT_LT(Histogram::index_of(Histogram::kHighestNs), Histogram::kCounters);
  EXPECT_EQ(Histogram::index_of(Histogram::kHighestNs) / 1024, 32u);  // in the last half bucket
  // Each counter begins where the one before it ends, from 0 on.
  std::int64_t next = 0;
  for (std::size_t i = 0; i < Histogram::kCounters; ++i) {
    const std::int64_t low = Histogram::lowest_equivalent_ns(i);
    const std::int64_t high = Histogram::highest_equivalent_ns(i);
    ASSERT_EQ(low, next);
    ASSERT_GE(high, low);
    ASSERT_LT(static_cast<double>(high - low), 0.001 * static_cast<double>(low) + 1e-9);
    if (high <= Histogram::kHighestNs) {
      ASSERT_EQ(Histogram::index_of(low), i);
      ASSERT_EQ(Histogram::index_of(high), i);
    }
    next = high + 1;
  }
  EXPECT_EQ(next, std::int64_t{2048} << 31);
  EXPECT_EQ(Histogram::index_of(2047), 2047u);
  EXPECT_EQ(Histogram::index_of(2048), 2048u);
  EXPECT_EQ(Histogram::highest_equivalent_ns(2048), 2049);
}

// The squares of 1..1000: figures printed by HdrHistogram_c and hdr-histogram-js.
TEST(Histogram, AgreesWithHdrHistogram) {
  Histogram histogram;
  for (std::int64_t i = 1; i <= 1000; ++i) histogram.record(nanoseconds(i * i));
  EXPECT_EQ(histogram.count(), 1000u);
  EXPECT_EQ(histogram.percentile_ns(99), 980'479);
  EXPECT_EQ(Histogram::highest_equivalent_ns(Histogram::index_of(histogram.max_ns())), 1'000'447);
  // Ours never prints more than was recorded, and the mean is that of the values: 1001·2001/6.
  EXPECT_EQ(histogram.percentile_ns(100), 1'000'000);
  EXPECT_EQ(histogram.max_ns(), 1'000'000);
  EXPECT_EQ(histogram.min_ns(), 1);
  EXPECT_EQ(histogram.mean_ns(), 333'833.5);
}

TEST(Histogram, RoundsToNanosecondsAndClamps) {
  Histogram histogram;
  histogram.record(picoseconds(499));
  histogram.record(picoseconds(500));
  EXPECT_EQ(histogram.count_at(0), 1u);
  EXPECT_EQ(histogram.count_at(1), 1u);
  histogram.record(picoseconds(-1));
  histogram.record(nanoseconds(Histogram::kHighestNs) + seconds(1));
  histogram.record(kNever);
  EXPECT_EQ(histogram.count_at(0), 2u);
  EXPECT_EQ(histogram.max_ns(), Histogram::kHighestNs);
  EXPECT_EQ(histogram.percentile_ns(100), Histogram::kHighestNs);
  histogram.clear();
  EXPECT_EQ(histogram, Histogram{});
}

TEST(Histogram, RanksHaveNoRoundingNoise) {
  for (const std::int64_t n : {10, 100, 1000, 2000}) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 1; i <= n; ++i) values.push_back(i);  // one counter each
    const Histogram histogram = recorded(values);
    for (int tenths = 0; tenths <= 1000; ++tenths) {
      const std::int64_t rank = std::max<std::int64_t>(1, (tenths * n + 999) / 1000);
      ASSERT_EQ(histogram.percentile_ns(tenths / 10.0), rank) << n << " " << tenths;
    }
  }
}

TEST(Histogram, QuantilesOfALongTailAreWithinATenthOfAPercent) {
  Random random(1, "tail");
  std::vector<std::int64_t> values;
  for (int i = 0; i < 200'000; ++i) {
    values.push_back(static_cast<std::int64_t>(50 / std::pow(random.open_unit(), 1.2)));
  }
  const Histogram histogram = recorded(values);
  for (const double p : kPercentiles) {
    const auto exact = static_cast<double>(exact_percentile(values, p));
    EXPECT_NEAR(static_cast<double>(histogram.percentile_ns(p)), exact, exact * 0.001) << p;
  }
}

TEST(HistogramProperty, QuantilesAreWithinATenthOfAPercent) {
  EXPECT_TRUE(rc::check([] {
    const auto values = *rc::gen::nonEmpty(latencies());
    const Histogram histogram = recorded(values);
    double sum = 0;
    for (const std::int64_t ns : values) sum += static_cast<double>(ns);
    RC_ASSERT(histogram.count() == values.size());
    RC_ASSERT(histogram.min_ns() == *std::ranges::min_element(values));
    RC_ASSERT(histogram.max_ns() == *std::ranges::max_element(values));
    RC_ASSERT(std::abs(histogram.mean_ns() * static_cast<double>(values.size()) - sum) <=
              1e-12 * sum);
    std::int64_t previous = 0;
    for (const double p : kPercentiles) {
      const std::int64_t exact = exact_percentile(values, p);
      const std::int64_t got = histogram.percentile_ns(p);
      RC_ASSERT(got >= exact);
      RC_ASSERT(static_cast<double>(got - exact) <= 0.001 * static_cast<double>(exact));
      RC_ASSERT(got >= previous);
      previous = got;
    }
    RC_ASSERT(previous == histogram.max_ns());
  }));
}

TEST(HistogramProperty, MergingIsRecordingAllInAnyOrder) {
  EXPECT_TRUE(rc::check([] {
    const auto a = *latencies();
    const auto b = *latencies();
    const auto c = *latencies();
    std::vector<std::int64_t> all(c);
    all.insert(all.end(), a.begin(), a.end());
    all.insert(all.end(), b.begin(), b.end());

    Histogram forwards = recorded(a);
    forwards.merge(recorded(b));
    forwards.merge(recorded(c));
    Histogram backwards = recorded(c);
    Histogram tail = recorded(b);
    tail.merge(recorded(a));
    backwards.merge(tail);

    RC_ASSERT(forwards == recorded(all));
    RC_ASSERT(backwards == forwards);
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < forwards.buckets(); ++i) total += forwards.count_at(i);
    RC_ASSERT(total == forwards.count());
  }));
}

}  // namespace
}  // namespace sim
