// dispatch_wheel: what LoPAR guarantees by entitlement, cap and weight, and the order of dispatch.
#include <algorithm>

#include "tests/conformance/hypervisor_fixture.h"

namespace hv::test {
namespace {

using What = World::What;

PartitionConfig shared(std::uint32_t vcpus, double entitlement, std::uint32_t weight,
                       bool capped = false) {
  PartitionConfig config = partition(vcpus);
  config.entitlement = entitlement;
  config.weight = weight;
  config.capped = capped;
  return config;
}

Scenario wheel(std::uint32_t cores, std::vector<PartitionConfig> partitions,
               std::uint64_t seed = 1) {
  return {.cores = cores,
          .policy = PolicyKind::dispatch_wheel,
          .timeslice = milliseconds(10),
          .partitions = std::move(partitions),
          .seed = seed};
}

// "A partition gets at least its entitlement", "its virtual processors substantially equal parts".
TEST(DispatchWheel, EveryPartitionGetsItsEntitlement_EvenWhenTheyAddUpToTheMachine) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    World w(wheel(4, {shared(6, 2.4, 128), shared(4, 0.4, 128), shared(2, 1.2, 128, true)}, seed));
    w.run(seconds(3));
    const auto& partitions = w.hv.partitions();
    for (const Partition& p : partitions) {
      EXPECT_NEAR(w.share_of(p), p.entitlement, 0.01 * p.entitlement + 0.005) << seed;
      for (const Vcpu* v : p.vcpus) {
        const double share =
            static_cast<double>(w.ran(v->id).count()) / static_cast<double>(seconds(3).count());
        const double expected = p.entitlement / static_cast<double>(p.vcpus.size());
        EXPECT_NEAR(share, expected, 0.03 * expected + 0.005) << seed << " vCPU " << v->id;
      }
    }
  }
}

// The hard case: 3 vCPUs of two thirds each on 2 CPUs leave no room for a bad order.
TEST(DispatchWheel, WhatAUnitLosesByWaitingIsOwedToIt) {
  World w(wheel(2, {shared(3, 2.0, 0)}));
  w.run(seconds(3));
  for (const std::uint32_t id : {0u, 1u, 2u})
    EXPECT_NEAR(static_cast<double>(w.ran(id).count()), 2e12, 0.04e12);
}

// "Capped: never above E", though three quarters of the machine are idle.
TEST(DispatchWheel, ACappedPartitionNeverGetsMoreThanItsEntitlement) {
  for (const std::uint32_t weight : {0u, 255u}) {
    World w(wheel(4, {shared(4, 1.0, weight, weight != 0)}));
    w.run(seconds(2));
    const Partition& p = w.hv.partitions()[0];
    EXPECT_LE(w.ran(p), seconds(2) + milliseconds(10));  // the last window may be used up early
    EXPECT_GE(w.ran(p), seconds(2) - milliseconds(10));
  }
}

// The same while vCPUs wake, sleep, and confer their slices to each other.
TEST(DispatchWheel, CedingAndConferringDoNotLiftTheCap) {
  World w(wheel(2, {shared(4, 0.8, 128, true), shared(1, 0.2, 128)}));
  for (const std::uint32_t id : {0u, 1u, 2u, 3u})
    w.body(id, [&](Vcpu& me) {
      for (std::uint32_t turn = 0;; ++turn) {
        me.interrupt_pending = false;
        me.execution.compute(microseconds(150 + 40 * me.id));
        const std::uint32_t other = (me.id + turn) % 4;
        w.hv.h_prod(me, static_cast<std::int32_t>((other + 1) % 4));
        if (turn % 8 == 0) {
          w.hv.h_cede(me);
        } else {
          w.hv.h_confer(me, static_cast<std::int32_t>(other), w.count_of(other));
        }
      }
    });
  for (std::uint32_t i = 1; i < 1000; ++i)
    w.at(milliseconds(3) * i, [&w, i] { w.interrupt(i % 4); });
  w.run(seconds(3));
  const double share = w.share_of(w.hv.partitions()[0]);
  EXPECT_LE(share, 0.8 + 0.8 / 300);  // one window's worth of start-up
  EXPECT_GE(share, 0.5);
}

