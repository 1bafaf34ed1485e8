// [hypervisor] and [[partition]].
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <vector>

#include "lock/platform.h"
#include "sim/config/reader.h"
#include "sim/config/sections.h"
#include "sim/config/suggest.h"
#include "sim/config/text_file.h"

namespace sim {
namespace {

constexpr std::size_t kLargestSchedule = 256 << 20;
// Shorter slices than a switch takes would simulate nothing but switches.
constexpr Time kShortestSlice = microseconds(1);

constexpr std::array kCosts{
    CostKey{"switch_cost", "switch_cost"},
    CostKey{"hcall_cost", "hcall"},
    CostKey{"prod_cost", "prod"},
    CostKey{"interrupt_cost", "interrupt"},
};

constexpr std::array<std::string_view, 14> kHypervisorKeys{"policy",
                                                           "granularity",
                                                           "timeslice",
                                                           "switch_cost",
                                                           "hcall_cost",
                                                           "prod_cost",
                                                           "interrupt_cost",
                                                           "background",
                                                           "replay",
                                                           "replay_digest",
                                                           "prod_memory",
                                                           "preempted_rule",
                                                           "confer_all_waits_for_ceded",
                                                           "wakeup_granularity"};

constexpr std::array<std::string_view, 2> kBackgroundKeys{"share", "mean"};

constexpr std::array<std::string_view, 6> kPartitionKeys{"name",   "vcpus",  "entitlement",
                                                         "weight", "capped", "pin"};

void read_background(const Section& hypervisor, hv::Background& background) {
  const toml::table* table = hypervisor.table("background");
  if (table == nullptr) return;
  const Section section(hypervisor.origin(), *table, hypervisor.path_of("background"), "background",
                        kBackgroundKeys);
  if (section.real("share", background.share) && !(background.share >= 0 && background.share < 1)) {
    section.fail("share",
                 "must be a number from 0 to less than 1, is " + describe(*section.find("share")));
  }
  section.duration("mean", background.mean, microseconds(1));
}

void read_costs(const Section& root, const Section& hypervisor, Profile& profile) {
  const toml::table* machine = root.table("machine");
  for (const CostKey& cost : kCosts) {
    const Figure& figure = *find_figure(cost.figure);
    Time value{};
    if (!hypervisor.duration(cost.key, value, picoseconds(figure.min), picoseconds(figure.max))) {
      continue;
    }
    if (machine != nullptr && machine->contains(cost.figure)) {
      hypervisor.fail(cost.key, "is given twice: also as machine." + std::string(cost.figure));
    }
    set_figure(profile, figure, value.count());
  }
}

// A recorded schedule is part of what is simulated, so its digest goes with the config.
void read_replay(const Section& hypervisor, hv::HypervisorConfig& config) {
  const bool replays = config.policy == hv::PolicyKind::replay;
  std::string name;
  const bool given = hypervisor.text("replay", name);
  if (!replays) {
    for (const std::string_view key : {"replay", "replay_digest"}) {
      if (hypervisor.find(key) != nullptr) {
        hypervisor.fail(key, "goes only with policy = \"replay\"");
      }
    }
    return;
  }
  if (!given) {
    hypervisor.fail("replay",
                    "is missing: policy \"replay\" needs the path of a recorded schedule");
  }
  if (name.empty() || name.find('\0') != std::string::npos) {
    hypervisor.fail("replay", "needs the path of a recorded schedule, is " + quote(name));
  }
  const std::filesystem::path path = hypervisor.origin().directory / name;
  const auto content = read_text_file(path, kLargestSchedule, FileKind::regular);
  if (const auto* fault = std::get_if<FileFault>(&content)) {
    hypervisor.fail("replay", quote(name) + " " + fault->message);
  }
  if (std::get<std::string>(content).empty()) hypervisor.fail("replay", quote(name) + " is empty");
  config.replay = path.string();
  config.replay_digest = digest(std::get<std::string>(content));
  std::string expected;
  if (!hypervisor.text("replay_digest", expected)) return;
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(expected.data(), expected.data() + expected.size(), value, 16);
  if (error != std::errc{} || end != expected.data() + expected.size()) {
    hypervisor.fail("replay_digest", "needs a hexadecimal number, is " + quote(expected));
  }
  if (value != config.replay_digest) {
    hypervisor.fail("replay_digest", quote(name) + " is another schedule than the one recorded");
  }
}

void read_partition(const Section& section, const Config& config, hv::PartitionConfig& partition) {
  section.name("name", partition.name);
  partition.vcpus = std::min(config.topology.total_threads(), lock::kMaxCpus);
  section.integer("vcpus", partition.vcpus, 1, lock::kMaxCpus);
  const std::uint32_t threads = config.topology.threads;
  if (config.hypervisor.granularity == hv::Granularity::core && partition.vcpus % threads != 0) {
    section.fail("vcpus", "must be a multiple of machine.threads (" + std::to_string(threads) +
                              ") with hypervisor.granularity = \"core\", is " +
                              std::to_string(partition.vcpus));
  }
  section.integer("weight", partition.weight, 0, 255);
  section.boolean("capped", partition.capped);
  section.cpus("pin", partition.pin, physical_cpus(config), "physical CPUs");
  double entitlement = 0;
  if (section.real("entitlement", entitlement)) {
    const std::uint32_t physical = physical_cpus(config);
    if (!(entitlement > 0 && entitlement <= physical)) {
      section.fail("entitlement", "must be above 0 and at most the " + std::to_string(physical) +
                                      " physical CPUs, is " +
                                      describe(*section.find("entitlement")));
    }
    partition.entitlement = entitlement;
  }
}

// Checks the sum, and shares what is left among the partitions that name no entitlement.
void share_entitlement(const std::vector<Section>& sections, Config& config) {
  const double physical = physical_cpus(config);
  double sum = 0;
  std::size_t unnamed = 0;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (!config.partitions[i].entitlement) {
      ++unnamed;
      continue;
    }
    sum += *config.partitions[i].entitlement;
    // A sum of decimal fractions may miss by a rounding.
    if (sum > physical * (1 + 1e-12)) {
      sections[i].fail("entitlement", "all partitions together must be entitled to at most the " +
                                          std::to_string(physical_cpus(config)) + " physical CPUs");
    }
  }
  if (unnamed == 0) return;
  const double share = (physical - sum) / static_cast<double>(unnamed);
  const std::uint32_t unit =
      config.hypervisor.granularity == hv::Granularity::core ? config.topology.threads : 1;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    hv::PartitionConfig& partition = config.partitions[i];
    if (partition.entitlement) continue;
    if (share <= 1e-9) {
      sections[i].fail("entitlement", "is missing, and the other partitions leave nothing of the " +
                                          std::to_string(physical_cpus(config)) + " physical CPUs");
    }
    // A virtual processor never gets more than one physical one.
    const std::uint32_t processors = partition.vcpus / unit;
    partition.entitlement = std::min(share, static_cast<double>(processors));
  }
}

}  // namespace

