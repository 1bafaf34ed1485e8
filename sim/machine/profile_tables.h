// The built-in profiles as tables: one row a figure, its source beside it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sim {

struct ProfileRow {
  std::string_view key;  // of a Figure
  std::int64_t value;    // picoseconds, or the plain number
  std::string_view source;
};

struct ProfileTable {
  std::string_view name;
  std::string_view summary;
  std::span<const ProfileRow> rows;  // every figure, once
};

std::span<const ProfileTable> profile_tables();

}  // namespace sim
