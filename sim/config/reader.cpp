#include "sim/config/reader.h"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <limits>

#include "sim/config/sections.h"
#include "sim/config/text_file.h"

namespace sim {
namespace {

constexpr std::size_t kLargestConfig = 4 << 20;
// toml++ builds and destroys nested tables by recursion, and limits brackets but not dotted keys.
constexpr int kMostDots = 32;

constexpr std::array<std::string_view, 9> kRootKeys{"duration", "seed",       "run",
                                                    "machine",  "hypervisor", "partition",
                                                    "lock",     "workload",   "interrupt"};
constexpr std::array<std::string_view, 2> kRunKeys{"warmup", "livelock_limit"};

void check_text(std::string_view text, const Origin& origin) {
  const auto refuse = [&](std::size_t at, const std::string& message) {
    const std::string_view head = text.substr(0, at);
    const std::size_t last = head.rfind('\n');
    const std::size_t column = last == std::string_view::npos ? at : at - last - 1;
    throw ConfigError(origin.name, static_cast<std::uint32_t>(std::ranges::count(head, '\n') + 1),
                      static_cast<std::uint32_t>(column + 1), "", message);
  };
  if (text.size() > kLargestConfig) {
    throw ConfigError(origin.name, 0, 0, "",
                      "must be at most " + std::to_string(kLargestConfig / 1024) + " KiB");
  }
  const std::size_t bad = find_invalid_utf8(text);
  if (bad != std::string_view::npos) refuse(bad, "needs UTF-8 text (TOML), is not");
  constexpr std::string_view kEnds = "=,{}[]\n";
  int dots = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.' && ++dots > kMostDots) refuse(i, "nests keys deeper than any config does");
    if (kEnds.find(text[i]) != std::string_view::npos) dots = 0;
  }
}

toml::table parse(std::string_view text, const Origin& origin) {
  try {
    return toml::parse(text, std::string_view(origin.name));
  } catch (const toml::parse_error& error) {
    throw ConfigError(origin.name, error.source().begin.line, error.source().begin.column, "",
                      "is not TOML: " + std::string(error.description()));
  }
}

// The entries that a config without these sections has, so that --set can name them.
void add_default_entries(toml::table& tree) {
  const auto add = [&](std::string_view key, toml::table entry) {
    if (!tree.contains(key)) tree.insert(key, toml::array{std::move(entry)});
  };
  add("partition", toml::table{});
  add("lock", toml::table{});
  add("workload", toml::table{});
  // None, but a list, so that --set interrupt.0.rate=… is told so.
  if (!tree.contains("interrupt")) tree.insert("interrupt", toml::array{});
}

void read_run(const Section& root, RunConfig& run) {
  const toml::table* table = root.table("run");
  if (table == nullptr) return;
  const Section section(root.origin(), *table, "run", "[run]", kRunKeys);
  section.duration("warmup", run.warmup);
  section.duration("livelock_limit", run.livelock_limit, microseconds(1));
}

}  // namespace

Config parse_config(std::string_view text, const std::string& name,
                    std::span<const Override> overrides) {
  const Origin origin{name, std::filesystem::path(name).parent_path()};
  check_text(text, origin);
  toml::table tree = parse(text, origin);
  if (tree.empty()) {
    throw ConfigError(name, 0, 0, "",
                      "has no settings; needs at least one, such as duration = \"2s\"");
  }
  add_default_entries(tree);
  apply_overrides(tree, overrides);

  const Section root(origin, tree, "", "", kRootKeys);
  Config config;
  root.duration("duration", config.duration, nanoseconds(1));
  std::int64_t seed = 1;
  root.integer("seed", seed, 0, std::numeric_limits<std::int64_t>::max());
  config.seed = static_cast<std::uint64_t>(seed);
  read_run(root, config.run);
  read_machine(root, config);
  read_hypervisor(root, config);
  read_partitions(root, config);
  read_locks(root, config);
  read_workloads(root, config);
  return config;
}

Config read_config(const std::filesystem::path& path, std::span<const Override> overrides) {
  const auto content = read_text_file(path, kLargestConfig, FileKind::any);
  if (const auto* fault = std::get_if<FileFault>(&content)) {
    throw ConfigError(path.string(), 0, 0, "", fault->message);
  }
  return parse_config(std::get<std::string>(content), path.string(), overrides);
}

}  // namespace sim
