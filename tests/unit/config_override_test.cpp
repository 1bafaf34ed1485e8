#include "tests/unit/config_test_support.h"

namespace sim {
namespace {

constexpr std::string_view kTwoLocks = R"(
duration = "1s"
[[lock]]
name = "hot"
[lock.knobs]
steal_spins = 5
[[lock]]
name = "cold"
algorithm = "ticket"
)";

TEST(Override, EntriesAreFoundByIndexAndByName) {
  const Config config =
      parse(kTwoLocks, {"lock.0.algorithm=qspinlock", "lock.hot.knobs.steal_spins=0",
                        "lock.cold.algorithm=mcs", "lock.1.name=chilly"});
  EXPECT_EQ(config.locks[0].knobs.at("steal_spins"), KnobValue(std::int64_t{0}));
  EXPECT_EQ(config.locks[1].algorithm, "mcs");
  EXPECT_EQ(config.locks[1].name, "chilly");
}

TEST(Override, MissingTablesAreMade) {
  const Config config = parse(kTwoLocks, {"machine.cores=8", "run.warmup=10ms", "seed=9",
                                          "hypervisor.background.share=0.25"});
  EXPECT_EQ(config.topology.cores, 8u);
  EXPECT_EQ(config.run.warmup, milliseconds(10));
  EXPECT_EQ(config.seed, 9u);
  EXPECT_EQ(config.hypervisor.background.share, 0.25);
}

TEST(Override, ValuesAreTomlOrElseStrings) {
  const Config config =
      parse(kTwoLocks, {"duration=2s", "lock.0.algorithm=\"qspinlock\"", "partition.0.vcpus=4",
                        "partition.0.pin=[0, 1]", "partition.0.capped=true",
                        "workload.0.think={ dist = \"exponential\", mean = \"2us\" }",
                        "workload.0.lock=[\"hot\", \"cold\"]"});
  EXPECT_EQ(config.duration, seconds(2));
  EXPECT_EQ(config.partitions[0].pin, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_TRUE(config.partitions[0].capped);
  EXPECT_EQ(config.workloads[0].think.kind, Distribution::Kind::exponential);
  EXPECT_EQ(config.workloads[0].locks.size(), 2u);
}

TEST(Override, DefaultEntriesCanBeNamed) {
  const Config config = parse(
      "seed = 1", {"lock.hot.algorithm=mcs", "partition.guest.vcpus=2", "workload.0.think=1us"});
  EXPECT_EQ(config.locks[0].algorithm, "mcs");
  EXPECT_EQ(config.partitions[0].vcpus, 2u);
  EXPECT_EQ(config.workloads[0].think.mean, microseconds(1));
  const Config unnamed =
      parse("[[lock]]\n[[lock]]\n", {"lock.hot.algorithm=mcs", "lock.hot1.algorithm=ticket"});
  EXPECT_EQ(unnamed.locks[0].algorithm, "mcs");
  EXPECT_EQ(unnamed.locks[1].algorithm, "ticket");
  EXPECT_EQ(unnamed.locks[1].name, "hot1");
}

TEST(Override, ElementsOfPlainListsCanBeSet) {
  const Config config = parse("[[partition]]\npin = [0, 1, 2]", {"partition.0.pin.1=3"});
  EXPECT_EQ(config.partitions[0].pin, (std::vector<std::uint32_t>{0, 3, 2}));
}

TEST(Override, TheLastOneWins) {
  EXPECT_EQ(parse(kTwoLocks, {"seed=2", "seed=3"}).seed, 3u);
}

TEST(Override, FaultsNameTheOptionAndStayOnOneLine) {
  struct Case {
    std::string set;
    std::string start;
    std::vector<std::string> words;
  };
  const std::vector<Case> cases{
      {"lock.7.algorithm=mcs",
       "--set lock.7.algorithm: ",
       {"there is no lock.7", "0 (hot), 1 (cold)"}},
      {"lock.warm.algorithm=mcs", "--set lock.warm.algorithm: ", {"there is no lock.warm", "hot"}},
      {"lock.01.algorithm=mcs", "--set lock.01.algorithm: ", {"there is no lock.01"}},
      {"interrupt.0.rate=5", "--set interrupt.0.rate: ", {"there is no interrupt.0", "none"}},
      {"lock.9=5", "--set lock.9: ", {"there is no lock.9"}},
      {"lock.0.algorithm=msc", "--set lock.0.algorithm: ", {"did you mean \"mcs\"", "ticket"}},
      {"lock.hot.algorithm=msc", "--set lock.hot.algorithm: lock.0.algorithm: ", {"mcs"}},
      {"lock.0.knobs.steal_spin=1", "--set lock.0.knobs.steal_spin: ", {"steal_spins"}},
      {"machne.cores=8", "--set machne.cores: ", {"did you mean \"machine\""}},
      {"machine.coers=8", "--set machine.coers: ", {"did you mean \"cores\""}},
      {"machine.cores=0", "--set machine.cores: ", {"1 to 16384"}},
      {"machine={ cores = 0 }", "--set machine: machine.cores: ", {"1 to 16384"}},
      {"duration=5", "--set duration: ", {"unit"}},
      {"duration.x=5", "--set duration.x: ", {"duration has no keys"}},
      {"duration.x.y=5", "--set duration.x.y: ", {"duration has no keys"}},
      {"duration", "--set duration: ", {"needs KEY=VALUE"}},
      {"", "--set : ", {"needs KEY=VALUE"}},
      {"=5", "--set : ", {"path of a key"}},
      {"lock..name=x", "--set lock..name: ", {"path of a key"}},
      {".=x", "--set .: ", {"path of a key"}},
      {"a.b.c.d.e.f.g.h.i=1", "--set a.b", {"path of a key"}},
      {"seed=1\nduration=5", "--set seed: ", {"integer"}},
      {"se\ned=1", "--set se\\ned: ", {"did you mean \"seed\""}},
      {"seed=\xff", "--set: ", {"UTF-8"}},
      {"lock=5", "--set lock: ", {"[[lock]]"}},
      {"lock=[]", "--set lock: ", {"at least one"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.set);
    const std::string message = refusal(kTwoLocks, {c.set}).what();
    EXPECT_TRUE(message.starts_with(c.start)) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    expect_words(message, c.words);
  }
}

TEST(Override, AnOptionOfItsOwnIsNamed) {
  try {
    const std::vector<Override> overrides{{"seed=many", "--seed"}};
    parse_config("seed = 1", "test.toml", overrides);
    ADD_FAILURE();
  } catch (const ConfigError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("--seed: seed: needs an integer"))
        << error.what();
  }
}

}  // namespace
}  // namespace sim
