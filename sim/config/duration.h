// Lengths of time as people write them: "10ms", "1.5us", "2 s".
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "sim/engine/time.h"

namespace sim {

// Longest length of time that a config may ask for.
inline constexpr Time kLongestDuration = seconds(100'000);

// A decimal number without sign or exponent, at most one space, and one of ps ns us ms s min.
// Exact: there is no rounding, so a fraction of a picosecond is refused. Returns what is wrong
// otherwise, as the rest of a sentence that begins with the key.
std::variant<Time, std::string> parse_duration(std::string_view text);

// The same length in its largest unit that needs no fraction: 1500 ns is "1500ns", zero "0s".
// `time` is not negative.
std::string format_duration(Time time);

}  // namespace sim
