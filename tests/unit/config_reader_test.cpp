#include "sim/config/effective.h"
#include "tests/unit/config_test_support.h"

namespace sim {
namespace {

constexpr std::string_view kEverything = R"(
duration = "2s"
seed = 7
[run]
warmup = "10ms"
livelock_limit = "3s"
[machine]
profile = "power9"
sockets = 2
chips = 2
cores = 4
threads = 4
transfer_remote = "250ns"
weight_low = 2
[hypervisor]
policy = "fair"
granularity = "core"
timeslice = "5ms"
switch_cost = "6us"
hcall_cost = "400ns"
prod_cost = "1us"
interrupt_cost = "2us"
background = { share = 0.1, mean = "2ms" }
prod_memory = "until_cede"
preempted_rule = "odd_count"
confer_all_waits_for_ceded = true
wakeup_granularity = "4ms"
[[partition]]
name = "a"
vcpus = 32
entitlement = 8.5
weight = 200
capped = true
pin = "0-3,8"
[[partition]]
name = "b"
vcpus = 16
[[lock]]
name = "hot"
algorithm = "qspinlock"
stage = "steal"
node = 1
[lock.knobs]
steal_spins = 0
pv_yield_owner = false
pv_yield_prev = 0
[[lock]]
name = "other"
algorithm = "mcs"
[[workload]]
partition = "a"
kind = "locktorture"
lock = "hot"
critical_section = "500ns"
think = { dist = "exponential", mean = "2us" }
block = { dist = "uniform", low = "1ms", high = "2ms" }
block_every = 10
tasks = 64
vcpus = [0, 2, 4]
guest_slice = "3ms"
[[workload]]
partition = "b"
kind = "compute"
think = { dist = "pareto", mean = "5us", alpha = 1.5 }
[[interrupt]]
name = "tick"
partition = "a"
period = "4ms"
duration = "3us"
lock = "hot"
[[interrupt]]
partition = "b"
level = "softirq"
rate = "1000/s"
vcpus = "0-3"
)";

TEST(ConfigReader, EveryKeyArrives) {
  const Config c = parse(kEverything);
  EXPECT_EQ(c.duration, seconds(2));
  EXPECT_EQ(c.seed, 7u);
  EXPECT_EQ(c.run.warmup, milliseconds(10));
  EXPECT_EQ(c.run.livelock_limit, seconds(3));
  EXPECT_EQ(c.profile.name, "power9");
  EXPECT_EQ(c.topology.total_threads(), 64u);
  EXPECT_EQ(c.profile.transfer_remote, nanoseconds(250));
  EXPECT_EQ(c.profile.weight_low, 2);
  EXPECT_EQ(c.profile.weight_medium, 7);
  EXPECT_EQ(c.profile.switch_cost, microseconds(6));
  EXPECT_EQ(c.profile.hcall, nanoseconds(400));
  EXPECT_EQ(c.profile.prod, microseconds(1));
  EXPECT_EQ(c.profile.interrupt, microseconds(2));
  EXPECT_EQ(c.hypervisor.policy, hv::PolicyKind::fair);
  EXPECT_EQ(c.hypervisor.granularity, hv::Granularity::core);
  EXPECT_EQ(c.hypervisor.timeslice, milliseconds(5));
  EXPECT_EQ(c.hypervisor.background.share, 0.1);
  EXPECT_EQ(c.hypervisor.background.mean, milliseconds(2));
  EXPECT_EQ(c.hypervisor.prod_memory, hv::ProdMemory::until_cede);
  EXPECT_EQ(c.hypervisor.preempted_rule, hv::PreemptedRule::odd_count);
  EXPECT_TRUE(c.hypervisor.confer_all_waits_for_ceded);
  EXPECT_EQ(c.hypervisor.wakeup_granularity, milliseconds(4));
  ASSERT_EQ(c.partitions.size(), 2u);
  EXPECT_EQ(c.partitions[0].entitlement, 8.5);
  EXPECT_EQ(c.partitions[0].weight, 200u);
  EXPECT_TRUE(c.partitions[0].capped);
  EXPECT_EQ(c.partitions[0].pin, (std::vector<std::uint32_t>{0, 1, 2, 3, 8}));
  EXPECT_EQ(c.partitions[1].entitlement, 4.0);  // of 7.5 left, no more than its virtual cores
  ASSERT_EQ(c.locks.size(), 2u);
  EXPECT_EQ(c.locks[0].stage, "steal");
  EXPECT_EQ(c.locks[0].node, 1u);
  EXPECT_EQ(c.locks[0].knobs.at("steal_spins"), KnobValue(std::int64_t{0}));
  EXPECT_EQ(c.locks[0].knobs.at("pv_yield_owner"), KnobValue(false));
  EXPECT_EQ(c.locks[0].knobs.at("pv_yield_prev"), KnobValue(false));
  EXPECT_EQ(c.locks[1].algorithm, "mcs");
  ASSERT_EQ(c.workloads.size(), 2u);
  EXPECT_EQ(c.workloads[0].locks, std::vector<std::string>{"hot"});
  EXPECT_EQ(c.workloads[0].think.mean, microseconds(2));
  EXPECT_EQ(c.workloads[0].block.high, milliseconds(2));
  EXPECT_EQ(c.workloads[0].block_every, 10u);
  EXPECT_EQ(c.workloads[0].tasks, 64u);
  EXPECT_EQ(c.workloads[0].vcpus, (std::vector<std::uint32_t>{0, 2, 4}));
  EXPECT_EQ(c.workloads[0].guest_slice, milliseconds(3));
  EXPECT_EQ(c.workloads[1].kind, WorkloadKind::compute);
  EXPECT_TRUE(c.workloads[1].locks.empty());
  ASSERT_EQ(c.interrupts.size(), 2u);
  EXPECT_EQ(c.interrupts[0].interval.kind, Distribution::Kind::constant);
  EXPECT_EQ(c.interrupts[0].interval.mean, milliseconds(4));
  EXPECT_EQ(c.interrupts[0].level, InterruptLevel::hardirq);
  EXPECT_EQ(c.interrupts[0].lock, "hot");
  EXPECT_EQ(c.interrupts[1].interval.kind, Distribution::Kind::exponential);
  EXPECT_EQ(c.interrupts[1].interval.mean, milliseconds(1));
  EXPECT_EQ(c.interrupts[1].vcpus.size(), 4u);
}

TEST(ConfigReader, OneLineIsEnough) {
  const Config c = parse("[[lock]]\nalgorithm = \"mcs\"");
  EXPECT_EQ(c.duration, seconds(1));
  EXPECT_EQ(c.seed, 1u);
  EXPECT_EQ(c.profile.name, "generic");
  EXPECT_EQ(c.topology.total_threads(), 4u);
  ASSERT_EQ(c.partitions.size(), 1u);
  EXPECT_EQ(c.partitions[0].name, "guest");
  EXPECT_EQ(c.partitions[0].vcpus, 4u);
  EXPECT_EQ(c.partitions[0].entitlement, 4.0);
  ASSERT_EQ(c.locks.size(), 1u);
  EXPECT_EQ(c.locks[0].name, "hot");
  ASSERT_EQ(c.workloads.size(), 1u);
  EXPECT_EQ(c.workloads[0].partition, "guest");
  EXPECT_EQ(c.workloads[0].locks, std::vector<std::string>{"hot"});
  EXPECT_TRUE(c.interrupts.empty());
}

TEST(ConfigReader, EntitlementIsSharedOutOfWhatIsLeft) {
  const Config c = parse(
      "[machine]\ncores = 16\n[[partition]]\nname = \"a\"\nentitlement = 12\n"
      "[[partition]]\nname = \"b\"\n[[partition]]\nname = \"c\"\n");
  EXPECT_EQ(c.partitions[0].entitlement, 12.0);
  EXPECT_EQ(c.partitions[1].entitlement, 2.0);
  EXPECT_EQ(c.partitions[2].entitlement, 2.0);
}

TEST(ConfigReader, DecimalEntitlementsThatAddUpExactlyAreAccepted) {
  std::string text = "[machine]\ncores = 1\n";
  for (int i = 0; i < 10; ++i) {
    text += "[[partition]]\nname = \"p" + std::to_string(i) + "\"\nentitlement = 0.1\n";
  }
  EXPECT_EQ(parse(text).partitions.size(), 10u);
}

TEST(ConfigReader, RatesAreMeanIntervals) {
  const auto mean = [](const std::string& rate) {
    return parse("[[interrupt]]\nrate = " + rate).interrupts[0].interval.mean;
  };
  EXPECT_EQ(mean("\"1000/s\""), milliseconds(1));
  EXPECT_EQ(mean("250"), milliseconds(4));
  EXPECT_EQ(mean("0.5"), seconds(2));
  EXPECT_EQ(mean("\"0.5/s\""), seconds(2));
}

TEST(ConfigReader, TheEffectiveConfigReadsBackToItself) {
  for (const std::string_view text : {kEverything, std::string_view("seed = 1")}) {
    const Config config = parse(text);
    const std::string toml = effective_toml(config);
    EXPECT_EQ(effective_json(parse(toml)).dump(), effective_json(config).dump()) << toml;
    EXPECT_EQ(effective_toml(parse(toml)), toml);
  }
}

TEST(ConfigReader, TheEffectiveConfigDependsOnWhatIsSaidNotHow) {
  const auto effective = [](std::string_view text) { return effective_json(parse(text)).dump(); };
  EXPECT_EQ(effective("duration = \"1s\""), effective("duration = \"1000ms\""));
  EXPECT_EQ(effective("[[lock]]\nalgorithm = \"qspinlock\""),
            effective("[[lock]]\nstage = \"current\"\n[lock.knobs]\nsteal_spins = 32"));
  EXPECT_EQ(effective("[machine]\nhcall = \"400ns\""),
            effective("[hypervisor]\nhcall_cost = \"0.4us\""));
  EXPECT_EQ(
      effective("[[workload]]\nhold = \"500ns\""),
      effective("[[workload]]\ncritical_section = { dist = \"constant\", mean = \"500ns\" }"));
  EXPECT_NE(effective("[[lock]]\nalgorithm = \"qspinlock\""),
            effective("[[lock]]\n[lock.knobs]\nsteal_spins = 33"));
}

TEST(ConfigReader, ReplayTakesTheScheduleBesideTheConfig) {
  const TemporaryDirectory one;
  const TemporaryDirectory two;
  constexpr std::string_view kText = "[hypervisor]\npolicy = \"replay\"\nreplay = \"s.csv\"\n";
  one.write("s.csv", "schedule");
  two.write("s.csv", "schedule");
  const Config a = read_config(one.write("c.toml", kText));
  const Config b = read_config(two.write("d.toml", kText));
  EXPECT_EQ(a.hypervisor.replay, (one.path() / "s.csv").string());
  EXPECT_EQ(effective_json(a).dump(), effective_json(b).dump());
  EXPECT_EQ(effective_json(a).dump().find(one.path().string()), std::string::npos);
  // The effective config pins the schedule that it was run with.
  const auto pinned = two.write("e.toml", effective_toml(b));
  EXPECT_EQ(effective_toml(read_config(pinned)), effective_toml(b));
  two.write("s.csv", "another");
  EXPECT_THROW(read_config(pinned), ConfigError);
  EXPECT_NE(effective_json(read_config(two.path() / "d.toml")).dump(), effective_json(b).dump());
}

TEST(ConfigReader, FilesThatCannotBeReadAreNamed) {
  const TemporaryDirectory directory;
  const auto refused = [](const std::filesystem::path& path) {
    try {
      read_config(path);
    } catch (const ConfigError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(path.string())) << error.what();
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  expect_words(refused(directory.path()), {"it is a directory"});
  expect_words(refused(directory.path() / "absent.toml"), {"No such file"});
  expect_words(refused(directory.write("empty.toml", "")), {"no settings"});
  expect_words(refused(directory.write("comment.toml", "# nothing\n\n")), {"no settings"});
  expect_words(refused(directory.write("latin1.toml", "seed = 1\n# gr\xfc\xdf\n")),
               {"latin1.toml:2:5", "UTF-8"});
  expect_words(refused("/dev/zero"), {"larger than"});
}

}  // namespace
}  // namespace sim
