// H_CONFER to one target, rule by rule and in the order of its checks. Source of each: LoPAR,
// "Logical Partitioning Option", H_CONFER, unless the test says otherwise. Target -1:
// hcall_confer_all_test.cpp.
#include <limits>

#include "tests/conformance/hypervisor_fixture.h"

namespace hv::test {
namespace {

using What = World::What;

// 1. "proc invalid (not -1, not a CPU of the partition): H_Parameter."
TEST(HcallConfer, ATargetOutsideThePartitionIsAParameterError) {
  World w({.partitions = {partition(2), partition(1)}});
  w.body(0, [&](Vcpu& me) {
    for (const std::int32_t target : {2, 3, -2, std::numeric_limits<std::int32_t>::max(),
                                      std::numeric_limits<std::int32_t>::min()}) {
      EXPECT_EQ(w.hv.h_confer(me, target, 1), HcallStatus::parameter) << target;
      EXPECT_TRUE(w.runs(0));
    }
    EXPECT_EQ(w.count_of(0), 2u);
  });
  w.run(microseconds(6));
  const HypervisorCounters counters = w.hv.counters();
  EXPECT_EQ(counters.confer_directed + counters.confer_undirected + counters.confer_stale, 0u);
}

// 2. "proc == self: dispatch is ignored, confer until prodded."
TEST(HcallConfer, ToOneselfLastsUntilAProd_WhateverTheCount) {
  for (const std::uint32_t count : {0u, 1u, 2u, 3u, 77u}) {
    World w({.cores = 2, .partitions = {partition(2)}});
    Time back{};
    w.body(0, [&](Vcpu& me) {
      EXPECT_EQ(w.hv.h_confer(me, 0, count), HcallStatus::success);
      back = w.now();
    });
    w.body(1, [&](Vcpu& me) {
      me.execution.compute(milliseconds(1));
      w.hv.h_prod(me, 0);
    });
    w.run(milliseconds(2));
    EXPECT_EQ(back, kSwitch + milliseconds(1) + kHcall + kProd + kHcall) << count;
  }
}

// In the self form a prod that came first ends it at once (QEMU's spapr_hcall.c tests and clears it
// here), once.
TEST(HcallConfer, ToOneselfWithARememberedProdReturnsAtOnce) {
  World w({.partitions = {partition(1)}});
  int returns = 0;
  w.body(0, [&](Vcpu& me) {
    w.hv.h_prod(me, 0);
    for (;;) {
      w.hv.h_confer(me, 0, 0);
      ++returns;
      EXPECT_FALSE(me.prodded);
    }
  });
  w.run(milliseconds(1));
  EXPECT_EQ(returns, 1);
  EXPECT_EQ(w.vcpu(0).state, VcpuState::conferred);
}

// 3. "dispatch != the hypervisor's current number of the target: H_Success, nothing done", odd or
// not: the target has run since.
TEST(HcallConfer, AStaleCountReturnsAtOnce) {
  World w({.partitions = {partition(2)}});
  w.body(0, [&](Vcpu& me) {
    EXPECT_EQ(w.count_of(1), 1u);
    for (const std::uint32_t count : {0u, 2u, 3u, 5u, 0xffffffffu}) {
      const Time before = w.now();
      EXPECT_EQ(w.hv.h_confer(me, 1, count), HcallStatus::success);
      EXPECT_EQ(w.now() - before, kHcall) << count;
    }
    EXPECT_EQ(w.count_of(0), 2u);
  });
  w.run(microseconds(8));
  EXPECT_EQ(w.hv.counters().confer_stale, 5u);
  EXPECT_EQ(w.hv.counters().confer_directed, 0u);
}

// 3. "… or that number is even (running): H_Success, nothing done."
TEST(HcallConfer, ARunningTargetReturnsAtOnce_EvenWithItsCount) {
  World w({.cores = 2, .partitions = {partition(2)}});
  w.body(0, [&](Vcpu& me) {
    me.execution.compute(microseconds(10));
    EXPECT_EQ(w.count_of(1), 2u);
    const Time before = w.now();
    EXPECT_EQ(w.hv.h_confer(me, 1, 2), HcallStatus::success);
    EXPECT_EQ(w.now() - before, kHcall);
  });
  w.run(microseconds(14));
  EXPECT_TRUE(w.times(0, What::conferred).empty());
  EXPECT_EQ(w.hv.counters().confer_stale, 1u);
}

// The count is 32 bits and wraps; it is compared for equality and parity only.
TEST(HcallConfer, TheCountWraps) {
  World w({.partitions = {partition(2)}});
  w.vcpu(1).vpa->yield_count = 0xffffffffu;
  bool back = false;
  w.body(0, [&](Vcpu& me) {
    w.hv.h_confer(me, 1, 0xffffffffu);
    back = true;
    EXPECT_EQ(w.count_of(1), 1u);
    const Time before = w.now();
    w.hv.h_confer(me, 1, 0xffffffffu);  // stale by now
    EXPECT_EQ(w.now() - before, kHcall);
  });
  w.body(1, [&](Vcpu& me) {
    EXPECT_EQ(w.count_of(1), 0u);
    w.hv.h_cede(me);
  });
  w.run(milliseconds(1));
  EXPECT_TRUE(back);
}

// 3. "Target has itself conferred to all: H_Success, nothing done (deadlock avoidance)."
TEST(HcallConfer, ATargetThatHasConferredToAllReturnsAtOnce) {
  World w({.cores = 2, .partitions = {partition(3, {0, 1, 1})}});
  w.body(0, [&](Vcpu& me) { w.hv.h_confer(me, kAllProcessors, 0); });  // waits for vCPU 2
  w.body(1, [&](Vcpu& me) {
    me.execution.compute(microseconds(10));
    EXPECT_EQ(w.vcpu(0).state, VcpuState::conferred);
    const Time before = w.now();
    EXPECT_EQ(w.hv.h_confer(me, 0, w.count_of(0)), HcallStatus::success);
    EXPECT_EQ(w.now() - before, kHcall);
    EXPECT_TRUE(w.runs(1));
    for (;;) me.execution.compute(seconds(1));
  });
  w.run(milliseconds(1));
  EXPECT_EQ(w.hv.counters().confer_stale, 1u);
}

// 4. "Donate the remaining slice …; dispatch the target": vCPU 2 overtakes vCPU 1 and gets exactly
// what is left of the slice.
TEST(HcallConfer, AReadyTargetGetsTheCallersSeatAndTheRestOfItsSlice) {
  World w({.partitions = {partition(3)}});
  Time end{}, inherited_end{}, called{};
  w.body(0, [&](Vcpu& me) {
    me.execution.compute(microseconds(10));
    called = w.now();
    end = w.hv.seats()[0].slice_end;
    w.hv.h_confer(me, 2, w.count_of(2));
  });
  w.on_dispatch = [&](Vcpu& vcpu) {
    if (vcpu.id == 2) inherited_end = w.hv.seats()[0].slice_end;
  };
  w.run(milliseconds(1));
  EXPECT_EQ(w.times(2, What::dispatched).front(), called + kHcall + kSwitch);
  EXPECT_EQ(inherited_end, end + kSwitch);  // the switch is not taken out of it
  EXPECT_TRUE(w.times(1, What::dispatched).empty());
  EXPECT_EQ(w.hv.counters().confer_directed, 1u);
}

// 4. "Mark the caller non-dispatchable until the target has had the opportunity of a dispatch
// cycle": its own seat stays idle, though it would want it.
TEST(HcallConfer, TheCallerIsNotDispatchableBeforeItsTargetWas) {
  World w({.cores = 2, .partitions = {partition(2, {0, 1}), partition(1, {1})}});
  // vCPU 2 of the other partition keeps seat 1 from vCPU 1 until 100 us.
  w.at(nanoseconds(1), [&] {
    w.hv.vacate(w.hv.seats()[1]);
    w.hv.fill_idle_seats();
  });
  Time back{};
  w.body(0, [&](Vcpu& me) {
    me.execution.compute(microseconds(10));
    ASSERT_EQ(w.vcpu(1).state, VcpuState::ready);
    w.hv.h_confer(me, 1, w.count_of(1));
    back = w.now();
  });
  w.at(microseconds(99), [&] {
    EXPECT_EQ(w.hv.seats()[0].state, Seat::State::idle);
    EXPECT_EQ(w.vcpu(0).state, VcpuState::conferred);
  });
  w.at(microseconds(100), [&] { w.hv.reschedule(w.hv.seats()[1]); });
  w.run(milliseconds(1));
  ASSERT_EQ(w.times(1, What::dispatched).size(), 1u);
  EXPECT_EQ(w.times(1, What::dispatched)[0], microseconds(100) + kSwitch);
  EXPECT_EQ(back, w.times(1, What::dispatched)[0] + kHcall);
}

// An opportunity is an opportunity, however short: the target is preempted at the very instant.
TEST(HcallConfer, ADispatchThatEndsAtOnceCounts) {
  World w({.partitions = {partition(2)}});
  bool back = false;
  w.body(0, [&](Vcpu& me) {
    w.hv.h_confer(me, 1, 1);
    back = true;
  });
  w.at(kSwitch + kHcall + kSwitch, [&] {
    ASSERT_TRUE(w.runs(1));
    w.hv.reschedule(w.hv.seats()[0]);
  });
  w.run(milliseconds(1));
  EXPECT_TRUE(back);
  EXPECT_EQ(w.times(1, What::preempted).front(), w.times(1, What::dispatched).front());
}

// 4. "… or until the caller is prodded", though its target still hasn't run.
TEST(HcallConfer, AProdEndsIt) {
  World w({.cores = 2, .partitions = {partition(3, {0, 1, 1})}});
  Time back{};
  w.body(0, [&](Vcpu& me) {
    w.hv.h_confer(me, 2, 1);
    back = w.now();
  });
  w.body(1, [&](Vcpu& me) {
    me.execution.compute(microseconds(20));
    w.hv.h_prod(me, 0);
    for (;;) me.execution.compute(seconds(1));
  });
  w.run(milliseconds(1));
  EXPECT_EQ(back, kSwitch + microseconds(20) + kHcall + kProd + kHcall);
  EXPECT_TRUE(w.times(2, What::dispatched).empty());
}

// "No prod-bit test is specified at entry except in the self form": a directed confer with the bit
// set still waits.
TEST(HcallConfer, ARememberedProdDoesNotEndADirectedOne) {
  World w({.cores = 2, .partitions = {partition(3, {0, 1, 1})}});
  w.body(0, [&](Vcpu& me) {
    w.hv.h_prod(me, 0);
    w.hv.h_confer(me, 2, 1);
    ADD_FAILURE() << "returned";
  });
  w.run(milliseconds(1));
  EXPECT_EQ(w.vcpu(0).state, VcpuState::conferred);
}

// 4. "… or (EE = 1) by an external, decrementer or IPI interrupt"; with EE = 0 by none.
TEST(HcallConfer, AnInterruptEndsIt_OnlyWithInterruptsEnabled) {
  for (const bool enabled : {true, false})
    for (const std::int32_t target : {0, 2}) {
      World w({.cores = 2, .partitions = {partition(3, {0, 1, 1})}});
      bool back = false;
      w.body(0, [&](Vcpu& me) {
        me.interrupts_enabled = enabled;
        w.hv.h_confer(me, target, 1);
        back = true;
        me.interrupt_pending = false;
      });
      w.at(microseconds(20), [&] { w.interrupt(0); });
      w.run(milliseconds(1));
      EXPECT_EQ(back, enabled) << target;
    }
}

// The same for one that arrives while the hypervisor works on the call: it would not come again.
TEST(HcallConfer, AnInterruptDuringTheCallsOwnTimeIsNotMissed) {
  for (const bool enabled : {true, false})
    for (const std::int32_t target : {0, 2, kAllProcessors}) {
      World w({.cores = 2, .partitions = {partition(3, {0, 1, 1})}});
      bool back = false;
      w.body(0, [&](Vcpu& me) {
        me.interrupts_enabled = enabled;
        w.hv.h_confer(me, target, 1);
        back = true;
        me.interrupt_pending = false;
      });
      w.at(kSwitch + kHcall / 2, [&] { w.interrupt(0); });
      w.run(milliseconds(1));
      EXPECT_EQ(back, enabled) << target;
    }
}

// A ceded target has an odd, equal count, so by step 3 the confer is accepted and lasts until the
// target is dispatched, however long that takes (Linux met it as very long confers on PowerVM).
TEST(HcallConfer, ACededTargetIsWaitedFor) {
  World w({.cores = 2, .partitions = {partition(2)}});
  Time back{};
  w.body(0, [&](Vcpu& me) {
    me.execution.compute(microseconds(10));
    ASSERT_EQ(w.vcpu(1).state, VcpuState::ceded);
    w.hv.h_confer(me, 1, w.count_of(1));
    back = w.now();
  });
  w.body(1, [&](Vcpu& me) {
    w.hv.h_cede(me);
    me.interrupt_pending = false;
    me.execution.compute(microseconds(10));
  });
  w.at(milliseconds(3), [&] {
    EXPECT_EQ(w.vcpu(0).state, VcpuState::conferred);
    w.interrupt(1);
  });
  w.run(milliseconds(5));
  EXPECT_EQ(back, milliseconds(3) + kHcall + kHcall);
}

// The seat of a caller whose target can't take it goes to the partition first, as with H_CEDE.
TEST(HcallConfer, WithoutAReadyTargetTheSeatGoesToThePartitionFirst) {
  World w({.partitions = {partition(1), partition(3)}});
  Seat& seat = w.hv.seats()[0];
  for (const int at : {20, 40, 60})  // 1 cedes; 2 runs, then 3; 0, 2 wait
    w.at(microseconds(at), [&] { w.hv.reschedule(seat); });
  w.idle(1);
  Time end{};
  w.body(3, [&](Vcpu& me) {
    me.execution.compute(microseconds(10));
    end = w.now();
    w.hv.h_confer(me, 0, w.count_of(1));  // CPU 0 of its partition: vCPU 1
  });
  w.run(milliseconds(1));
  ASSERT_NE(end, Time{0});
  const std::vector<Time> dispatched = w.times(2, What::dispatched);
  ASSERT_EQ(dispatched.size(), 2u);
  EXPECT_EQ(dispatched[1], end + kHcall + kSwitch);
}

// A → B → C: each waits for the next one's dispatch, and they come back in turn.
TEST(HcallConfer, Chains) {
  World w({.cores = 3, .partitions = {partition(3), partition(1)}});
  std::vector<std::uint32_t> order;
  w.body(2, [&](Vcpu& me) {  // C
    w.hv.h_cede(me);
    order.push_back(2);
    me.execution.compute(microseconds(50));
  });
  w.body(1, [&](Vcpu& me) {  // B
    me.execution.compute(microseconds(10));
    w.hv.h_confer(me, 2, w.count_of(2));
    order.push_back(1);
    me.execution.compute(microseconds(50));
  });
  w.body(0, [&](Vcpu& me) {  // A
    me.execution.compute(microseconds(20));
    ASSERT_EQ(w.vcpu(1).state, VcpuState::conferred);
    w.hv.h_confer(me, 1, w.count_of(1));
    order.push_back(0);
  });
  w.at(microseconds(500), [&] {
    EXPECT_TRUE(order.empty());
    w.interrupt(2);
  });
  w.run(milliseconds(1));
  EXPECT_EQ(order, (std::vector<std::uint32_t>{2, 1, 0}));
  EXPECT_LT(w.times(2, What::dispatched).back(), w.times(1, What::dispatched).back());
  EXPECT_LT(w.times(1, What::dispatched).back(), w.times(0, What::dispatched).back());
}

// Several callers may wait for one target; its dispatch releases all of them.
TEST(HcallConfer, OneDispatchReleasesEveryCaller) {
  World w({.cores = 4, .partitions = {partition(4)}});
  int back = 0;
  w.idle(3);
  for (const std::uint32_t id : {0u, 1u, 2u})
    w.body(id, [&](Vcpu& me) {
      me.execution.compute(microseconds(10 + me.id));
      w.hv.h_confer(me, 3, w.count_of(3));
      ++back;
    });
  w.at(microseconds(100), [&] { w.interrupt(3); });
  w.at(microseconds(100), [&] { EXPECT_EQ(back, 0); });
  w.run(milliseconds(1));
  EXPECT_EQ(back, 3);
}

// A confer that has ended otherwise has no claim on a later one: the dispatch of the first target
// doesn't end the second confer.
TEST(HcallConfer, AnEarlierConfersTargetDoesNotEndALaterOne) {
  World w({.cores = 3, .partitions = {partition(3)}});
  int returns = 0;
  w.idle(1);
  w.body(0, [&](Vcpu& me) {
    me.execution.compute(microseconds(10));
    w.hv.h_confer(me, 1, w.count_of(1));
    ++returns;
    w.hv.h_confer(me, 0, 0);
    ++returns;
  });
  w.body(2, [&](Vcpu& me) {
    me.execution.compute(microseconds(50));
    w.hv.h_prod(me, 0);
    me.execution.compute(microseconds(50));
    w.hv.h_prod(me, 1);
  });
  w.run(milliseconds(1));
  EXPECT_EQ(w.times(1, What::dispatched).size(), 2u);
  EXPECT_EQ(returns, 1);
}

// Yield count (VPA dispatch counter): one more at every change, odd while not dispatched.
TEST(HcallConfer, YieldCountsShowWhoIsDispatched) {
  World w({.timeslice = milliseconds(1), .partitions = {partition(2)}});
  std::uint32_t changes[2] = {1, 1};
  w.body(0, [&](Vcpu& me) {
    for (;;) {
      me.execution.compute(microseconds(100));
      w.hv.h_confer(me, 1, w.count_of(1));
    }
  });
  w.on_dispatch = [&](Vcpu& vcpu) {
    EXPECT_EQ(w.count_of(vcpu.id) % 2, 0u);
    EXPECT_EQ(w.count_of(1 - vcpu.id) % 2, 1u);
  };
  w.run(milliseconds(20));
  for (const World::Event& event : w.history) ++changes[event.vcpu];
  EXPECT_GT(changes[0], 10u);
  EXPECT_EQ(w.count_of(0), changes[0]);
  EXPECT_EQ(w.count_of(1), changes[1]);
}

// The count stands in guest memory, on a line that the hypervisor writes: a reader hits in its
// cache until the next change, and misses after it.
TEST(HcallConfer, AChangeOfTheYieldCountInvalidatesItsLineElsewhere) {
  World w({.cores = 2, .partitions = {partition(2)}});
  std::vector<Time> cost;
  w.body(0, [&](Vcpu& me) {
    const auto read = [&] {
      const Time before = w.now();
      me.execution.load(&w.vcpu(1).vpa->yield_count, 4);
      me.execution.sync();
      cost.push_back(w.now() - before);
    };
    read();
    read();
    me.execution.compute(microseconds(10));  // vCPU 1 cedes
    read();
    read();
  });
  w.body(1, [&](Vcpu& me) {
    me.execution.compute(microseconds(5));
    w.hv.h_cede(me);
  });
  w.run(milliseconds(1));
  EXPECT_EQ(cost, (std::vector<Time>{kTransfer, kHit, kTransfer, kHit}));
}

}  // namespace
}  // namespace hv::test