std::span<const CostKey> hypervisor_costs() {
  return kCosts;
}

std::uint32_t physical_cpus(const Config& config) {
  return config.hypervisor.granularity == hv::Granularity::core ? config.topology.total_cores()
                                                                : config.topology.total_threads();
}

void read_hypervisor(const Section& root, Config& config) {
  const toml::table* table = root.table("hypervisor");
  if (table == nullptr) return;
  const Section section(root.origin(), *table, "hypervisor", "[hypervisor]", kHypervisorKeys);
  hv::HypervisorConfig& hypervisor = config.hypervisor;
  section.choice("policy", hypervisor.policy, policies());
  section.choice("granularity", hypervisor.granularity, granularities());
  section.duration("timeslice", hypervisor.timeslice, kShortestSlice);
  section.choice("prod_memory", hypervisor.prod_memory, prod_memories());
  section.choice("preempted_rule", hypervisor.preempted_rule, preempted_rules());
  section.boolean("confer_all_waits_for_ceded", hypervisor.confer_all_waits_for_ceded);
  section.duration("wakeup_granularity", hypervisor.wakeup_granularity);
  read_costs(root, section, config.profile);
  read_background(section, hypervisor.background);
  if (hypervisor.background.share > 0 &&
      (hypervisor.policy == hv::PolicyKind::gang || hypervisor.policy == hv::PolicyKind::replay)) {
    section.fail("background",
                 "must have share 0 with policy \"" +
                     std::string(name_of(policies(), hypervisor.policy)) +
                     "\": it takes single physical CPUs away, which that policy cannot follow");
  }
  read_replay(section, hypervisor);
}

void read_partitions(const Section& root, Config& config) {
  const auto tables = root.tables("partition");
  if (tables.empty()) root.fail("partition", "needs at least one entry ([[partition]])");
  std::vector<Section> sections;
  std::map<std::string, std::size_t> seen;
  std::uint32_t total = 0;
  for (const toml::table* table : tables) {
    const std::size_t index = sections.size();
    const Section& section =
        sections.emplace_back(root.origin(), *table, "partition." + std::to_string(index),
                              "[[partition]]", kPartitionKeys);
    hv::PartitionConfig partition;
    partition.name = default_name("partition", index);
    read_partition(section, config, partition);
    const auto [first, fresh] = seen.emplace(partition.name, index);
    if (!fresh) {
      section.fail("name", quote(partition.name) + " is already the name of partition." +
                               std::to_string(first->second) + "; names must differ");
    }
    total += partition.vcpus;
    if (total > kMaxTotalVcpus) {
      section.fail("vcpus", "all partitions together must have at most " +
                                std::to_string(kMaxTotalVcpus) + " vCPUs");
    }
    config.partitions.push_back(std::move(partition));
  }
  share_entitlement(sections, config);
}

}  // namespace sim
