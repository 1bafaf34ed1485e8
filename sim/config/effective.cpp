#include "sim/config/effective.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "lock/algorithms.h"
#include "sim/config/duration.h"
#include "sim/config/names.h"
#include "sim/config/sections.h"

namespace sim {
namespace {

using Json = nlohmann::ordered_json;

Json distribution_json(const Distribution& distribution) {
  using Kind = Distribution::Kind;
  if (distribution.kind == Kind::constant) return format_duration(distribution.mean);
  Json json;
  json["dist"] = name_of(distribution_kinds(), distribution.kind);
  switch (distribution.kind) {
    case Kind::uniform:
      json["low"] = format_duration(distribution.low);
      json["high"] = format_duration(distribution.high);
      break;
    case Kind::empirical: {
      Json& values = json["values"] = Json::array();
      for (const Time value : distribution.values) values.push_back(format_duration(value));
      break;
    }
    default:
      json["mean"] = format_duration(distribution.mean);
  }
  if (distribution.kind == Kind::lognormal) json["sigma"] = distribution.shape;
  if (distribution.kind == Kind::pareto) json["alpha"] = distribution.shape;
  return json;
}

Json figure_json(const Profile& profile, const Figure& figure) {
  const std::int64_t value = figure_value(profile, figure);
  if (std::holds_alternative<Time Profile::*>(figure.member)) {
    return format_duration(picoseconds(value));
  }
  return value;
}

Json machine_json(const Config& config) {
  Json json;
  json["profile"] = config.profile.name;
  json["sockets"] = config.topology.sockets;
  json["chips"] = config.topology.chips;
  json["cores"] = config.topology.cores;
  json["threads"] = config.topology.threads;
  const auto costs = hypervisor_costs();
  for (const Figure& figure : figures()) {
    if (std::ranges::find(costs, figure.key, &CostKey::figure) != costs.end()) continue;
    json[std::string(figure.key)] = figure_json(config.profile, figure);
  }
  return json;
}

Json hypervisor_json(const Config& config) {
  const hv::HypervisorConfig& hypervisor = config.hypervisor;
  Json json;
  json["policy"] = name_of(policies(), hypervisor.policy);
  json["granularity"] = name_of(granularities(), hypervisor.granularity);
  json["timeslice"] = format_duration(hypervisor.timeslice);
  for (const CostKey& cost : hypervisor_costs()) {
    json[std::string(cost.key)] = figure_json(config.profile, *find_figure(cost.figure));
  }
  json["background"] = Json{{"share", hypervisor.background.share},
                            {"mean", format_duration(hypervisor.background.mean)}};
  json["prod_memory"] = name_of(prod_memories(), hypervisor.prod_memory);
  json["preempted_rule"] = name_of(preempted_rules(), hypervisor.preempted_rule);
  json["confer_all_waits_for_ceded"] = hypervisor.confer_all_waits_for_ceded;
  json["wakeup_granularity"] = format_duration(hypervisor.wakeup_granularity);
  if (hypervisor.policy == hv::PolicyKind::replay) {
    std::array<char, 16> digits;
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), hypervisor.replay_digest, 16);
    json["replay"] = std::filesystem::path(hypervisor.replay).filename().string();
    json["replay_digest"] = std::string(digits.data(), end.ptr);
  }
  return json;
}

Json partition_json(const hv::PartitionConfig& partition) {
  Json json;
  json["name"] = partition.name;
  json["vcpus"] = partition.vcpus;
  if (partition.entitlement) json["entitlement"] = *partition.entitlement;
  json["weight"] = partition.weight;
  json["capped"] = partition.capped;
  if (!partition.pin.empty()) json["pin"] = partition.pin;
  return json;
}

