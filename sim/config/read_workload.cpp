// [[workload]] and [[interrupt]]: who does what, with which locks.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <vector>

#include "sim/config/sections.h"
#include "sim/config/suggest.h"

namespace sim {
namespace {

constexpr std::uint32_t kMostTasks = 1'000'000;
constexpr Time kShortestInterval = nanoseconds(10);

constexpr std::array<std::string_view, 11> kWorkloadKeys{
    "partition",   "kind",  "lock",  "critical_section", "hold", "think", "block",
    "block_every", "tasks", "vcpus", "guest_slice"};

constexpr std::array<std::string_view, 9> kInterruptKeys{
    "name", "partition", "level", "period", "rate", "interval", "vcpus", "duration", "lock"};

Time average(const Distribution& distribution) {
  switch (distribution.kind) {
    case Distribution::Kind::uniform:
      return (distribution.low + distribution.high) / 2;
    case Distribution::Kind::empirical: {
      // Whole picoseconds, divided one by one: 100,000 of the longest would not fit in a sum.
      Time sum{};
      const auto count = std::ssize(distribution.values);
      for (const Time value : distribution.values) sum += value / count;
      return sum;
    }
    default:
      return distribution.mean;
  }
}

// Reads both kinds of section, and remembers which partition each lock serves.
class Reader {
 public:
  explicit Reader(Config& config) : config_(config) {
    for (const auto& partition : config.partitions) partitions_.push_back(partition.name);
    for (const auto& lock : config.locks) locks_.push_back(lock.name);
  }

  void workload(const Section& section);
  void interrupt(const Section& section);

 private:
  const hv::PartitionConfig& partition(const Section& section, std::string& out);
  void lock_names(const Section& section, std::vector<std::string>& out);
  std::string lock_name(const Section& section, const toml::node& node);
  void use(const Section& section, const std::string& lock, const std::string& partition);

