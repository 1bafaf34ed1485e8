// [machine]: topology, profile, and figures of the profile.
#include <array>
#include <bit>
#include <vector>

#include "sim/config/sections.h"
#include "sim/config/suggest.h"

namespace sim {
namespace {

// Capacities are given for up to 8 busy threads.
constexpr std::uint32_t kMostThreadsPerCore = 8;

std::vector<std::string_view> machine_keys() {
  std::vector<std::string_view> keys{"profile", "sockets", "chips", "cores", "threads"};
  for (const Figure& figure : figures()) keys.push_back(figure.key);
  return keys;
}

void read_topology(const Section& machine, Topology& topology) {
  machine.integer("sockets", topology.sockets, 1, kMaxThreads);
  machine.integer("chips", topology.chips, 1, kMaxThreads);
  machine.integer("cores", topology.cores, 1, kMaxThreads);
  machine.integer("threads", topology.threads, 1, kMostThreadsPerCore);
  const std::uint64_t total = std::uint64_t{topology.sockets} * topology.chips;
  // Each factor is at most kMaxThreads, 2^14: four of them fit.
  if (total * topology.cores * topology.threads > kMaxThreads) {
    const std::array<std::string_view, 4> factors{"cores", "sockets", "chips", "threads"};
    std::string_view given = "cores";
    for (const std::string_view key : factors) {
      if (machine.find(key) != nullptr) {
        given = key;
        break;
      }
    }
    machine.fail(given, "the machine must have at most " + std::to_string(kMaxThreads) +
                            " hardware threads (sockets × chips × cores × threads), has " +
                            std::to_string(total * topology.cores * topology.threads));
  }
}

void read_figures(const Section& machine, Profile& profile) {
  for (const Figure& figure : figures()) {
    if (std::holds_alternative<Time Profile::*>(figure.member)) {
      Time value{};
      if (machine.duration(figure.key, value, picoseconds(figure.min), picoseconds(figure.max))) {
        set_figure(profile, figure, value.count());
      }
    } else {
      std::int64_t value = 0;
      if (machine.integer(figure.key, value, figure.min, figure.max)) {
        set_figure(profile, figure, value);
      }
    }
  }
  const auto line = static_cast<std::uint64_t>(profile.line_bytes);
  if (!std::has_single_bit(line)) {
    machine.fail("line_bytes", "must be a power of two from 8 to 4096, is " + std::to_string(line));
  }
}

}  // namespace

void read_machine(const Section& root, Config& config) {
  config.profile = *find_profile("generic");
  const toml::table* table = root.table("machine");
  if (table == nullptr) return;
  const Section machine(root.origin(), *table, "machine", "[machine]", machine_keys());
  const std::size_t profile = machine.choose("profile", profile_names());
  if (profile < profile_names().size()) config.profile = *find_profile(profile_names()[profile]);
  read_topology(machine, config.topology);
  read_figures(machine, config.profile);
}

}  // namespace sim