Json lock_json(const LockConfig& config) {
  Json json;
  json["name"] = config.name;
  json["algorithm"] = config.algorithm;
  const lock::Algorithm* algorithm = lock::find_algorithm(config.algorithm);
  if (!config.stage.empty()) {
    json["stage"] = config.stage;
  } else if (algorithm != nullptr && !algorithm->stages.empty()) {
    json["stage"] = algorithm->stages.back();
  }
  json["node"] = config.node;
  if (algorithm == nullptr || algorithm->knobs.empty()) return json;
  Json& knobs = json["knobs"];
  for (const lock::Knob& knob : algorithm->knobs) {
    const std::string name(knob.name);
    const auto set = config.knobs.find(name);
    if (set != config.knobs.end()) {
      std::visit([&](const auto& value) { knobs[name] = value; }, set->second);
    } else if (knob.type == lock::Knob::Type::boolean) {
      knobs[name] = knob.initial != 0;
    } else {
      knobs[name] = knob.initial;
    }
  }
  return json;
}

Json workload_json(const WorkloadConfig& workload) {
  Json json;
  json["partition"] = workload.partition;
  json["kind"] = name_of(workload_kinds(), workload.kind);
  if (workload.kind == WorkloadKind::locktorture) {
    json["lock"] = workload.locks;
    json["critical_section"] = distribution_json(workload.critical_section);
  }
  json["think"] = distribution_json(workload.think);
  json["block"] = distribution_json(workload.block);
  json["block_every"] = workload.block_every;
  json["tasks"] = workload.tasks;
  if (!workload.vcpus.empty()) json["vcpus"] = workload.vcpus;
  json["guest_slice"] = format_duration(workload.guest_slice);
  return json;
}

Json interrupt_json(const InterruptConfig& interrupt) {
  Json json;
  if (!interrupt.name.empty()) json["name"] = interrupt.name;
  json["partition"] = interrupt.partition;
  json["level"] = name_of(interrupt_levels(), interrupt.level);
  const bool periodic = interrupt.interval.kind == Distribution::Kind::constant;
  json[periodic ? "period" : "interval"] = distribution_json(interrupt.interval);
  if (!interrupt.vcpus.empty()) json["vcpus"] = interrupt.vcpus;
  json["duration"] = distribution_json(interrupt.duration);
  if (!interrupt.lock.empty()) json["lock"] = interrupt.lock;
  return json;
}

// JSON and TOML write strings, booleans, integers and finite numbers alike.
std::string inline_toml(const Json& value) {
  std::string text;
  if (value.is_array()) {
    for (const Json& entry : value) text += (text.empty() ? "" : ", ") + inline_toml(entry);
    return "[" + text + "]";
  }
  if (value.is_object()) {
    for (const auto& [key, entry] : value.items()) {
      text += (text.empty() ? "" : ", ") + key + " = " + inline_toml(entry);
    }
    return "{ " + text + " }";
  }
  return value.dump();
}

std::string table_toml(const Json& table) {
  std::string text;
  for (const auto& [key, value] : table.items()) text += key + " = " + inline_toml(value) + "\n";
  return text;
}

}  // namespace

nlohmann::ordered_json effective_json(const Config& config) {
  Json json;
  json["duration"] = format_duration(config.duration);
  json["seed"] = config.seed;
  json["run"] = Json{{"warmup", format_duration(config.run.warmup)},
                     {"livelock_limit", format_duration(config.run.livelock_limit)}};
  json["machine"] = machine_json(config);
  json["hypervisor"] = hypervisor_json(config);
  const auto list = [&json](const char* key, const auto& entries, const auto& entry_json) {
    if (entries.empty()) return;
    Json& array = json[key] = Json::array();
    for (const auto& entry : entries) array.push_back(entry_json(entry));
  };
  list("partition", config.partitions, partition_json);
  list("lock", config.locks, lock_json);
  list("workload", config.workloads, workload_json);
  list("interrupt", config.interrupts, interrupt_json);
  return json;
}

std::string effective_toml(const Config& config) {
  const Json json = effective_json(config);
  std::string plain;
  std::string sections;
  for (const auto& [key, value] : json.items()) {
    if (value.is_object()) {
      sections += "\n[" + key + "]\n" + table_toml(value);
    } else if (value.is_array()) {
      for (const Json& entry : value) sections += "\n[[" + key + "]]\n" + table_toml(entry);
    } else {
      plain += key + " = " + inline_toml(value) + "\n";
    }
  }
  return plain + sections;
}

}  // namespace sim