// "Leftover is distributed strictly by variable weight", whatever the number of vCPUs.
TEST(DispatchWheel, SpareTimeGoesByWeight) {
  World w(wheel(
      4, {shared(4, 0.4, 64), shared(8, 0.4, 192), shared(4, 0.4, 0), shared(4, 0.4, 255, true)}));
  w.run(seconds(3));
  const auto& p = w.hv.partitions();
  EXPECT_NEAR(w.share_of(p[2]), 0.4, 0.01);
  EXPECT_NEAR(w.share_of(p[3]), 0.4, 0.01);
  const double first = w.share_of(p[0]) - 0.4;
  const double second = w.share_of(p[1]) - 0.4;
  EXPECT_NEAR(second / first, 3.0, 0.1);
  EXPECT_NEAR(first + second, 4 - 4 * 0.4, 0.03);
}

// Spare time that a partition can't use (no more than one CPU a vCPU) goes to the others, and is
// not saved up for later.
TEST(DispatchWheel, SpareTimeIsBoundedByTheNumberOfVcpus) {
  World w(wheel(4, {shared(1, 0.2, 255), shared(6, 0.2, 1)}));
  w.run(seconds(2));
  EXPECT_NEAR(w.share_of(w.hv.partitions()[0]), 1.0, 0.01);
  EXPECT_NEAR(w.share_of(w.hv.partitions()[1]), 3.0, 0.03);
}

// No seat is idle while an unit that may use it waits.
TEST(DispatchWheel, IsWorkConserving) {
  World w(wheel(3, {shared(5, 0.5, 128), shared(2, 0.3, 10)}));
  w.run(seconds(1));
  EXPECT_LT(w.machine.account().total(sim::CpuUse::idle), microseconds(20));
}

// "Unused entitlement is lost at the end of a rotation": who slept for nine windows has no claim.
TEST(DispatchWheel, UnusedEntitlementIsLost) {
  World w(wheel(1, {shared(1, 0.5, 0), shared(1, 0.5, 0)}));
  w.body(0, [&](Vcpu& me) {
    w.hv.h_cede(me);
    me.interrupt_pending = false;
    for (;;) me.execution.compute(seconds(1));
  });
  w.at(milliseconds(95), [&] { w.interrupt(0); });
  w.run(milliseconds(200));
  // Its own half from 95 ms on; the rest of the window in which it woke may be more than its part.
  EXPECT_NEAR(static_cast<double>(w.ran(0).count()), 0.5 * 105e9, 5.1e9);
  EXPECT_NEAR(static_cast<double>(w.ran(1).count()), 0.5 * 200e9, 5.1e9);
}

// A woken unit with entitlement left preempts one that runs on spare time, at once.
TEST(DispatchWheel, AWokenEntitledUnitPreemptsSpareTime) {
  World w(wheel(1, {shared(1, 0.3, 0), shared(1, 0.3, 128)}));
  for (int i = 0; i < 50; ++i)
    w.at(milliseconds(100 + 10 * i) + microseconds(230 * i), [&] { w.interrupt(0); });
  std::vector<Time> latency;
  w.body(0, [&](Vcpu& me) {
    for (;;) {
      w.hv.h_cede(me);
      me.interrupt_pending = false;
      me.execution.compute(microseconds(50));
    }
  });
  w.run(milliseconds(700));
  const auto dispatched = w.times(0, What::dispatched);
  ASSERT_EQ(dispatched.size(), 51u);
  int at_once = 0;
  for (int i = 0; i < 50; ++i) {
    const Time woken = milliseconds(100 + 10 * i) + microseconds(230 * i);
    const Time waited = dispatched[static_cast<std::size_t>(i) + 1] - woken;
    EXPECT_LE(waited, milliseconds(3) + 2 * kSwitch);  // the other's own entitlement at most
    if (waited <= kSwitch) ++at_once;
  }
  EXPECT_GT(at_once, 28);  // the other one is entitled for 3 of 10 ms
  EXPECT_LT(at_once, 50);
}

