// The locks that exist: names, knobs and stages, for configs, `list` and tests.
//
// The data here describes; the code is in one header a lock (qspinlock.h, simple.h, …).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lock {

struct Knob {
  enum class Type : std::uint8_t { boolean, integer };
  std::string_view name;  // the kernel's own name where the kernel has it
  Type type;
  std::int64_t initial;  // the kernel's default; a boolean is 0 or 1
  std::int64_t min;
  std::int64_t max;
  std::string_view meaning;
};

struct Algorithm {
  std::string_view name;
  std::string_view summary;  // one line
  std::span<const Knob> knobs;
  std::span<const std::string_view> stages;  // in order; the last is the default. Empty: none
};

std::span<const Algorithm> algorithms();
// nullptr for an unknown name.
const Algorithm* find_algorithm(std::string_view name);

}  // namespace lock
