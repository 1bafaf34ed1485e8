// Virtual time: integer picoseconds since the start of a run.
//
// No floating point decides an order of events, so every instant and every length of time in the
// simulator is a `Time`. 64 bits hold 106 days. Fractions appear only when a figure is printed.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>

namespace sim {

using Time = std::chrono::duration<std::int64_t, std::pico>;

inline constexpr Time kNever{std::numeric_limits<std::int64_t>::max()};

constexpr Time picoseconds(std::int64_t n) {
  return Time{n};
}
constexpr Time nanoseconds(std::int64_t n) {
  return Time{n * 1'000};
}
constexpr Time microseconds(std::int64_t n) {
  return Time{n * 1'000'000};
}
constexpr Time milliseconds(std::int64_t n) {
  return Time{n * 1'000'000'000};
}
constexpr Time seconds(std::int64_t n) {
  return Time{n * 1'000'000'000'000};
}

// Whole nanoseconds, rounded to nearest (half up); what histograms record.
constexpr std::int64_t to_ns(Time t) {
  return (t.count() + 500) / 1'000;
}

// `a + b`, or kNever where the sum would not fit. Neither may be negative.
constexpr Time saturating_add(Time a, Time b) {
  return a.count() > kNever.count() - b.count() ? kNever : a + b;
}

}  // namespace sim
