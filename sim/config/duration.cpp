#include "sim/config/duration.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/config/suggest.h"

namespace sim {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t picoseconds;
  std::size_t decimals;  // fraction digits that are whole picoseconds
};

constexpr std::array kUnits{
    Unit{"min", 60'000'000'000'000, 12},
    Unit{"s", 1'000'000'000'000, 12},
    Unit{"ms", 1'000'000'000, 9},
    Unit{"us", 1'000'000, 6},
    Unit{"ns", 1'000, 3},
    Unit{"ps", 1, 0},
};

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  const auto length = static_cast<std::size_t>(end - text.begin());
  const std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  return digits;
}

std::string malformed(std::string_view text) {
  return "needs a duration such as \"10ms\" or \"1.5us\" (a number and ps, ns, us, ms, s or min), "
         "is " +
         quote(text);
}

}  // namespace

std::variant<Time, std::string> parse_duration(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with('-')) return "must not be negative, is " + quote(text);
  const std::string_view whole = take_digits(rest);
  std::string_view fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
    if (fraction.empty()) return malformed(text);
  }
  if (whole.empty()) return malformed(text);
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  if (rest.empty()) {
    return "needs a unit (ps, ns, us, ms, s or min) after the number, is " + quote(text);
  }
  const auto unit = std::ranges::find(kUnits, rest, &Unit::name);
  if (unit == kUnits.end()) return malformed(text);

  const std::string too_long =
      "must be at most " + format_duration(kLongestDuration) + ", is " + quote(text);
  std::int64_t total = 0;
  for (const char digit : whole) {
    total = total * 10 + (digit - '0');
    if (total > kLongestDuration.count() / unit->picoseconds) return too_long;
  }
  total *= unit->picoseconds;
  while (fraction.ends_with('0')) fraction.remove_suffix(1);
  if (fraction.size() > unit->decimals) {
    return "must be a whole number of picoseconds, is " + quote(text);
  }
  std::int64_t place = unit->picoseconds;
  for (const char digit : fraction) {
    place /= 10;
    total += place * (digit - '0');
  }
  if (total > kLongestDuration.count()) return too_long;
  return picoseconds(total);
}

std::string format_duration(Time time) {
  if (time == Time{0}) return "0s";
  // Minutes read oddly for anything but whole ones given so; seconds do for all.
  for (const Unit& unit : kUnits) {
    if (unit.name != "min" && time.count() % unit.picoseconds == 0) {
      return std::to_string(time.count() / unit.picoseconds) + std::string(unit.name);
    }
  }
  return std::to_string(time.count()) + "ps";
}

}  // namespace sim