  Config& config_;
  std::vector<std::string_view> partitions_;
  std::vector<std::string_view> locks_;
  std::map<std::string, std::pair<std::string, std::string>> users_;  // lock: partition, section
};

const hv::PartitionConfig& Reader::partition(const Section& section, std::string& out) {
  std::size_t index = section.choose("partition", partitions_);
  if (index == partitions_.size()) index = 0;
  out = partitions_[index];
  return config_.partitions[index];
}

std::string Reader::lock_name(const Section& section, const toml::node& node) {
  const std::string path = section.path_of("lock");
  const auto* name = node.as_string();
  if (name == nullptr) {
    fail(section.origin(), node.source(), path,
         "needs the name of a lock (" + join(locks_) + "), is " + describe(node));
  }
  if (std::ranges::find(locks_, std::string_view(**name)) == locks_.end()) {
    fail(section.origin(), node.source(), path, unknown_name("lock", **name, locks_));
  }
  return **name;
}

void Reader::lock_names(const Section& section, std::vector<std::string>& out) {
  const toml::node* node = section.find("lock");
  if (node == nullptr) {
    out = {config_.locks.front().name};
    return;
  }
  const auto* list = node->as_array();
  if (list == nullptr) {
    out = {lock_name(section, *node)};
    return;
  }
  for (const toml::node& entry : *list) {
    std::string name = lock_name(section, entry);
    if (std::ranges::find(out, name) != out.end()) {
      fail(section.origin(), entry.source(), section.path_of("lock"),
           "names " + quote(name) + " twice");
    }
    out.push_back(std::move(name));
  }
  if (out.empty()) section.fail("lock", "needs at least one of " + join(locks_));
}

void Reader::use(const Section& section, const std::string& lock, const std::string& partition) {
  const auto [user, fresh] = users_.emplace(lock, std::pair{partition, section.path_of("")});
  if (fresh || user->second.first == partition) return;
  std::string where = user->second.second;
  where.pop_back();  // the dot
  section.fail("lock", quote(lock) + " is used from partition " + quote(user->second.first) + " (" +
                           where + ") already; each guest has its own memory, so a lock must " +
                           "serve one partition only");
}

void Reader::workload(const Section& section) {
  WorkloadConfig workload;
  const hv::PartitionConfig& guest = partition(section, workload.partition);
  section.choice("kind", workload.kind, workload_kinds());
  const bool locks = workload.kind == WorkloadKind::locktorture;
  if (!locks) {
    for (const std::string_view key : {"lock", "critical_section", "hold"}) {
      if (section.find(key) != nullptr) {
        section.fail(key, "goes only with a workload that takes locks (kind = \"locktorture\")");
      }
    }
  } else {
    lock_names(section, workload.locks);
    for (const std::string& lock : workload.locks) use(section, lock, workload.partition);
  }
  const bool named = section.distribution("critical_section", workload.critical_section);
  if (section.distribution("hold", workload.critical_section) && named) {
    section.fail("hold", "is given twice: hold is another word for critical_section");
  }
  section.distribution("think", workload.think);
  // A task that neither thinks nor locks would stop virtual time.
  if (!locks && average(workload.think) < kShortestInterval) {
    section.fail("think", "must be at least " + format_duration(kShortestInterval) +
                              " on average with kind = \"compute\", which does nothing else");
  }
  section.distribution("block", workload.block);
  section.integer("block_every", workload.block_every, 1, 1'000'000'000);
  section.integer("tasks", workload.tasks, 0, kMostTasks);
  section.cpus("vcpus", workload.vcpus, guest.vcpus, "vCPUs");
  section.duration("guest_slice", workload.guest_slice, microseconds(1));
  config_.workloads.push_back(std::move(workload));
}

// "1000/s", or a number per second; the mean time between two.
Time read_rate(const Section& section) {
  const toml::node& node = *section.find("rate");
  const std::string allowed =
      "needs a rate such as \"1000/s\" or 1000 (a second), from 0.00001 to 100000000";
  double rate = 0;
  if (const auto* text = node.as_string()) {
    std::string_view number = **text;
    if (!number.ends_with("/s")) section.fail("rate", allowed + ", is " + quote(**text));
    number.remove_suffix(2);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), rate);
    if (error != std::errc{} || end != number.data() + number.size()) {
      section.fail("rate", allowed + ", is " + quote(**text));
    }
  } else if (node.is_number()) {
    rate = *node.value<double>();
  } else {
    section.fail("rate", allowed + ", is " + describe(node));
  }
  constexpr double kSecond = 1e12;
  if (!(rate >= kSecond / static_cast<double>(kLongestDuration.count()) &&
        rate <= kSecond / static_cast<double>(kShortestInterval.count()))) {
    section.fail("rate", allowed + ", is " + describe(node));
  }
  return picoseconds(std::llround(kSecond / rate));
}

// One of three ways to say when.
void read_interval(const Section& section, Distribution& interval) {
  constexpr std::array<std::string_view, 3> kWays{"period", "rate", "interval"};
  const auto given = std::ranges::count_if(
      kWays, [&](std::string_view key) { return section.find(key) != nullptr; });
  if (given != 1) {
    section.fail("period",
                 std::string(given == 0 ? "is missing" : "is not the only one given") +
                     ": needs one of period (a duration), rate (such as \"1000/s\") and " +
                     "interval (a distribution)");
  }
  section.duration("period", interval.mean, kShortestInterval);
  if (section.find("rate") != nullptr) {
    interval = {.kind = Distribution::Kind::exponential, .mean = read_rate(section)};
  }
  if (section.distribution("interval", interval) && average(interval) < kShortestInterval) {
    section.fail("interval",
                 "must be at least " + format_duration(kShortestInterval) + " on average");
  }
}

void Reader::interrupt(const Section& section) {
  InterruptConfig interrupt;
  section.name("name", interrupt.name);
  const hv::PartitionConfig& guest = partition(section, interrupt.partition);
  section.choice("level", interrupt.level, interrupt_levels());
  read_interval(section, interrupt.interval);
  section.cpus("vcpus", interrupt.vcpus, guest.vcpus, "vCPUs");
  section.distribution("duration", interrupt.duration);
  if (const toml::node* node = section.find("lock")) {
    interrupt.lock = lock_name(section, *node);
    use(section, interrupt.lock, interrupt.partition);
  }
  config_.interrupts.push_back(std::move(interrupt));
}

}  // namespace

void read_workloads(const Section& root, Config& config) {
  Reader reader(config);
  const auto workloads = root.tables("workload");
  if (workloads.empty()) root.fail("workload", "needs at least one entry ([[workload]])");
  std::size_t index = 0;
  for (const toml::table* table : workloads) {
    reader.workload(Section(root.origin(), *table, "workload." + std::to_string(index++),
                            "[[workload]]", kWorkloadKeys));
  }
  index = 0;
  std::map<std::string, std::size_t> seen;
  for (const toml::table* table : root.tables("interrupt")) {
    const Section section(root.origin(), *table, "interrupt." + std::to_string(index),
                          "[[interrupt]]", kInterruptKeys);
    reader.interrupt(section);
    const std::string& name = config.interrupts.back().name;
    const auto [first, fresh] = seen.emplace(name, index++);
    if (!fresh && !name.empty()) {
      section.fail("name", quote(name) + " is already the name of interrupt." +
                               std::to_string(first->second) + "; names must differ");
    }
  }
}

}  // namespace sim
