// Every shipped config, shortened: it reads, runs, adds up, and gives the same bytes every time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "sim/config/reader.h"
#include "sim/guest/simulation.h"
#include "sim/report/report.h"

namespace sim {
namespace {

std::vector<std::string> shipped() {
  std::vector<std::string> paths;
  const char* folder = std::getenv("CONFIGS");
  if (folder == nullptr) return paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".toml") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

Config shortened(const std::string& path) {
  const std::vector<Override> overrides{{.text = "duration=40ms"}, {.text = "run.warmup=10ms"}};
  return read_config(path, overrides);
}

std::string json_of(const Config& config) {
  std::ostringstream text;
  write_json(text, config, simulate(config));
  return text.str();
}

class ShippedConfig : public testing::TestWithParam<std::string> {};

TEST_P(ShippedConfig, OpensWithACommentOnWhatItShowsAndWhatToLookFor) {
  std::ifstream file(GetParam());
  std::string first, line, comment;
  std::getline(file, first);
  EXPECT_TRUE(first.starts_with("# ")) << first;
  while (std::getline(file, line) && line.starts_with('#')) comment += line;
  EXPECT_NE(comment.find("ook for"), std::string::npos);
}

TEST_P(ShippedConfig, AccountsForEveryPicosecondOfEveryThread) {
  const Config config = shortened(GetParam());
  const Result result = simulate(config);
  const Time all = result.virtual_time * static_cast<std::int64_t>(config.topology.total_threads());
  EXPECT_EQ(result.virtual_time, milliseconds(40));
  EXPECT_EQ(result.cpu.useful + result.cpu.spin + result.cpu.hypervisor + result.cpu.idle, all);
  EXPECT_LE(result.hypervisor.background, result.cpu.hypervisor);

  std::ostringstream text;
  write_json(text, config, result);
  const auto budget = nlohmann::json::parse(text.str()).at("cpu");
  double sum = 0;
  for (const char* use : {"useful", "spin", "hypervisor", "idle"})
    sum += budget.at(use).get<double>();
  EXPECT_NEAR(sum, 1.0, 1e-9);
}

TEST_P(ShippedConfig, CountsEveryAcquisitionOnceInEveryMeasure) {
  const Result result = simulate(shortened(GetParam()));
  ASSERT_FALSE(result.locks.empty());
  for (const LockResult& lock : result.locks) {
    EXPECT_GT(lock.acquisitions, 0u);
    EXPECT_EQ(std::accumulate(lock.paths.begin(), lock.paths.end(), std::uint64_t{0}),
              lock.acquisitions);
    EXPECT_EQ(lock.wait.count(), lock.acquisitions);
    EXPECT_EQ(lock.hold.count(), lock.acquisitions);
    EXPECT_LE(lock.handover.count(), lock.acquisitions + 1);
    EXPECT_EQ(std::accumulate(lock.acquisitions_by_vcpu.begin(), lock.acquisitions_by_vcpu.end(),
                              std::uint64_t{0}),
              lock.acquisitions);
    EXPECT_EQ(
        std::accumulate(lock.stalls_by_cause.begin(), lock.stalls_by_cause.end(), std::uint64_t{0}),
        lock.stalls);
    for (const Histogram* histogram : {&lock.wait, &lock.hold, &lock.handover}) {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < histogram->buckets(); ++i) sum += histogram->count_at(i);
      EXPECT_EQ(sum, histogram->count());
    }
  }
}

TEST_P(ShippedConfig, GivesTheSameBytesAlone_AgainAndBesideAnother) {
  const Config config = shortened(GetParam());
  const std::string alone = json_of(config);
  EXPECT_EQ(json_of(config), alone);
  std::string one, two;
  std::thread first([&] { one = json_of(config); });
  std::thread second([&] { two = json_of(config); });
  first.join();
  second.join();
  EXPECT_EQ(one, alone);
  EXPECT_EQ(two, alone);
  Config other = config;
  ++other.seed;
  EXPECT_NE(json_of(other), alone);
}

INSTANTIATE_TEST_SUITE_P(All, ShippedConfig, testing::ValuesIn(shipped()), [](const auto& config) {
  std::string name = std::filesystem::path(config.param).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST(ShippedConfigs, AreThere) {
  EXPECT_GE(shipped().size(), 9u);
}

}  // namespace
}  // namespace sim
