// fair: proportions, wake-ups and balancing of a Linux host's queues.
#include "tests/conformance/hypervisor_fixture.h"

namespace hv::test {
namespace {

using What = World::What;

PartitionConfig weighted(std::uint32_t vcpus, std::uint32_t weight,
                         std::vector<std::uint32_t> pin = {}) {
  PartitionConfig config = partition(vcpus, std::move(pin));
  config.weight = weight;
  return config;
}

Scenario fair(std::uint32_t cores, std::vector<PartitionConfig> partitions) {
  return {.cores = cores,
          .policy = PolicyKind::fair,
          .timeslice = milliseconds(3),
          .partitions = std::move(partitions)};
}

TEST(Fair, OneCpuIsSharedByWeight) {
  World w(fair(1, {weighted(1, 64), weighted(1, 128), weighted(1, 192)}));
  w.run(seconds(3));
  EXPECT_NEAR(w.share_of(w.hv.partitions()[0]), 1.0 / 6, 0.004);
  EXPECT_NEAR(w.share_of(w.hv.partitions()[1]), 2.0 / 6, 0.004);
  EXPECT_NEAR(w.share_of(w.hv.partitions()[2]), 3.0 / 6, 0.004);
}

TEST(Fair, WithEqualWeightsSlicesAlternate) {
  World w(fair(1, {partition(2)}));
  w.run(seconds(1));
  EXPECT_NEAR(static_cast<double>(w.ran(0).count()), 0.5e12, 0.004e12);
  const auto dispatched = w.times(0, What::dispatched);
  for (std::size_t i = 3; i < dispatched.size(); ++i)
    EXPECT_EQ(dispatched[i] - dispatched[i - 1], 2 * (milliseconds(3) + kSwitch));
}

// Three on two: nobody is left with half a CPU while another has a whole one.
TEST(Fair, BalancingEvensOutWhatDoesNotDivide) {
  World w(fair(2, {partition(3)}));
  w.run(seconds(5));
  for (const std::uint32_t id : {0u, 1u, 2u})
    EXPECT_NEAR(static_cast<double>(w.ran(id).count()), 5e12 * 2 / 3, 0.1e12);
}

TEST(Fair, WhatDoesNotDivideGoesRoundAllCpus) {
  World w(fair(4, {partition(5)}));
  w.run(seconds(5));
  for (const std::uint32_t id : {0u, 1u, 2u, 3u, 4u})
    EXPECT_NEAR(static_cast<double>(w.ran(id).count()), 4e12, 0.25e12);
}

TEST(Fair, BalancingSpreadsUnitsByWeight) {
  World w(fair(4, {weighted(4, 200), weighted(8, 100)}));
  w.run(seconds(5));
  const double heavy = w.share_of(w.hv.partitions()[0]) / 4;
  const double light = w.share_of(w.hv.partitions()[1]) / 8;
  EXPECT_NEAR(heavy / light, 2.0, 0.2);
}

TEST(Fair, AnIdleCpuPullsFromTheLongestQueue) {
  World w(fair(2, {partition(1, {1}), partition(4)}));
  w.body(0, [&](Vcpu& me) { me.execution.compute(milliseconds(20)); });
  w.run(milliseconds(500));
  EXPECT_EQ(w.machine.account().total(sim::CpuUse::idle), Time{0});
}

TEST(Fair, IsWorkConserving_WithPins) {
  World w(fair(3, {partition(2, {0}), partition(3), partition(1, {2})}));
  w.run(seconds(1));
  EXPECT_EQ(w.machine.account().total(sim::CpuUse::idle), Time{0});
  for (const World::Event& event : w.history) {
    EXPECT_TRUE(event.vcpu >= 2 || event.thread == 0);
    EXPECT_TRUE(event.vcpu != 5 || event.thread == 2);
  }
}

// A waking unit preempts who runs if it is behind by more than wakeup_granularity, and not else.
TEST(Fair, WakeUpPreemptionNeedsALead) {
  for (const bool preempts : {true, false}) {
    Scenario setup = fair(1, {partition(2)});
    setup.timeslice = milliseconds(10);
    setup.wakeup_granularity = preempts ? milliseconds(1) : milliseconds(20);
    World w(setup);
    w.body(0, [&](Vcpu& me) {
      for (;;) {
        w.hv.h_cede(me);
        me.interrupt_pending = false;
        me.execution.compute(microseconds(100));
      }
    });
    w.at(milliseconds(104), [&] { w.interrupt(0); });
    w.run(milliseconds(200));
    const Time waited = w.times(0, What::dispatched).at(1) - milliseconds(104);
    if (preempts) {
      EXPECT_EQ(waited, kSwitch);
    } else {
      EXPECT_GT(waited, kSwitch);
      EXPECT_LE(waited, milliseconds(10) + kSwitch);
    }
  }
}

// A sleep of any length is worth half a slice: afterwards both run equally long.
TEST(Fair, ALongSleepIsNotSavedUp) {
  World w(fair(1, {partition(2)}));
  w.body(0, [&](Vcpu& me) {
    w.hv.h_cede(me);
    for (;;) me.execution.compute(seconds(1));
  });
  w.at(seconds(1), [&] { w.interrupt(0); });
  w.run(seconds(2));
  EXPECT_NEAR(static_cast<double>(w.ran(0).count()), 0.5e12, 0.006e12);
}

// A woken unit goes to its last CPU if that is idle, else to another idle one.
TEST(Fair, AWokenUnitFindsAnIdleCpu) {
  World w(fair(3, {partition(1), partition(2, {0, 1})}));
  w.body(0, [&](Vcpu& me) {
    w.hv.h_cede(me);
    me.interrupt_pending = false;
    for (;;) me.execution.compute(seconds(1));
  });
  w.at(milliseconds(10), [&] { w.interrupt(0); });
  w.run(milliseconds(100));
  EXPECT_EQ(w.times(0, What::dispatched).at(1), milliseconds(10) + kSwitch);
  EXPECT_EQ(w.history.back().thread, 2u);
}

TEST(Fair, IsDeterministic) {
  const auto story = [] {
    World w(fair(3, {weighted(4, 77), weighted(3, 200)}));
    w.run(seconds(1));
    std::vector<std::pair<Time, std::uint32_t>> result;
    for (const World::Event& event : w.history) result.emplace_back(event.at, event.vcpu);
    return result;
  };
  EXPECT_EQ(story(), story());
}

}  // namespace
}  // namespace hv::test
