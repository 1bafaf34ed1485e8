#include <gtest/gtest.h>

#include "sim/config/duration.h"

namespace sim {
namespace {

Time value(std::string_view text) {
  const auto parsed = parse_duration(text);
  if (const auto* wrong = std::get_if<std::string>(&parsed)) {
    ADD_FAILURE() << text << " " << *wrong;
    return {};
  }
  return std::get<Time>(parsed);
}

std::string fault(std::string_view text) {
  const auto parsed = parse_duration(text);
  if (const auto* wrong = std::get_if<std::string>(&parsed)) return *wrong;
  ADD_FAILURE() << "accepted " << text;
  return {};
}

TEST(Duration, UnitsAreExact) {
  EXPECT_EQ(value("7ps"), picoseconds(7));
  EXPECT_EQ(value("7ns"), nanoseconds(7));
  EXPECT_EQ(value("7us"), microseconds(7));
  EXPECT_EQ(value("7ms"), milliseconds(7));
  EXPECT_EQ(value("7s"), seconds(7));
  EXPECT_EQ(value("7min"), seconds(420));
  EXPECT_EQ(value("7 ms"), milliseconds(7));
  EXPECT_EQ(value("0s"), Time{0});
  EXPECT_EQ(value("00010ms"), milliseconds(10));
}

TEST(Duration, DecimalsAreNotRounded) {
  EXPECT_EQ(value("1.5us"), nanoseconds(1500));
  EXPECT_EQ(value("0.1s"), milliseconds(100));
  EXPECT_EQ(value("0.3s"), milliseconds(300));
  EXPECT_EQ(value("4.35ns"), picoseconds(4350));
  EXPECT_EQ(value("99999.999999999999s"), seconds(100'000) - picoseconds(1));
  EXPECT_EQ(value("0.000000000001min"), picoseconds(60));
  EXPECT_EQ(value("1.50000000000000000000us"), nanoseconds(1500));
  EXPECT_NE(fault("0.5ps").find("whole number of picoseconds"), std::string::npos);
  EXPECT_NE(fault("1.0001ns").find("whole number of picoseconds"), std::string::npos);
}

TEST(Duration, WhatIsNoDurationSaysWhatOneIs) {
  for (const std::string_view text :
       {"", "ms", "ten ms", "1e3us", "1..5us", ".5us", "5.us", "5 parsecs", "5  ms", " 5ms", "5ms ",
        "+5ms", "0x5ms", "1,5us", "5Ms", "5µs", "5m", "5h"}) {
    EXPECT_NE(fault(text).find("needs a duration"), std::string::npos) << text;
    EXPECT_NE(fault(text).find("ps, ns, us, ms, s or min"), std::string::npos) << text;
  }
  EXPECT_NE(fault("5").find("needs a unit"), std::string::npos);
  EXPECT_NE(fault("1.5").find("needs a unit"), std::string::npos);
  EXPECT_NE(fault("-5ms").find("must not be negative"), std::string::npos);
}

TEST(Duration, LongOnesAreRefusedAndNeverOverflow) {
  EXPECT_EQ(value("100000s"), kLongestDuration);
  EXPECT_EQ(value("1666min"), seconds(99'960));
  for (const std::string_view text :
       {"100001s", "100000.000000000001s", "1667min", "99999999999999999999999999s",
        "100000000000000001ps", "18446744073709551616ps", "9223372036854775808ps"}) {
    EXPECT_NE(fault(text).find("at most 100000s"), std::string::npos) << text;
  }
}

TEST(Duration, FormatsInTheLargestWholeUnitAndReadsBack) {
  EXPECT_EQ(format_duration(Time{0}), "0s");
  EXPECT_EQ(format_duration(seconds(120)), "120s");
  EXPECT_EQ(format_duration(nanoseconds(1500)), "1500ns");
  EXPECT_EQ(format_duration(milliseconds(10)), "10ms");
  EXPECT_EQ(format_duration(picoseconds(1)), "1ps");
  for (std::int64_t n = 1; n < 100'000'000'000'000'000; n = n * 7 + 3) {
    EXPECT_EQ(value(format_duration(picoseconds(n))), picoseconds(n));
  }
}

}  // namespace
}  // namespace sim
