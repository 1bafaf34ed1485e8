#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/config/effective.h"
#include "sim/report/format.h"
#include "sim/report/report.h"

namespace sim {
namespace {

using Json = nlohmann::ordered_json;

// JSON has neither infinities nor NaN.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json histogram_json(const Histogram& histogram) {
  Json json;
  json["count"] = histogram.count();
  json["mean"] = histogram.mean_ns();
  for (const Quantile& quantile : kQuantiles) {
    json[std::string(quantile.key)] = histogram.percentile_ns(quantile.percentile);
  }
  json["max"] = histogram.max_ns();
  return json;
}

Json wreck_json(const Wreck& wreck) {
  Json chain = Json::array();
  for (const WreckLink& link : wreck.chain) {
    chain.push_back({{"cause", kCauseNames[static_cast<std::size_t>(link.cause)]},
                     {"vcpu", link.vcpu},
                     {"start_ns", to_ns(link.start)},
                     {"length_ns", to_ns(link.length)},
                     {"depth", link.depth},
                     {"cost_ns", to_ns(link.cost)},
                     {"waiters", link.waiters}});
  }
  return {{"start_ns", to_ns(wreck.start)}, {"length_ns", to_ns(wreck.length)},
          {"depth", wreck.depth},           {"stalls", wreck.stalls},
          {"cost_ns", to_ns(wreck.cost)},   {"chain", std::move(chain)}};
}

Json wrecks_json(const LockResult& lock) {
  Json worst = Json::array();
  for (const Wreck& wreck : lock.worst) worst.push_back(wreck_json(wreck));
  return {{"count", lock.wrecks},
          {"longest_ns", to_ns(lock.wreck_longest)},
          {"deepest", lock.wreck_deepest},
          {"longest_chain", lock.wreck_longest_chain},
          {"cost_ns", to_ns(lock.wreck_cost)},
          {"worst", std::move(worst)}};
}

Json lock_json(const LockResult& lock) {
  Json json;
  json["name"] = lock.name;
  json["algorithm"] = lock.algorithm;
  json["acquisitions"] = lock.acquisitions;
  Json& paths = json["paths"];
  for (std::size_t i = 0; i < kPathNames.size(); ++i) {
    paths[std::string(kPathNames[i])] = lock.paths[i];
  }
  for (const Measure& measure : kMeasures) {
    json[std::string(measure.name) + "_ns"] = histogram_json(lock.*measure.histogram);
  }
  json["fairness"] = {{"max_min_ratio", number(lock.max_min_ratio)},
                      {"jain", number(lock.jain)},
                      {"longest_bypass", lock.longest_bypass}};
  json["preemptions"] = {{"holder", lock.holder_preemptions}, {"waiter", lock.waiter_preemptions}};
  json["stalls"] = {{"count", lock.stalls},
                    {"total_ns", to_ns(lock.stall_total)},
                    {"cost_ns", to_ns(lock.stall_cost)}};
  Json& causes = json["stalls"]["by_cause"];
  for (std::size_t i = 0; i < kCauseNames.size(); ++i) {
    causes[std::string(kCauseNames[i])] = lock.stalls_by_cause[i];
  }
  json["wrecks"] = wrecks_json(lock);
  json["partition"] = lock.partition;
  json["reservations_lost"] = lock.reservations_lost;
  json["acquisitions_by_vcpu"] = lock.acquisitions_by_vcpu;
  return json;
}

Json hypervisor_json(const HypervisorResult& hypervisor) {
  return {{"dispatches", hypervisor.dispatches},
          {"preemptions", hypervisor.preemptions},
          {"confer",
           {{"directed", hypervisor.confer_directed},
            {"undirected", hypervisor.confer_undirected},
            {"stale", hypervisor.confer_stale}}},
          {"prod", hypervisor.prod},
          {"cede", hypervisor.cede},
          {"steal_ns", to_ns(hypervisor.steal)},
          {"background_ns", to_ns(hypervisor.background)}};
}

}  // namespace

void write_json(std::ostream& out, const Config& config, const Result& result) {
  std::uint64_t acquisitions = 0;
  Json locks = Json::array();
  for (const LockResult& lock : result.locks) {
    acquisitions += lock.acquisitions;
    locks.push_back(lock_json(lock));
  }
  Json json;
  json["schema"] = "trainwreck.result/1";
  json["config"] = effective_json(config);
  json["seed"] = result.seed;
  json["virtual_ns"] = to_ns(result.virtual_time);
  json["totals"] = {{"acquisitions", acquisitions},
                    {"throughput_per_s", per_second(acquisitions, result.virtual_time)}};
  json["locks"] = std::move(locks);
  const auto fractions = budget_fractions(result.cpu);
  for (std::size_t i = 0; i < kBudget.size(); ++i) {
    json["cpu"][std::string(kBudget[i].name)] = fractions[i];
  }
  json["hypervisor"] = hypervisor_json(result.hypervisor);
  json["engine"] = {{"events", result.engine.events},
                    {"switches", result.engine.switches},
                    {"iterations", result.engine.iterations},
                    {"fast_forwarded", result.engine.fast_forwarded}};
  // Names come from files: bytes that are not UTF-8 become U+FFFD instead of an exception.
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace sim
