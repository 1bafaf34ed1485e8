// [[lock]]: algorithm, stage, home and knobs.
#include <array>
#include <map>
#include <vector>

#include "lock/algorithms.h"
#include "sim/config/sections.h"
#include "sim/config/suggest.h"

namespace sim {
namespace {

constexpr std::array<std::string_view, 5> kLockKeys{"name", "algorithm", "stage", "node", "knobs"};

const lock::Algorithm& read_algorithm(const Section& section, LockConfig& config) {
  std::vector<std::string_view> names;
  for (const lock::Algorithm& algorithm : lock::algorithms()) names.push_back(algorithm.name);
  const std::size_t index = section.choose("algorithm", names);
  if (index < names.size()) config.algorithm = names[index];
  const lock::Algorithm* algorithm = lock::find_algorithm(config.algorithm);
  if (algorithm == nullptr)
    section.fail("algorithm", unknown_name("name", config.algorithm, names));
  return *algorithm;
}

void read_knob(const Section& knobs, const lock::Knob& knob, LockConfig& config) {
  const toml::node* node = knobs.find(knob.name);
  if (node == nullptr) return;
  const std::string name(knob.name);
  if (knob.type == lock::Knob::Type::integer) {
    std::int64_t value = 0;
    knobs.integer(knob.name, value, knob.min, knob.max);
    config.knobs[name] = value;
    return;
  }
  // The kernel's own files take 0 and 1, and so do sweeps.
  const auto* number = node->as_integer();
  if (number != nullptr && (**number == 0 || **number == 1)) {
    config.knobs[name] = **number == 1;
  } else if (const auto* boolean = node->as_boolean()) {
    config.knobs[name] = **boolean;
  } else {
    knobs.fail(knob.name, "needs true or false (or 1 or 0), is " + describe(*node));
  }
}

void read_lock(const Section& section, const Config& config, LockConfig& lock_config) {
  section.name("name", lock_config.name);
  const lock::Algorithm& algorithm = read_algorithm(section, lock_config);
  if (section.find("stage") != nullptr) {
    if (algorithm.stages.empty()) {
      section.fail("stage", "goes only with an algorithm that has stages; " +
                                quote(algorithm.name) + " has none");
    }
    lock_config.stage = algorithm.stages[section.choose("stage", algorithm.stages)];
  }
  section.integer("node", lock_config.node, 0, config.topology.sockets - 1);
  const toml::table* table = section.table("knobs");
  if (table == nullptr) return;
  std::vector<std::string_view> names;
  for (const lock::Knob& knob : algorithm.knobs) names.push_back(knob.name);
  const Section knobs(section.origin(), *table, section.path_of("knobs"),
                      std::string(algorithm.name) + "'s knobs", names);
  for (const lock::Knob& knob : algorithm.knobs) read_knob(knobs, knob, lock_config);
}

}  // namespace

void read_locks(const Section& root, Config& config) {
  const auto tables = root.tables("lock");
  if (tables.empty()) root.fail("lock", "needs at least one entry ([[lock]])");
  std::map<std::string, std::size_t> seen;
  for (const toml::table* table : tables) {
    const std::size_t index = config.locks.size();
    const Section section(root.origin(), *table, "lock." + std::to_string(index), "[[lock]]",
                          kLockKeys);
    LockConfig lock_config;
    lock_config.name = default_name("lock", index);
    read_lock(section, config, lock_config);
    const auto [first, fresh] = seen.emplace(lock_config.name, index);
    if (!fresh) {
      section.fail("name", quote(lock_config.name) + " is already the name of lock." +
                               std::to_string(first->second) + "; names must differ");
    }
    config.locks.push_back(std::move(lock_config));
  }
}

}  // namespace sim
