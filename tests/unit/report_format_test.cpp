// The number formats of the report: three digits at every size, shares that add up.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

#include "sim/report/format.h"

namespace sim {
namespace {

TEST(HumanTime, KeepsThreeDigitsInTheUnitThatFits) {
  EXPECT_EQ(human_time(Time{0}), "0 ns");
  EXPECT_EQ(human_time(nanoseconds(7)), "7 ns");
  EXPECT_EQ(human_time(nanoseconds(999)), "999 ns");
  EXPECT_EQ(human_time(nanoseconds(1000)), "1.00 us");
  EXPECT_EQ(human_time(nanoseconds(1214)), "1.21 us");
  EXPECT_EQ(human_time(nanoseconds(9'994)), "9.99 us");
  EXPECT_EQ(human_time(nanoseconds(9'996)), "10.0 us");
  EXPECT_EQ(human_time(nanoseconds(99'960)), "100 us");
  EXPECT_EQ(human_time(nanoseconds(999'499)), "999 us");
  EXPECT_EQ(human_time(nanoseconds(999'500)), "1.00 ms");
  EXPECT_EQ(human_time(milliseconds(45)), "45.0 ms");
  EXPECT_EQ(human_time(seconds(3600)), "3600 s");
  EXPECT_EQ(human_time(0.25), "0.25 ns");
  EXPECT_EQ(human_time(999.7), "1.00 us");
}

TEST(HumanTime, AlignsSecondsWithTwoLetterUnits) {
  EXPECT_EQ(aligned("1.00 s"), "1.00 s ");
  EXPECT_EQ(aligned("1.00 ms"), "1.00 ms");
}

TEST(HumanNumber, UsesDecimalPrefixes) {
  EXPECT_EQ(human_number(0), "0.00");
  EXPECT_EQ(human_number(10), "10.0");
  EXPECT_EQ(human_number(999.4), "999");
  EXPECT_EQ(human_number(999.6), "1.00 k");
  EXPECT_EQ(human_number(2'314'000), "2.31 M");
  EXPECT_EQ(human_number(5e15), "5000 T");
  EXPECT_EQ(human_number(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(human_number(std::nan("")), "-");
}

TEST(Shares, OfNothingAreZero) {
  EXPECT_EQ(per_mille({0, 0}), (std::vector<int>{0, 0}));
  EXPECT_EQ(per_mille({}), std::vector<int>{});
  EXPECT_EQ(budget_fractions(CpuBudget{}), (std::array<double, 4>{}));
  EXPECT_EQ(per_second(5, Time{0}), 0);
}

TEST(Shares, ThirdsAddUp) {
  EXPECT_EQ(per_mille({1, 1, 1}), (std::vector<int>{334, 333, 333}));
  EXPECT_EQ(percent(334), "33.4 %");
  EXPECT_EQ(percent(1000), "100.0 %");
  EXPECT_EQ(percent(5), "0.5 %");
}

TEST(SharesProperty, AddUpAndStayWithinATenthOfTheTruth) {
  EXPECT_TRUE(rc::check([] {
    const auto counts = *rc::gen::nonEmpty<std::vector<std::uint32_t>>();
    const std::vector<double> parts(counts.begin(), counts.end());
    const double whole = std::accumulate(parts.begin(), parts.end(), 0.0);
    RC_PRE(whole > 0);
    const std::vector<int> shares = per_mille(parts);
    RC_ASSERT(std::accumulate(shares.begin(), shares.end(), 0) == 1000);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      RC_ASSERT(std::abs(shares[i] - parts[i] * 1000 / whole) < 1 + 1e-9);
    }
  }));
}

TEST(SharesProperty, FractionsOfTheBudgetSumToOne) {
  EXPECT_TRUE(rc::check([](std::uint32_t useful, std::uint32_t spin, std::uint32_t idle) {
    const auto fractions = budget_fractions(
        {.useful = Time{useful}, .spin = Time{spin}, .hypervisor = Time{1}, .idle = Time{idle}});
    RC_ASSERT(std::abs(std::accumulate(fractions.begin(), fractions.end(), 0.0) - 1) < 1e-15 * 4);
  }));
}

TEST(Bar, FillsInProportion) {
  EXPECT_EQ(bar(1, 4, 8), "|**      |");
  EXPECT_EQ(bar(4, 4, 8), "|********|");
  EXPECT_EQ(bar(0, 0, 3), "|   |");
}

TEST(PutLine, DropsBlanksAtTheEnd) {
  std::ostringstream out;
  put_line(out, "a b  ");
  put_line(out, "   ");
  put_line(out, "");
  EXPECT_EQ(out.str(), "a b\n\n\n");
}

}  // namespace
}  // namespace sim
