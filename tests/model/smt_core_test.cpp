// SMT cores: who gets how much of a core, and what a change does to work in progress.
#include "sim/machine/smt_core.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "tests/model/rig.h"

namespace sim {
namespace {

using Busy = RateTable::Busy;

// A thread's share by weight; whoever would get more than one thread alone gets that, and the rest
// share what is left.
std::array<double, kPriorities> water_filling(double capacity, const Busy& busy,
                                              const std::array<double, kPriorities>& weight) {
  std::array<double, kPriorities> rate{};
  std::array<bool, kPriorities> full{};
  for (bool again = true; again;) {
    again = false;
    double left = capacity, sum = 0;
    for (std::size_t i = 0; i < kPriorities; ++i) {
      if (full[i]) left -= busy[i];
      if (!full[i]) sum += weight[i] * busy[i];
    }
    for (std::size_t i = 0; i < kPriorities; ++i) {
      if (full[i] || busy[i] == 0) continue;
      rate[i] = left * weight[i] / sum;
      if (rate[i] >= 1) {
        rate[i] = 1;
        full[i] = again = true;
      }
    }
  }
  return rate;
}

double capacity_of(const Profile& p, int busy) {
  const auto line = [&](double from, double to, double at) { return from + (to - from) * at; };
  const auto c1 = static_cast<double>(p.capacity_1), c2 = static_cast<double>(p.capacity_2);
  const auto c4 = static_cast<double>(p.capacity_4), c8 = static_cast<double>(p.capacity_8);
  if (busy <= 1) return c1 / 1000;
  if (busy <= 2) return c2 / 1000;
  if (busy <= 4) return line(c2, c4, (busy - 2) / 2.0) / 1000;
  if (busy <= 8) return line(c4, c8, (busy - 4) / 4.0) / 1000;
  return c8 / 1000;
}

TEST(RateTable, SharesByWeightAndCapsAtOneThreadAlone) {
  for (const std::string_view name : profile_names()) {
    const Profile profile = *find_profile(name);
    const RateTable table(profile, 8);
    const std::array<double, kPriorities> weights{static_cast<double>(profile.weight_medium),
                                                  static_cast<double>(profile.weight_low),
                                                  static_cast<double>(profile.weight_relax)};
    for (std::uint8_t m = 0; m <= 8; ++m)
      for (std::uint8_t l = 0; m + l <= 8; ++l)
        for (std::uint8_t r = 0; m + l + r <= 8; ++r) {
          if (m + l + r == 0) continue;
          const Busy busy{m, l, r};
          const auto& rates = table.rates(busy);
          const auto expected = water_filling(capacity_of(profile, m + l + r), busy, weights);
          for (std::size_t i = 0; i < kPriorities; ++i) {
            if (busy[i] == 0) continue;
            // Integer divisions round down; the capacity itself is in thousandths.
            EXPECT_NEAR(static_cast<double>(rates[i]) / kFullRate, expected[i], 2e-3)
                << name << " medium " << int{m} << " low " << int{l} << " relaxed " << int{r};
            EXPECT_LE(rates[i], kFullRate);
            EXPECT_GE(rates[i], 1);
          }
        }
  }
}

TEST(RateTable, GivesSevenEighthsOfTheCoreToMediumAgainstLow) {
  Profile profile = round_profile();  // capacity of two: 1.5 threads; weights 7, 1 and 4
  const RateTable table(profile, 2);
  // 7/8 of 1.5 is more than one thread alone: medium runs at full speed, low gets the other half.
  EXPECT_EQ(table.rates({1, 1, 0})[0], kFullRate);
  EXPECT_EQ(table.rates({1, 1, 0})[1], kFullRate / 2);
  profile.capacity_2 = 800;
  const RateTable narrow(profile, 2);
  // 800/1000 · 65536 = 52428 (whole units); 7/8 and 1/8 of that.
  EXPECT_EQ(narrow.rates({1, 1, 0})[0], 52428 * 7 / 8);
  EXPECT_EQ(narrow.rates({1, 1, 0})[1], 52428 / 8);
}

TEST(SmtCore, ReRatesWorkInProgressExactly) {
  // A computes 100 ns from 0. Two threads share 1.5: each runs at 3/4. B sits on the sibling
  // thread from 20 to 60, and a third time from 70 on:
  //   0..20  alone           20 ns of work done, 80 left
  //   20..60 at 3/4          30 ns done, 50 left
  //   60..70 alone           10 ns done, 40 left
  //   70..   at 3/4          40 / 0.75 = 53.333… ns, rounded up to the picosecond
  Rig rig({.cores = 1, .threads = 2});
  Time end{};
  auto& a = rig.vcpu([&](Execution& e) {
    e.compute(nanoseconds(100));
    end = e.now();
  });
  auto& b = rig.vcpu([](Execution& e) { e.compute(seconds(1)); });
  rig.at(Time{0}, [&] { a.attach(0); });
  rig.at(nanoseconds(20), [&] { b.attach(1); });
  rig.at(nanoseconds(60), [&] { b.detach(); });
  rig.at(nanoseconds(70), [&] { b.attach(1); });
  rig.run(microseconds(1));
  EXPECT_EQ(end, nanoseconds(70) + picoseconds(53'334));
}

TEST(SmtCore, ASiblingAtLowPriorityGivesItsCoreAway) {
  // Capacity of two 0.8. B starts beside A at low priority: A runs at 7/8 of 0.8.
  // A's 70 ns: 52428 · 7 / 8 = 45874 units a ps; 70000 · 65536 / 45874 = 100002.61… ps.
  Profile profile = round_profile();
  profile.capacity_2 = 800;
  Rig rig({.cores = 1, .threads = 2}, profile);
  Time end{};
  auto& a = rig.vcpu([&](Execution& e) {
    e.compute(nanoseconds(70));
    end = e.now();
  });
  auto& b = rig.vcpu([](Execution& e) {
    e.set_priority(Priority::low);
    e.compute(seconds(1));
  });
  rig.at(Time{0}, [&] {
    a.attach(0);
    b.attach(1);
  });
  rig.run(microseconds(1));
  EXPECT_EQ(end, picoseconds(100'003));
}

TEST(SmtCore, KeepsWorkWhileTheVcpuIsOffItsCpu) {
  Rig rig({.cores = 2, .threads = 1});
  Time end{};
  auto& a = rig.vcpu([&](Execution& e) {
    e.compute(nanoseconds(100));
    end = e.now();
  });
  rig.at(Time{0}, [&] { a.attach(0); });
  rig.at(nanoseconds(30), [&] { a.detach(); });
  rig.at(nanoseconds(1000), [&] { a.attach(1); });
  rig.run(microseconds(10));
  EXPECT_EQ(end, nanoseconds(1070));
}

}  // namespace
}  // namespace sim
