#include "sim/cli/list_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "lock/algorithms.h"
#include "sim/cli/arguments.h"
#include "sim/cli/output.h"
#include "sim/config/duration.h"
#include "sim/config/names.h"
#include "sim/guest/simulation_config.h"
#include "sim/machine/profile.h"

namespace sim {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<Json>;  // objects with the same keys, in the same order

Json knob_value(const lock::Knob& knob) {
  return knob.type == lock::Knob::Type::boolean ? Json(knob.initial != 0) : Json(knob.initial);
}

Rows locks() {
  Rows rows;
  const std::string initial = LockConfig{}.algorithm;
  for (const auto& algorithm : lock::algorithms()) {
    rows.push_back({{"name", algorithm.name},
                    {"default", algorithm.name == initial},
                    {"knobs", algorithm.knobs.size()},
                    {"stages", algorithm.stages.size()},
                    {"summary", algorithm.summary}});
  }
  return rows;
}

Rows knobs() {
  Rows rows;
  for (const auto& algorithm : lock::algorithms()) {
    for (const auto& knob : algorithm.knobs) {
      const bool boolean = knob.type == lock::Knob::Type::boolean;
      rows.push_back({{"lock", algorithm.name},
                      {"name", knob.name},
                      {"default", knob_value(knob)},
                      {"allowed", boolean ? std::string("true, false")
                                          : fmt::format("{}..{}", knob.min, knob.max)},
                      {"summary", knob.meaning}});
    }
  }
  return rows;
}

Rows stages() {
  Rows rows;
  for (const auto& algorithm : lock::algorithms()) {
    for (const auto& stage : algorithm.stages) {
      const std::size_t rung = static_cast<std::size_t>(&stage - algorithm.stages.data());
      rows.push_back({{"lock", algorithm.name},
                      {"rung", rung},
                      {"name", stage},
                      {"default", rung + 1 == algorithm.stages.size()}});
    }
  }
  return rows;
}

template <class E>
Rows named(std::span<const Named<E>> names, E initial) {
  Rows rows;
  for (const Named<E>& entry : names) {
    rows.push_back(
        {{"name", entry.name}, {"default", entry.value == initial}, {"summary", entry.summary}});
  }
  return rows;
}

Rows profiles() {
  Rows rows;
  const std::string initial = Profile{}.name;
  for (const std::string_view name : profile_names()) {
    rows.push_back(
        {{"name", name}, {"default", name == initial}, {"summary", profile_summary(name)}});
  }
  return rows;
}

Rows all_figures() {
  Rows rows;
  for (const std::string_view name : profile_names()) {
    const Profile profile = *find_profile(name);
    for (const Figure& figure : figures()) {
      const std::int64_t value = figure_value(profile, figure);
      const bool time = std::holds_alternative<Time Profile::*>(figure.member);
      rows.push_back({{"profile", name},
                      {"key", figure.key},
                      {"value", time ? Json(format_duration(picoseconds(value))) : Json(value)},
                      {"summary", figure.meaning},
                      {"source", figure_source(name, figure.key)}});
    }
  }
  return rows;
}

Rows rows_of(const std::string& topic) {
  if (topic == "locks") return locks();
  if (topic == "knobs") return knobs();
  if (topic == "stages") return stages();
  if (topic == "policies") return named(policies(), hv::HypervisorConfig{}.policy);
  if (topic == "workloads") return named(workload_kinds(), WorkloadConfig{}.kind);
  if (topic == "profiles") return profiles();
  return all_figures();
}

std::string cell(const std::string& column, const Json& value) {
  // In a column of which only one row is true, that row alone is marked.
  if (column == "default" && value.is_boolean() && value.get<bool>()) return "yes";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Columns as wide as their widest cell; the last one runs free.
std::string table_of(const Rows& rows, bool marks) {
  if (rows.empty()) return "";
  std::vector<std::vector<std::string>> lines(1);
  for (const auto& [column, value] : rows.front().items()) lines[0].push_back(column);
  for (const Json& row : rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const auto& [column, value] : row.items()) {
      const bool unmarked = marks && column == "default" && value == Json(false);
      line.push_back(unmarked ? "" : marks ? cell(column, value) : cell("", value));
    }
  }
  std::vector<std::size_t> widths(lines[0].size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      row += i + 1 == line.size() ? line[i] : fmt::format("{:<{}}  ", line[i], widths[i]);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

}  // namespace

int list_command(const ListOptions& options) {
  const Rows rows = rows_of(options.topic);
  // A knob's default is its value, elsewhere the column marks the one that is taken by default.
  const bool marks = options.topic != "knobs";
  print(options.format == "json" ? Json(rows).dump(1) + "\n" : table_of(rows, marks));
  return kDone;
}

}  // namespace sim
