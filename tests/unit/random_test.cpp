// The random streams: published and independently computed vectors, evenness, independence, and the
// portable logarithm and exponential against the C library.
#include "sim/engine/random.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

namespace sim {
namespace {

std::vector<std::uint64_t> first(Random random, int n) {
  std::vector<std::uint64_t> values;
  for (int i = 0; i < n; ++i) values.push_back(random.next());
  return values;
}

// Distance in representable doubles.
std::int64_t ulps(double a, double b) {
  return std::abs(std::bit_cast<std::int64_t>(a) - std::bit_cast<std::int64_t>(b));
}

TEST(Random, FollowsThePublishedGenerator) {
  const std::vector<std::uint64_t> expected{
      11520,
      0,
      1509978240,
      1215971899390074240,
      1216172134540287360,
      607988272756665600,
      16172922978634559625u,
      8476171486693032832,
      10595114339597558777u,
      2904607092377533576,
  };
  EXPECT_EQ(first(Random(std::array<std::uint64_t, 4>{1, 2, 3, 4}), 10), expected);
}

// Computed by a separate program, which folds seed, bytes, length and index through splitmix64.
TEST(Random, SeedsStreamsAsDocumented) {
  using V = std::vector<std::uint64_t>;
  EXPECT_EQ(first(Random(1, "think", 7), 4),
            (V{0x8da1897b2386ba30, 0xf74e07c0f9dedd5, 0xc8e0b034b96bfa45, 0x50a1e5a04104151}));
  EXPECT_EQ(first(Random(0, ""), 4),
            (V{0x8a21cd34a214a917, 0x9c507e12243e64d0, 0xc3763b828e49dc84, 0x103c72cbff1eb4b5}));
  EXPECT_EQ(first(Random(~0ull, "background", 1ull << 40), 4),
            (V{0x4889d1f0f6831122, 0x36d3f2d716fc8318, 0x1d3bffdcd17b5580, 0xd39c50f34648ca0e}));
}

TEST(Random, StreamsDifferInSeedNameAndIndex) {
  std::set<std::uint64_t> firsts;
  int streams = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const char* name : {"", "a", "b", "ab", "ba", "think", "think0"}) {
      for (std::uint64_t index = 0; index < 50; ++index, ++streams) {
        firsts.insert(Random(seed, name, index).next());
      }
    }
  }
  EXPECT_EQ(firsts.size(), static_cast<std::size_t>(streams));
}

TEST(Random, StreamsOfOneSeedAreUncorrelated) {
  const int n = 100'000;
  std::vector<Random> streams;
  for (std::uint64_t index = 0; index < 4; ++index) streams.emplace_back(1, "think", index);
  streams.emplace_back(1, "block", 0);
  streams.emplace_back(2, "think", 0);
  std::vector<std::vector<double>> values(streams.size());
  for (std::size_t s = 0; s < streams.size(); ++s) {
    for (int i = 0; i < n; ++i) values[s].push_back(streams[s].open_unit() - 0.5);
  }
  for (std::size_t a = 0; a < streams.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      double products = 0;
      for (std::size_t i = 0; i < values[a].size(); ++i) products += values[a][i] * values[b][i];
      // Standard deviation of the correlation is 1/sqrt(n).
      EXPECT_LT(std::abs(products * 12 / n), 4.5 / std::sqrt(n)) << a << " and " << b;
    }
  }
}

TEST(Random, AnotherConsumerMovesNoStream) {
  Random alone(5, "think", 1);
  Random beside(5, "think", 1);
  Random other(5, "interrupt", 1);
  for (int i = 0; i < 100; ++i) {
    other.next();
    EXPECT_EQ(alone.next(), beside.next());
  }
}

TEST(Random, BelowIsEvenAndInRange) {
  Random random(3, "below");
  const int n = 120'000;
  for (const std::uint64_t bound : {1u, 2u, 3u, 7u, 12u}) {
    std::vector<int> counts(bound);
    for (int i = 0; i < n; ++i) {
      const std::uint64_t value = random.below(bound);
      ASSERT_LT(value, bound);
      ++counts[value];
    }
    const double expected = n / static_cast<double>(bound);
    for (const int count : counts) EXPECT_NEAR(count, expected, 5 * std::sqrt(expected));
  }
}

// A plain remainder would land in the lower half of this bound two times in three.
TEST(Random, BelowHasNoBiasForHugeBounds) {
  Random random(4, "below");
  const std::uint64_t bound = 3ull << 62;
  int low = 0;
  const int n = 100'000;
  for (int i = 0; i < n; ++i) {
    const std::uint64_t value = random.below(bound);
    ASSERT_LT(value, bound);
    low += value < bound / 2 ? 1 : 0;
  }
  EXPECT_NEAR(low, n / 2, 5 * std::sqrt(n / 4.0));
}

TEST(Random, OpenUnitKeepsOffItsEnds) {
  Random random(6, "unit");
  double sum = 0;
  const int n = 200'000;
  for (int i = 0; i < n; ++i) {
    const double u = random.open_unit();
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
  }
  EXPECT_NEAR(sum / n, 0.5, 5 / std::sqrt(12.0 * n));
  // A state whose first output is 0 (and second is not) must skip it rather than return 0.
  EXPECT_EQ(Random(std::array<std::uint64_t, 4>{1, 0, 0, 0}).next(), 0u);
  EXPECT_GT(Random(std::array<std::uint64_t, 4>{1, 0, 0, 0}).open_unit(), 0);
}

TEST(PortableLog, IsWithinTwoUlpOfTheLibrary) {
  Random random(7, "log");
  const auto check = [](double x) {
    ASSERT_LE(ulps(portable_log(x), std::log(x)), 2) << std::hexfloat << x;
  };
  for (int i = 0; i < 500'000; ++i) {
    check(random.open_unit());
    check(0.5 + 1.5 * random.open_unit());                             // where it crosses zero
    check(1 + std::ldexp(random.open_unit() - 0.5, -(i % 50)));        // and close to it
    check(std::ldexp(1 + random.open_unit(), (i * 7) % 2046 - 1022));  // every exponent
  }
  for (const double x :
       {0x1p-1074, 0x1.8p-1060, 0x1p-53, 1 - 0x1p-53, 1 + 0x1p-52,
        std::numeric_limits<double>::max(), 0x1.6a09e667f3bccp-1, 0x1.6a09e667f3bcdp-1}) {
    check(x);
  }
  EXPECT_EQ(portable_log(1), 0);
}

TEST(PortableExp, IsWithinTwoUlpOfTheLibrary) {
  Random random(8, "exp");
  for (int i = 0; i < 500'000; ++i) {
    for (const double scale : {1e-3, 1.0, 40.0, 1416.0}) {
      const double x = scale * (random.open_unit() - 0.5);
      ASSERT_LE(ulps(portable_exp(x), std::exp(x)), 2) << std::hexfloat << x;
    }
  }
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(1e4), std::numeric_limits<double>::infinity());
  EXPECT_EQ(portable_exp(-1e4), 0);
}

}  // namespace
}  // namespace sim
