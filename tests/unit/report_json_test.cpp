// The JSON result: every key in its place, and the figures behind them.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report_fixture.h"
#include "sim/config/effective.h"

namespace sim {
namespace {

using Json = nlohmann::ordered_json;
using Keys = std::vector<std::string>;

Json parsed(const Config& config, const Result& result) {
  return Json::parse(written(write_json, config, result));
}

Keys keys(const Json& object) {
  Keys names;
  for (const auto& item : object.items()) names.push_back(item.key());
  return names;
}

TEST(JsonResult, HasTheSchemasKeysInOrder) {
  const Json json = parsed(small_config(), small_result());
  EXPECT_EQ(keys(json), (Keys{"schema", "config", "seed", "virtual_ns", "totals", "locks", "cpu",
                              "hypervisor", "engine"}));
  EXPECT_EQ(keys(json["totals"]), (Keys{"acquisitions", "throughput_per_s"}));
  const Json& lock = json["locks"][0];
  EXPECT_EQ(keys(lock), (Keys{"name", "algorithm", "acquisitions", "paths", "wait_ns", "hold_ns",
                              "handover_ns", "fairness", "preemptions", "stalls", "wrecks",
                              "partition", "reservations_lost", "acquisitions_by_vcpu"}));
  EXPECT_EQ(keys(lock["paths"]), (Keys{"fast", "steal", "head", "queued"}));
  for (const char* measure : {"wait_ns", "hold_ns", "handover_ns"}) {
    EXPECT_EQ(keys(lock[measure]),
              (Keys{"count", "mean", "p50", "p90", "p99", "p999", "p9999", "max"}));
  }
  EXPECT_EQ(keys(lock["fairness"]), (Keys{"max_min_ratio", "jain", "longest_bypass"}));
  EXPECT_EQ(keys(lock["preemptions"]), (Keys{"holder", "waiter"}));
  EXPECT_EQ(keys(lock["stalls"]), (Keys{"count", "total_ns", "cost_ns", "by_cause"}));
  EXPECT_EQ(keys(lock["stalls"]["by_cause"]), (Keys{"holder", "head", "waiter"}));
  EXPECT_EQ(keys(lock["wrecks"]),
            (Keys{"count", "longest_ns", "deepest", "longest_chain", "cost_ns", "worst"}));
  EXPECT_EQ(keys(json["cpu"]), (Keys{"useful", "spin", "hypervisor", "idle"}));
  EXPECT_EQ(keys(json["hypervisor"]), (Keys{"dispatches", "preemptions", "confer", "prod", "cede",
                                            "steal_ns", "background_ns"}));
  EXPECT_EQ(keys(json["hypervisor"]["confer"]), (Keys{"directed", "undirected", "stale"}));
  EXPECT_EQ(keys(json["engine"]), (Keys{"events", "switches", "iterations", "fast_forwarded"}));
}

TEST(JsonResult, HasTheRunsFigures) {
  const Json json = parsed(small_config(), small_result());
  EXPECT_EQ(json["schema"], "trainwreck.result/1");
  EXPECT_EQ(json["config"], effective_json(small_config()));
  EXPECT_EQ(json["seed"], 42);
  EXPECT_EQ(json["virtual_ns"], 1'000'000'000);
  EXPECT_EQ(json["totals"], Json::parse(R"({"acquisitions": 10, "throughput_per_s": 10.0})"));
  EXPECT_EQ(json["cpu"]["useful"], 666'666'666'667 / 2e12);
  EXPECT_EQ(json["cpu"]["hypervisor"], 0.0);
  EXPECT_EQ(json["hypervisor"], Json::parse(R"({"dispatches": 100, "preemptions": 40,
      "confer": {"directed": 9, "undirected": 8, "stale": 7}, "prod": 6, "cede": 5,
      "steal_ns": 2000000000, "background_ns": 1000})"));
  EXPECT_EQ(json["engine"], Json::parse(R"({"events": 1000, "switches": 200, "iterations": 800,
      "fast_forwarded": 700})"));
}

TEST(JsonResult, HasTheLocksFigures) {
  const Json json = parsed(small_config(), small_result());
  ASSERT_EQ(json["locks"].size(), 1u);
  EXPECT_EQ(json["locks"][0], Json::parse(R"({
      "name": "hot", "algorithm": "qspinlock", "acquisitions": 10,
      "paths": {"fast": 6, "steal": 0, "head": 1, "queued": 3},
      "wait_ns": {"count": 10, "mean": 300180.0, "p50": 100, "p90": 1000, "p99": 3000000,
        "p999": 3000000, "p9999": 3000000, "max": 3000000},
      "hold_ns": {"count": 10, "mean": 500.0, "p50": 500, "p90": 500, "p99": 500, "p999": 500,
        "p9999": 500, "max": 500},
      "handover_ns": {"count": 2, "mean": 40.5, "p50": 40, "p90": 41, "p99": 41, "p999": 41,
        "p9999": 41, "max": 41},
      "fairness": {"max_min_ratio": 4.0, "jain": 0.8333, "longest_bypass": 2},
      "preemptions": {"holder": 1, "waiter": 5},
      "stalls": {"count": 3, "total_ns": 60000000, "cost_ns": 80500000,
        "by_cause": {"holder": 1, "head": 0, "waiter": 2}},
      "wrecks": {"count": 1, "longest_ns": 45000000, "deepest": 3, "longest_chain": 3,
        "cost_ns": 70000000, "worst": [
          {"start_ns": 250004000, "length_ns": 45000000, "depth": 3, "stalls": 3,
           "cost_ns": 70000000, "chain": [
             {"cause": "holder", "vcpu": 2, "start_ns": 250004000, "length_ns": 20000000,
              "depth": 3, "cost_ns": 40000000, "waiters": [3, 0]},
             {"cause": "waiter", "vcpu": 3, "start_ns": 270005000, "length_ns": 10000000,
              "depth": 2, "cost_ns": 30000000, "waiters": [0, 1]}]}]},
      "partition": "guest", "reservations_lost": 7, "acquisitions_by_vcpu": [4, 3, 2, 1]})"));
}

TEST(JsonResult, HasWholeNanosecondsExceptMeans) {
  const Json flat = parsed(small_config(), small_result()).flatten();
  for (const auto& [path, value] : flat.items()) {
    if (!value.is_number()) continue;
    const bool mean = path.ends_with("/mean");
    const bool fraction = path.starts_with("/cpu/") || path.ends_with("/throughput_per_s") ||
                          path.ends_with("/max_min_ratio") || path.ends_with("/jain") ||
                          path.ends_with("/background/share");
    if (path.find("_ns") != std::string::npos && !mean) {
      EXPECT_TRUE(value.is_number_integer()) << path;
    }
    EXPECT_EQ(value.is_number_float(), mean || fraction) << path;
  }
}

TEST(JsonResult, PrintsDoublesShortestAndExact) {
  Result result = small_result();
  result.locks[0].jain = 0.1;
  result.locks[0].max_min_ratio = 1.0 / 3;
  const std::string text = written(write_json, small_config(), result);
  EXPECT_NE(text.find("\"jain\": 0.1,"), std::string::npos);
  EXPECT_NE(text.find("\"max_min_ratio\": 0.3333333333333333,"), std::string::npos);
  EXPECT_EQ(Json::parse(text)["locks"][0]["fairness"]["max_min_ratio"], 1.0 / 3);
}

TEST(JsonResult, HasNullWhereThereIsNoNumber) {
  Result result = small_result();
  result.locks[0].max_min_ratio = std::numeric_limits<double>::infinity();
  result.locks[0].jain = std::numeric_limits<double>::quiet_NaN();
  const Json fairness = parsed(small_config(), result)["locks"][0]["fairness"];
  EXPECT_TRUE(fairness["max_min_ratio"].is_null());
  EXPECT_TRUE(fairness["jain"].is_null());
}

TEST(JsonResult, OfNothingKeepsItsShape) {
  const Json json = parsed(Config{}, Result{});
  EXPECT_EQ(json["locks"], Json::array());
  EXPECT_EQ(json["totals"]["throughput_per_s"], 0.0);
  EXPECT_EQ(json["cpu"]["idle"], 0.0);
  Result unused;
  unused.locks.resize(1);
  const Json lock = parsed(Config{}, unused)["locks"][0];
  EXPECT_EQ(lock["wait_ns"]["count"], 0);
  EXPECT_EQ(lock["wait_ns"]["mean"], 0.0);
  EXPECT_EQ(lock["wrecks"]["worst"], Json::array());
  EXPECT_EQ(lock["acquisitions_by_vcpu"], Json::array());
}

TEST(JsonResult, TakesAnyBytesAsName) {
  Result result = small_result();
  result.locks[0].name = "quote\" newline\n \xff";
  EXPECT_EQ(parsed(small_config(), result)["locks"][0]["name"], "quote\" newline\n \xEF\xBF\xBD");
}

TEST(JsonResult, IsTheSameBytesEveryTime) {
  EXPECT_EQ(written(write_json, small_config(), small_result()),
            written(write_json, small_config(), small_result()));
}

}  // namespace
}  // namespace sim