// What a vCPU gives up goes to its partition first: here to a sibling that has nothing left of its
// own, and would otherwise wait for its next window.
TEST(DispatchWheel, AnExhaustedUnitLivesOnWhatItsSiblingGivesUp) {
  World w(wheel(1, {shared(2, 0.8, 0, true)}));
  w.body(1, [&](Vcpu& me) {
    for (;;) {
      me.execution.compute(microseconds(100));
      w.hv.h_cede(me);
      me.interrupt_pending = false;
    }
  });
  for (int i = 1; i < 200; ++i) w.at(milliseconds(5) * i, [&] { w.interrupt(1); });
  w.run(seconds(1));
  // More than its own 0.4, never more than the partition's 0.8.
  EXPECT_GT(w.ran(0), milliseconds(450));
  EXPECT_LE(w.ran(0) + w.ran(1), milliseconds(804));
}

// The worst gap of an entitled unit: at the start of one window, at the end of the next. Its length
// is a consequence of random phases; no gap may be longer.
TEST(DispatchWheel, GapsReachButDontExceedTwoWindowsLessTwoSlices) {
  Time longest{0};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    World w(wheel(1, {shared(1, 0.1, 0, true), shared(2, 0.9, 0)}, seed));
    // The others come and go, so the order of the windows changes.
    for (const std::uint32_t id : {1u, 2u})
      w.body(id, [&](Vcpu& me) {
        for (;;) {
          w.hv.h_cede(me);
          me.interrupt_pending = false;
          me.execution.compute(milliseconds(4));
        }
      });
    for (int i = 0; i < 140; ++i) {
      w.at(milliseconds(7) * i, [&] { w.interrupt(1); });
      w.at(milliseconds(11) * i, [&] { w.interrupt(2); });
    }
    w.run(seconds(1));
    const auto dispatched = w.times(0, What::dispatched);
    const auto preempted = w.times(0, What::preempted);
    for (std::size_t i = 1; i < dispatched.size(); ++i)
      longest = std::max(longest, dispatched[i] - preempted[i - 1]);
  }
  EXPECT_GT(longest, milliseconds(14));
  EXPECT_LE(longest, milliseconds(18) + 10 * kSwitch);
}

// Phases are random: physical CPUs don't switch in step.
TEST(DispatchWheel, CpusDoNotSwitchInStep) {
  World w(wheel(4, {shared(8, 4.0, 0)}));
  w.run(milliseconds(100));
  std::vector<Time> times;
  for (const World::Event& event : w.history)
    if (event.what == What::dispatched && event.at > milliseconds(20)) times.push_back(event.at);
  std::sort(times.begin(), times.end());
  EXPECT_EQ(std::adjacent_find(times.begin(), times.end()), times.end());
}

// Pins are respected, and an entitlement larger than one CPU a vCPU is cut.
TEST(DispatchWheel, PinsAreRespected) {
  Scenario setup = wheel(4, {shared(3, 1.5, 128), shared(3, 0.9, 128)});
  setup.partitions[0].pin = {3, 1};
  World w(setup);
  w.run(seconds(1));
  for (const World::Event& event : w.history)
    EXPECT_TRUE(event.vcpu >= 3 || event.thread == (event.vcpu == 1 ? 1u : 3u));
  EXPECT_GT(w.ran(0) + w.ran(2), milliseconds(900));
}

// Most dispatches find the caches warm: units come back to where they were.
TEST(DispatchWheel, PrefersWarmCaches) {
  World w(wheel(4, {shared(8, 3.6, 128)}));
  w.run(seconds(1));
  std::vector<std::uint32_t> last(8, 99);
  int same = 0, all = 0;
  for (const World::Event& event : w.history) {
    if (event.what != What::dispatched) continue;
    ++all;
    if (last[event.vcpu] == event.thread) ++same;
    last[event.vcpu] = event.thread;
  }
  EXPECT_GT(same * 10, all * 4);
}

// A machine whose vCPUs all sleep has no events: the engine can tell a deadlock.
TEST(DispatchWheel, ASleepingMachineHasNoEvents) {
  for (const PolicyKind policy :
       {PolicyKind::dispatch_wheel, PolicyKind::fair, PolicyKind::gang, PolicyKind::round_robin}) {
    World w({.cores = 2,
             .policy = policy,
             .timeslice = milliseconds(10),
             .partitions = {partition(4)}});
    for (const std::uint32_t id : {0u, 1u, 2u, 3u}) w.idle(id);
    w.hv.start();
    bool drained = false;
    w.engine.run([&] { drained = true; });
    EXPECT_TRUE(drained);
    EXPECT_LT(w.now(), milliseconds(50));
  }
}

}  // namespace
}  // namespace hv::test
