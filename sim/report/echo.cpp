#include <fmt/format.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "sim/config/duration.h"
#include "sim/config/error.h"
#include "sim/config/names.h"
#include "sim/report/format.h"
#include "sim/report/sections.h"

namespace sim {
namespace {

constexpr std::size_t kEntriesMax = 4;

// "500ns", "exponential(2us)", "uniform(1us,2us)", "pareto(2us,alpha=1.5)"
std::string describe(const Distribution& distribution) {
  using Kind = Distribution::Kind;
  std::string arguments = format_duration(distribution.mean);
  switch (distribution.kind) {
    case Kind::constant:
      return arguments;
    case Kind::exponential:
      break;
    case Kind::uniform:
      arguments = fmt::format("{},{}", format_duration(distribution.low),
                              format_duration(distribution.high));
      break;
    case Kind::lognormal:
      arguments += fmt::format(",sigma={}", distribution.shape);
      break;
    case Kind::pareto:
      arguments += fmt::format(",alpha={}", distribution.shape);
      break;
    case Kind::empirical:
      arguments = fmt::format("{} values", distribution.values.size());
      break;
  }
  return fmt::format("{}({})", name_of(distribution_kinds(), distribution.kind), arguments);
}

std::string describe(const KnobValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return fmt::format("{}", std::get<std::int64_t>(value));
}

// ` name=value`, or nothing for a duration of 0.
std::string unless_zero(std::string_view name, const Distribution& value) {
  const bool zero = value.kind == Distribution::Kind::constant && value.mean == Time{0};
  return zero ? std::string() : fmt::format(" {}={}", name, describe(value));
}

std::string echo(const hv::PartitionConfig& partition) {
  std::string line = fmt::format("partition={} vcpus={}", partition.name, partition.vcpus);
  if (partition.entitlement) line += fmt::format(" entitlement={}", *partition.entitlement);
  return line + fmt::format(" weight={} capped={}", partition.weight, partition.capped);
}

std::string echo(const LockConfig& lock) {
  std::string line = fmt::format("lock={} algorithm={}", lock.name, lock.algorithm);
  if (!lock.stage.empty()) line += " stage=" + lock.stage;
  for (const auto& [name, value] : lock.knobs) {
    line += fmt::format(" {}={}", name, describe(value));
  }
  return line;
}

std::string echo(const WorkloadConfig& workload) {
  std::string line = fmt::format("workload={}", name_of(workload_kinds(), workload.kind));
  if (!workload.partition.empty()) line += " partition=" + workload.partition;
  if (workload.kind == WorkloadKind::locktorture) {
    line += " critical_section=" + describe(workload.critical_section);
  }
  line += " think=" + describe(workload.think) + unless_zero("block", workload.block);
  if (workload.tasks != 0) line += fmt::format(" tasks={}", workload.tasks);
  return line;
}

std::string echo(const InterruptConfig& interrupt) {
  std::string line = fmt::format("interrupt={}", name_of(interrupt_levels(), interrupt.level));
  if (!interrupt.name.empty()) line += " name=" + interrupt.name;
  line += " interval=" + describe(interrupt.interval) + unless_zero("duration", interrupt.duration);
  if (!interrupt.lock.empty()) line += " lock=" + interrupt.lock;
  return line;
}

std::string echo(const hv::HypervisorConfig& hypervisor) {
  std::string line = fmt::format(
      "policy={} granularity={} timeslice={}", name_of(policies(), hypervisor.policy),
      name_of(granularities(), hypervisor.granularity), format_duration(hypervisor.timeslice));
  if (hypervisor.background.share > 0) {
    line += fmt::format(" background.share={} background.mean={}", hypervisor.background.share,
                        format_duration(hypervisor.background.mean));
  }
  return line;
}

std::string echo_run(const Config& config, const Result& result) {
  std::string line = fmt::format("duration={} warmup={} seed={}", format_duration(config.duration),
                                 format_duration(config.run.warmup), result.seed);
  // An interrupted run is shorter than it was meant to be.
  if (result.virtual_time != config.duration) {
    line += fmt::format(" simulated={}", format_duration(result.virtual_time));
  }
  return line;
}

std::string echo_machine(const Profile& profile, const Topology& topology) {
  return fmt::format("profile={} sockets={} chips={} cores={} threads={}", profile.name,
                     topology.sockets, topology.chips, topology.cores, topology.threads);
}

void put_echo(std::ostream& out, const std::string& settings) {
  put_line(out, fmt::format("# {}", one_line(settings)));
}

template <class T>
void put_entries(std::ostream& out, std::string_view what, const std::vector<T>& entries) {
  const std::size_t shown = std::min(entries.size(), kEntriesMax);
  for (std::size_t i = 0; i < shown; ++i) put_echo(out, echo(entries[i]));
  if (shown < entries.size()) {
    put_echo(out, fmt::format("more_{}={}", what, entries.size() - shown));
  }
}

}  // namespace

void write_echo(std::ostream& out, const Config& config, const Result& result) {
  put_echo(out, echo_run(config, result));
  put_echo(out, echo_machine(config.profile, config.topology));
  put_echo(out, echo(config.hypervisor));
  put_entries(out, "partitions", config.partitions);
  put_entries(out, "locks", config.locks);
  put_entries(out, "workloads", config.workloads);
  put_entries(out, "interrupts", config.interrupts);
}

}  // namespace sim
