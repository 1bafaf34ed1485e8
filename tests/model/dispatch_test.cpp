// What the hypervisor does with seats and units, whatever the policy.
#include "tests/conformance/hypervisor_fixture.h"

namespace hv::test {
namespace {

using What = World::What;

// Whoever loses its seat at the end of a slice takes an idle one that its successor couldn't.
TEST(Dispatch, AUnitThatLosesItsSeatTakesAnIdleOne) {
  for (const PolicyKind policy :
       {PolicyKind::round_robin, PolicyKind::fair, PolicyKind::dispatch_wheel}) {
    World w({.cores = 2,
             .policy = policy,
             .timeslice = milliseconds(2),
             .partitions = {partition(1), partition(1, {0})}});
    w.idle(1);
    w.at(milliseconds(5), [&] { w.interrupt(1); });
    w.run(milliseconds(20));
    EXPECT_GT(w.ran(0), milliseconds(20) - 8 * kSwitch);
    EXPECT_EQ(w.times(1, What::dispatched).size(), 2u);
  }
}

// A confer is a yield: when its target is dispatched the caller is ready again, but it has no claim
// to preempt anybody, least of all the target, however little it has run.
TEST(Dispatch, AConferThatEndsPreemptsNobody) {
  World w({.threads = 2,
           .policy = PolicyKind::fair,
           .timeslice = milliseconds(4),
           .partitions = {partition(4)},
           .granularity = Granularity::core,
           .wakeup_granularity = nanoseconds(1)});
  bool back = false;
  w.body(2, [&](Vcpu& me) {
    me.execution.compute(microseconds(10));
    ASSERT_EQ(w.vcpu(0).state, VcpuState::ready);
    w.hv.h_confer(me, 0, w.count_of(0));
    back = true;
  });
  w.idle(3);
  w.run(milliseconds(40));
  EXPECT_TRUE(back);
  const auto preempted = w.times(0, What::preempted);
  const auto dispatched = w.times(0, What::dispatched);
  ASSERT_GE(dispatched.size(), 2u);
  EXPECT_GT(preempted[1] - dispatched[1], milliseconds(3));
}

// Granularity core: the threads of a virtual core come and go together …
TEST(Dispatch, TheThreadsOfAVirtualCoreFlipTogether) {
  World w({.threads = 4,
           .timeslice = milliseconds(1),
           .partitions = {partition(8)},
           .granularity = Granularity::core});
  w.run(milliseconds(20));
  ASSERT_EQ(w.history.size() % 4, 0u);
  EXPECT_GT(w.history.size(), 60u);
  for (std::size_t i = 0; i < w.history.size(); i += 4)
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_EQ(w.history[i + k].at, w.history[i].at);
      EXPECT_EQ(w.history[i + k].what, w.history[i].what);
      EXPECT_EQ(w.history[i + k].vcpu, w.history[i].vcpu + k);
      EXPECT_EQ(w.history[i + k].thread, k);
    }
}

// … but counts are per thread: a ceded one's is odd in a dispatched core, and it joins that core at
// once when it wakes. The core is given up when its last thread sleeps.
TEST(Dispatch, ACededThreadIsOddInADispatchedCore_AndJoinsItAtOnce) {
  World w({.threads = 2, .partitions = {partition(4)}, .granularity = Granularity::core});
  w.idle(1);
  w.body(0, [&](Vcpu& me) { me.execution.compute(microseconds(200)); });
  w.at(microseconds(50), [&] {
    EXPECT_EQ(w.count_of(0) % 2, 0u);
    EXPECT_EQ(w.count_of(1) % 2, 1u);
    w.interrupt(1);
    EXPECT_TRUE(w.runs(1));
    EXPECT_EQ(w.times(1, What::dispatched).back(), microseconds(50));
    w.vcpu(1).interrupt_pending = false;
  });
  w.at(microseconds(150), [&] { EXPECT_FALSE(w.runs(2)); });
  w.run(milliseconds(1));
  const Time gone = kSwitch + microseconds(200) + kHcall;
  EXPECT_EQ(w.times(0, What::ceded).front(), gone);
  EXPECT_EQ(w.times(2, What::dispatched).front(), gone + kSwitch);
  EXPECT_EQ(w.times(3, What::dispatched).front(), gone + kSwitch);
}

// A confer to a thread of the caller's own virtual core donates nothing: the core stays.
TEST(Dispatch, AConferLeavesTheCoreToItsOtherThreads) {
  World w({.threads = 2, .partitions = {partition(4)}, .granularity = Granularity::core});
  w.body(0, [&](Vcpu& me) {
    me.execution.compute(microseconds(10));
    w.hv.h_confer(me, 2, w.count_of(2));
  });
  w.run(milliseconds(1));
  EXPECT_EQ(w.vcpu(0).state, VcpuState::conferred);
  EXPECT_TRUE(w.runs(1));
  EXPECT_TRUE(w.times(2, What::dispatched).empty());
}

// Coming back to one's own seat costs a call, coming to another's a switch.
TEST(Dispatch, CostsASwitchUnlessNobodyElseWasThere) {
  World w({.partitions = {partition(2)}});
  w.body(0, [&](Vcpu& me) { me.execution.compute(microseconds(10)); });
  w.body(1, [&](Vcpu&) {});
  w.at(microseconds(100), [&] { w.interrupt(1); });
  w.at(microseconds(200), [&] { w.interrupt(0); });
  w.run(microseconds(200) + 2 * kSwitch);
  EXPECT_EQ(w.times(1, What::dispatched).at(1), microseconds(100) + kHcall);
  // Ceded at once again (its interrupt is still pending, so H_CEDE returns): it keeps the seat.
  EXPECT_EQ(w.times(0, What::dispatched).size(), 1u);
}

// Background load takes its share of every seat, in pieces, and everything else goes on around it.
TEST(Dispatch, BackgroundLoadTakesItsShare) {
  for (const PolicyKind policy :
       {PolicyKind::round_robin, PolicyKind::fair, PolicyKind::dispatch_wheel, PolicyKind::gang}) {
    World w({.cores = 4,
             .policy = policy,
             .timeslice = milliseconds(10),
             .partitions = {partition(8)},
             .background = {.share = 0.3, .mean = milliseconds(1)}});
    w.run(seconds(4));
    const auto part = [&](sim::CpuUse use) {
      return static_cast<double>(w.machine.account().total(use).count()) /
             static_cast<double>(4 * seconds(4).count());
    };
    EXPECT_NEAR(part(sim::CpuUse::background), 0.3, 0.01);
    // A gang's seats are empty while its other units … none here: all others are in use.
    EXPECT_LT(part(sim::CpuUse::idle), 0.001);
    EXPECT_NEAR(part(sim::CpuUse::useful) + part(sim::CpuUse::hypervisor), 0.7, 0.011);
  }
}

// Steal is the time in which a vCPU wants a physical CPU and has none, the switch included.
TEST(Dispatch, StealIsTheTimeSpentReady) {
  World w({.timeslice = milliseconds(1), .partitions = {partition(3)}});
  w.run(milliseconds(30));
  const Time dispatched = w.ran(0) + w.ran(1) + w.ran(2);
  EXPECT_EQ(w.hv.counters().steal, 3 * milliseconds(30) - dispatched);
  std::uint64_t dispatches = 0, preemptions = 0;
  for (const World::Event& event : w.history)
    ++(event.what == What::dispatched ? dispatches : preemptions);
  EXPECT_EQ(w.hv.counters().dispatches, dispatches);
  EXPECT_EQ(w.hv.counters().preemptions, preemptions);
}

// Counters that are restarted count from there on, waits in progress included.
TEST(Dispatch, RestartedCountersForgetWhatWas) {
  World w({.timeslice = seconds(100), .partitions = {partition(2)}});
  w.at(milliseconds(4), [&] { w.hv.restart_counters(); });
  w.run(milliseconds(10));
  EXPECT_EQ(w.hv.counters().steal, milliseconds(6));
  EXPECT_EQ(w.hv.counters().dispatches, 0u);
}

}  // namespace
}  // namespace hv::test
