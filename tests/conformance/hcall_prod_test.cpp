// H_PROD, rule by rule. Source of each: LoPAR, "Logical Partitioning Option", H_PROD, unless the
// test says otherwise.
#include <limits>

#include "tests/conformance/hypervisor_fixture.h"

namespace hv::test {
namespace {

using What = World::What;

// "proc not of this partition: H_Parameter", and nobody is touched.
TEST(HcallProd, ATargetOutsideThePartitionIsAParameterError) {
  World w({.partitions = {partition(2), partition(2)}});
  w.body(0, [&](Vcpu& me) {
    for (const std::int32_t target : {-1, 2, 3, -2, std::numeric_limits<std::int32_t>::max(),
                                      std::numeric_limits<std::int32_t>::min()}) {
      const Time before = w.now();
      EXPECT_EQ(w.hv.h_prod(me, target), HcallStatus::parameter) << target;
      EXPECT_EQ(w.now() - before, kHcall);
    }
    for (const Vcpu& vcpu : w.hv.vcpus()) EXPECT_FALSE(vcpu.prodded);
  });
  w.run(milliseconds(1));
  EXPECT_EQ(w.hv.counters().prod, 0u);
}

// Numbers are the partition's own.
TEST(HcallProd, TheTargetIsACpuOfTheCallersPartition) {
  World w({.cores = 2, .partitions = {partition(1), partition(1)}});
  w.idle(0);
  w.body(1, [&](Vcpu& me) {
    me.execution.compute(microseconds(20));
    EXPECT_EQ(w.hv.h_prod(me, 0), HcallStatus::success);
    EXPECT_TRUE(me.prodded);
  });
  w.run(milliseconds(1));
  EXPECT_EQ(w.vcpu(0).state, VcpuState::ceded);
  EXPECT_EQ(w.times(0, What::dispatched).size(), 1u);
}

// "To a non-preempted target it returns at once with the bit left set." Only a wake costs more.
TEST(HcallProd, ARunningTargetKeepsRunningAndRemembers) {
  World w({.cores = 2, .partitions = {partition(2)}});
  Time cost{};
  w.body(1, [&](Vcpu& me) {
    me.execution.compute(microseconds(20));
    const Time before = w.now();
    EXPECT_EQ(w.hv.h_prod(me, 0), HcallStatus::success);
    cost = w.now() - before;
    EXPECT_TRUE(w.vcpu(0).prodded);
  });
  w.run(milliseconds(1));
  EXPECT_EQ(cost, kHcall);
  EXPECT_TRUE(w.times(0, What::preempted).empty());
  EXPECT_EQ(w.count_of(0), 2u);
}

// "If the target is not ready, make it ready": one that is, is not boosted (it stays behind vCPU
// 1).
TEST(HcallProd, AReadyTargetOnlyRemembers_AndKeepsItsPlaceInTheQueue) {
  World w({.partitions = {partition(3)}});
  w.body(0, [&](Vcpu& me) {
    EXPECT_EQ(w.hv.h_prod(me, 2), HcallStatus::success);
    EXPECT_TRUE(w.vcpu(2).prodded);
    EXPECT_EQ(w.vcpu(2).state, VcpuState::ready);
  });
  w.run(milliseconds(1));
  EXPECT_FALSE(w.times(1, What::dispatched).empty());
  EXPECT_TRUE(w.times(2, What::dispatched).empty());
}

// "Set prod bit; if the target is not ready, make it ready." Waking somebody is extra work.
TEST(HcallProd, ACededTargetBecomesReadyWhenTheCallIsDone) {
  World w({.cores = 2, .partitions = {partition(2)}});
  Time cost{}, done{};
  w.idle(0);
  w.body(1, [&](Vcpu& me) {
    me.execution.compute(microseconds(20));
    const Time before = w.now();
    w.hv.h_prod(me, 0);
    done = w.now();
    cost = done - before;
  });
  w.run(milliseconds(1));
  EXPECT_EQ(cost, kHcall + kProd);
  ASSERT_EQ(w.times(0, What::dispatched).size(), 2u);
  EXPECT_EQ(w.times(0, What::dispatched)[1], done + kHcall);
}

// "Makes it ready if it has conferred", whatever it has conferred to.
TEST(HcallProd, EndsAConfer) {
  for (const std::int32_t target : {0, 2, kAllProcessors}) {
    World w({.cores = 2, .partitions = {partition(3, {0, 1, 0})}});
    bool back = false;
    w.body(0, [&](Vcpu& me) {
      me.execution.compute(microseconds(5));
      w.hv.h_confer(me, target, 1);
      back = true;
    });
    w.idle(2);
    // vCPU 2 gets the seat, and lets go of it, before the prod; only a self confer lasts.
    w.body(1, [&](Vcpu& me) {
      me.execution.compute(microseconds(6));
      w.hv.h_prod(me, 0);
    });
    w.at(microseconds(8), [&] { EXPECT_EQ(w.vcpu(0).state, VcpuState::conferred) << target; });
    w.run(milliseconds(1));
    EXPECT_TRUE(back) << target;
    EXPECT_EQ(w.vcpu(0).confer_waits, 0u);
  }
}

// A prod of oneself: the next H_CEDE returns at once.
TEST(HcallProd, OneselfIsAllowed) {
  World w({.partitions = {partition(1)}});
  int returns = 0;
  w.body(0, [&](Vcpu& me) {
    EXPECT_EQ(w.hv.h_prod(me, 0), HcallStatus::success);
    for (;;) {
      w.hv.h_cede(me);
      ++returns;
    }
  });
  w.run(milliseconds(1));
  EXPECT_EQ(returns, 1);
}

// "PROD memory is cleared when the virtual processor is dispatched."
TEST(HcallProd, TheBitIsClearedByTheDispatchThatItCauses) {
  World w({.cores = 2, .partitions = {partition(2)}});
  w.body(0, [&](Vcpu& me) {
    w.hv.h_cede(me);
    EXPECT_FALSE(me.prodded);
  });
  w.body(1, [&](Vcpu& me) {
    me.execution.compute(microseconds(20));
    w.hv.h_prod(me, 0);
    EXPECT_TRUE(w.vcpu(0).prodded);  // ready, not yet dispatched
  });
  w.run(milliseconds(1));
  EXPECT_EQ(w.times(0, What::dispatched).size(), 2u);
}

// The woken vCPU may take the prodder's own seat; the prodder goes on when it is dispatched again.
TEST(HcallProd, MayCostTheCallerItsSeat) {
  World w({.policy = PolicyKind::fair,
           .timeslice = milliseconds(4),
           .partitions = {partition(2)},
           .wakeup_granularity = microseconds(100)});
  Time back{};
  w.body(0, [&](Vcpu& me) {
    w.hv.h_cede(me);
    me.execution.compute(microseconds(300));
  });
  w.body(1, [&](Vcpu& me) {
    me.execution.compute(milliseconds(3));
    w.hv.h_prod(me, 0);
    back = w.now();
    me.execution.compute(microseconds(10));
  });
  w.run(milliseconds(10));
  ASSERT_EQ(w.times(1, What::preempted).size(), 1u);
  EXPECT_EQ(back, w.times(1, What::dispatched)[1]);
  EXPECT_EQ(w.times(0, What::dispatched).size(), 2u);
}

TEST(HcallProd, EveryValidCallIsCounted) {
  World w({.cores = 2, .partitions = {partition(2)}});
  w.body(1, [&](Vcpu& me) {
    for (int i = 0; i < 3; ++i) w.hv.h_prod(me, 0);
    w.hv.h_prod(me, 9);
  });
  w.run(milliseconds(1));
  EXPECT_EQ(w.hv.counters().prod, 3u);
}

}  // namespace
}  // namespace hv::test
