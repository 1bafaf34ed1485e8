#include "tests/unit/config_test_support.h"

namespace sim {
namespace {

using Kind = Distribution::Kind;

Distribution think(const std::string& value) {
  return parse("[[workload]]\nthink = " + value).workloads[0].think;
}

TEST(ConfigDistribution, EveryKindIsRead) {
  EXPECT_EQ(think("\"1.5us\"").kind, Kind::constant);
  EXPECT_EQ(think("\"1.5us\"").mean, nanoseconds(1500));
  EXPECT_EQ(think("{ dist = \"constant\", mean = \"0s\" }").mean, Time{0});
  EXPECT_EQ(think("{ dist = \"exponential\", mean = \"2us\" }").kind, Kind::exponential);
  const Distribution uniform = think("{ dist = \"uniform\", low = \"1us\", high = \"2us\" }");
  EXPECT_EQ(uniform.low, microseconds(1));
  EXPECT_EQ(uniform.high, microseconds(2));
  const Distribution lognormal = think("{ dist = \"lognormal\", mean = \"2us\", sigma = 1 }");
  EXPECT_EQ(lognormal.kind, Kind::lognormal);
  EXPECT_EQ(lognormal.shape, 1.0);
  const Distribution pareto = think("{ dist = \"pareto\", mean = \"2us\", alpha = 1.5 }");
  EXPECT_EQ(pareto.kind, Kind::pareto);
  EXPECT_EQ(pareto.shape, 1.5);
  const Distribution empirical =
      think("{ dist = \"empirical\", values = [\"1us\", \"3us\", \"0s\"] }");
  EXPECT_EQ(empirical.values, (std::vector<Time>{microseconds(1), microseconds(3), Time{0}}));
}

TEST(ConfigDistribution, EmpiricalValuesComeFromAFileBesideTheConfig) {
  const TemporaryDirectory directory;
  directory.write("holds.txt", "# measured\n1us\r\n\n2.5us  \n30ns");
  const auto path = directory.write(
      "c.toml", "[[workload]]\nhold = { dist = \"empirical\", file = \"holds.txt\" }");
  const Config config = read_config(path);
  EXPECT_EQ(config.workloads[0].critical_section.values,
            (std::vector<Time>{microseconds(1), nanoseconds(2500), nanoseconds(30)}));
}

TEST(ConfigDistribution, FaultsInTheFileNameItsLine) {
  const TemporaryDirectory directory;
  directory.write("bad.txt", "1us\nfive\n");
  directory.write("none.txt", "# nothing\n\n");
  const auto refused = [&](const std::string& file) {
    const auto path = directory.write(
        "c.toml",
        "seed = 1\n[[workload]]\nhold = { dist = \"empirical\", file = \"" + file + "\" }");
    try {
      read_config(path);
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.line(), 3u);
      EXPECT_EQ(error.key(), "workload.0.hold.file");
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  expect_words(refused("bad.txt"), {"bad.txt", "line 2", "needs a duration", "five"});
  expect_words(refused("none.txt"), {"at least one duration"});
  expect_words(refused("absent.txt"), {"absent.txt", "No such file"});
  expect_words(refused("."), {"directory"});
  expect_words(refused("/dev/zero"), {"not a regular file"});
  expect_words(refused("a\\u0000b"), {"path of a file"});
  expect_words(refused(""), {"path of a file"});
}

TEST(ConfigDistribution, WhatDoesNotFitTheKindIsRefused) {
  struct Case {
    std::string value;
    std::string key;
    std::vector<std::string> words;
  };
  const std::vector<Case> cases{
      {"5", "", {"unit", "ns", "exponential"}},
      {"true", "", {"duration", "is true"}},
      {"[\"1us\"]", "", {"duration", "is a list"}},
      {"{}", ".dist", {"constant, exponential, uniform, lognormal, pareto, empirical"}},
      {"{ mean = \"1us\" }", ".dist", {"is missing"}},
      {"{ dist = \"exponetial\", mean = \"1us\" }", ".dist", {"did you mean \"exponential\""}},
      {"{ dist = 5 }", ".dist", {"one of the strings"}},
      {"{ dist = \"exponential\" }", ".mean", {"is missing"}},
      {"{ dist = \"exponential\", mean = \"0s\" }", ".mean", {"from 1ps"}},
      {"{ dist = \"exponential\", mean = 2 }", ".mean", {"unit"}},
      {"{ dist = \"exponential\", mean = \"2us\", sigma = 1 }", ".sigma", {"takes mean"}},
      {"{ dist = \"exponential\", maen = \"2us\" }", ".maen", {"did you mean \"mean\""}},
      {"{ dist = \"uniform\", low = \"1us\" }", ".high", {"is missing"}},
      {"{ dist = \"uniform\", high = \"1us\" }", ".low", {"is missing"}},
      {"{ dist = \"uniform\", low = \"2us\", high = \"1us\" }", ".high", {"at least low (2us)"}},
      {"{ dist = \"uniform\", mean = \"1us\" }", ".mean", {"takes low, high"}},
      {"{ dist = \"lognormal\", mean = \"1us\" }", ".sigma", {"is missing"}},
      {"{ dist = \"lognormal\", mean = \"1us\", sigma = 0 }", ".sigma", {"above 0"}},
      {"{ dist = \"lognormal\", mean = \"1us\", sigma = nan }", ".sigma", {"finite"}},
      {"{ dist = \"lognormal\", mean = \"1us\", sigma = inf }", ".sigma", {"finite"}},
      {"{ dist = \"lognormal\", mean = \"1us\", sigma = \"1\" }", ".sigma", {"needs a number"}},
      {"{ dist = \"pareto\", mean = \"1us\", alpha = 1 }", ".alpha", {"above 1"}},
      {"{ dist = \"pareto\", mean = \"1us\", alpha = -2.0 }", ".alpha", {"above 1"}},
      {"{ dist = \"pareto\", mean = \"1us\", alpha = 1e9 }", ".alpha", {"at most 1000"}},
      {"{ dist = \"empirical\" }", ".values", {"values or file"}},
      {"{ dist = \"empirical\", values = [\"1us\"], file = \"x\" }", ".values", {"one of them"}},
      {"{ dist = \"empirical\", values = [] }", ".values", {"1 to 100000"}},
      {"{ dist = \"empirical\", values = \"1us\" }", ".values", {"list of durations"}},
      {"{ dist = \"empirical\", values = [\"1us\", 5] }", ".values.1", {"unit"}},
      {"{ dist = \"empirical\", values = [[\"1us\"]] }", ".values.0", {"is a list"}},
      {"{ dist = \"empirical\", file = 5 }", ".file", {"needs a string"}},
  };
  for (const Case& c : cases) {
    expect_refused("[[workload]]\nthink = " + c.value, 2, "workload.0.think" + c.key, c.words);
  }
}

}  // namespace
}  // namespace sim
