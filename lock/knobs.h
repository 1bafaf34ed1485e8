// Knobs as fields of a struct, listed once in a table that configs, `list` and `set` share.
//
// A lock's Knobs struct holds the defaults; its table adds name, bounds and meaning. The struct is
// read-only while a lock uses it: it is configuration, not simulated memory, and reading it costs
// nothing. Errors: set_knob returns false and changes nothing for an unknown name or a number out
// of bounds. A boolean takes any number and becomes 1 unless it is 0, as the kernel's debugfs does.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "lock/algorithms.h"

namespace lock {

// Exactly one of `flag` and `number` is set.
template <class Knobs>
struct KnobField {
  std::string_view name;
  bool Knobs::*flag;
  std::uint64_t Knobs::*number;
  std::int64_t min;
  std::int64_t max;
  std::string_view meaning;

  constexpr Knob describe() const {
    const Knobs defaults{};
    if (flag != nullptr) {
      return {name, Knob::Type::boolean, defaults.*flag ? 1 : 0, 0, 1, meaning};
    }
    const auto initial = static_cast<std::int64_t>(defaults.*number);
    return {name, Knob::Type::integer, initial, min, max, meaning};
  }
};

template <class Knobs>
constexpr KnobField<Knobs> flag_knob(std::string_view name, bool Knobs::*field,
                                     std::string_view meaning) {
  return {name, field, nullptr, 0, 1, meaning};
}

template <class Knobs>
constexpr KnobField<Knobs> number_knob(std::string_view name, std::uint64_t Knobs::*field,
                                       std::int64_t min, std::int64_t max,
                                       std::string_view meaning) {
  return {name, nullptr, field, min, max, meaning};
}

template <class Knobs>
bool set_knob(Knobs& knobs, std::span<const KnobField<Knobs>> fields, std::string_view name,
              std::int64_t value) {
  for (const auto& field : fields) {
    if (field.name != name) continue;
    if (field.flag != nullptr) {
      knobs.*field.flag = value != 0;
      return true;
    }
    if (value < field.min || value > field.max) return false;
    knobs.*field.number = static_cast<std::uint64_t>(value);
    return true;
  }
  return false;
}

// For locks without knobs, and without data per CPU.
struct NoKnobs {
  bool set(std::string_view, std::int64_t) { return false; }
};
struct NoCpuArea {};

}  // namespace lock
