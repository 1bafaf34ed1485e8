// trainwreck list: what configs can name, with defaults and a line on each.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace sim {

inline constexpr std::array<std::string_view, 7> kListTopics{
    "locks", "knobs", "policies", "workloads", "profiles", "stages", "figures"};

struct ListOptions {
  std::string topic;
  std::string format = "table";
};

// Returns the exit code.
int list_command(const ListOptions& options);

}  // namespace sim
