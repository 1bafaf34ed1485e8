// The percentile text: byte for byte for a few values, and read back against sorted samples.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "report_fixture.h"

namespace sim {
namespace {

std::string block(const Histogram& histogram) {
  std::ostringstream out;
  write_hgrm_block(out, "a title", histogram);
  return out.str();
}

struct PercentileRow {
  double value;
  double fraction;
  std::uint64_t total;
  double inverse;  // 1/(1-fraction); 0 in the last row, which has none
};

std::vector<PercentileRow> rows_of(const std::string& text) {
  std::istringstream lines(text);
  std::vector<PercentileRow> rows;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#' || line.find("Value") != std::string::npos) continue;
    std::istringstream fields(line);
    PercentileRow row{};
    EXPECT_TRUE(fields >> row.value >> row.fraction >> row.total) << line;
    if (!(fields >> row.inverse)) row.inverse = 0;
    rows.push_back(row);
  }
  return rows;
}

// Worked out by hand: steps of a tenth to one half, then of a twentieth to three quarters.
TEST(Hgrm, OfFourValues) {
  Histogram histogram;
  for (const int ns : {10, 20, 30, 40}) histogram.record(nanoseconds(ns));
  EXPECT_EQ(block(histogram),
            "# a title, unit ns\n"
            "       Value     Percentile TotalCount 1/(1-Percentile)\n"
            "\n"
            "      10.000 0.000000000000          1           1.00\n"
            "      10.000 0.100000000000          1           1.11\n"
            "      10.000 0.200000000000          1           1.25\n"
            "      20.000 0.300000000000          2           1.43\n"
            "      20.000 0.400000000000          2           1.67\n"
            "      20.000 0.500000000000          2           2.00\n"
            "      30.000 0.550000000000          3           2.22\n"
            "      30.000 0.600000000000          3           2.50\n"
            "      30.000 0.650000000000          3           2.86\n"
            "      30.000 0.700000000000          3           3.33\n"
            "      30.000 0.750000000000          3           4.00\n"
            "      40.000 0.775000000000          4           4.44\n"
            "      40.000 1.000000000000          4\n"
            "#[Mean    =       25.000, StdDeviation   =       11.180]\n"
            "#[Max     =       40.000, Total count    =            4]\n"
            "#[Buckets =           32, SubBuckets     =         2048]\n");
}

TEST(Hgrm, OfNothingHasNoRows) {
  EXPECT_EQ(block(Histogram{}),
            "# a title, unit ns\n"
            "       Value     Percentile TotalCount 1/(1-Percentile)\n"
            "\n"
            "#[Mean    =        0.000, StdDeviation   =        0.000]\n"
            "#[Max     =        0.000, Total count    =            0]\n"
            "#[Buckets =           32, SubBuckets     =         2048]\n");
}

TEST(Hgrm, HasABlockForEachLockAndMeasure) {
  Result result = small_result();
  result.locks.push_back(small_lock());
  result.locks[1].name = "odd\nname";
  const std::string text = written(write_hgrm, small_config(), result);
  std::istringstream lines(text);
  std::vector<std::string> titles;
  std::string previous;
  for (std::string line; std::getline(lines, line); previous = line) {
    if (!line.starts_with("# ")) continue;
    EXPECT_EQ(previous, "");
    titles.push_back(line);
  }
  ASSERT_EQ(titles.size(), 6u);
  const std::string hot = "# lock hot, algorithm qspinlock, partition guest, policy round_robin, ";
  EXPECT_EQ(titles[0], hot + "seed 42: wait, unit ns");
  EXPECT_EQ(titles[1], hot + "seed 42: hold, unit ns");
  EXPECT_EQ(titles[2], hot + "seed 42: handover, unit ns");
  EXPECT_EQ(titles[3].find('\n'), std::string::npos);
  EXPECT_EQ(written(write_hgrm, Config{}, Result{}), "");
}

TEST(HgrmProperty, ReadsBackAsTheSample) {
  EXPECT_TRUE(rc::check([] {
    auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::int64_t>>(
        rc::gen::inRange<std::int64_t>(0, 10'000'000)));
    Histogram histogram;
    for (const std::int64_t ns : values) histogram.record(nanoseconds(ns));
    std::ranges::sort(values);
    const auto n = static_cast<double>(values.size());

    const auto rows = rows_of(block(histogram));
    RC_ASSERT(rows.size() >= 2u);
    RC_ASSERT(rows.front().fraction == 0);
    RC_ASSERT(rows.back().fraction == 1);
    RC_ASSERT(rows.back().total == values.size());
    RC_ASSERT(rows.back().value == static_cast<double>(values.back()));
    RC_ASSERT(rows.back().inverse == 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const PercentileRow& row = rows[i];
      const auto rank = static_cast<std::size_t>(std::max(1.0, std::ceil(row.fraction * n - 1e-9)));
      const auto exact = static_cast<double>(values[rank - 1]);
      RC_ASSERT(row.value >= exact);
      RC_ASSERT(row.value <= exact * 1.001);
      // Every sample up to the row's value is counted in it, and no other.
      const auto above = std::ranges::upper_bound(values, static_cast<std::int64_t>(row.value));
      RC_ASSERT(static_cast<std::ptrdiff_t>(row.total) == above - values.begin());
      if (i + 1 == rows.size()) break;
      RC_ASSERT(std::abs(row.inverse - 1 / (1 - row.fraction)) <= 0.0051);
      if (i + 2 == rows.size()) break;
      // Five steps to each halving of what is left.
      const double halvings = std::floor(std::log2(1 / (1 - row.fraction)) + 1e-9);
      const double step = 0.1 / std::exp2(halvings);
      RC_ASSERT(std::abs(rows[i + 1].fraction - row.fraction - step) < 1e-9);
    }
  }));
}

}  // namespace
}  // namespace sim
