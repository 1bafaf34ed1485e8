// H_CONFER with target -1: to all others of the partition. Source of each: LoPAR, "Logical
// Partitioning Option", H_CONFER, unless the test says otherwise.
#include "tests/conformance/hypervisor_fixture.h"

namespace hv::test {
namespace {

using What = World::What;

// "All CPUs of the partition have had the opportunity of a dispatch cycle": each ready one.
TEST(HcallConferAll, WaitsForOneDispatchOfEachReadyVcpu) {
  World w({.timeslice = milliseconds(1), .partitions = {partition(4)}});
  Time back{};
  w.body(0, [&](Vcpu& me) {
    EXPECT_EQ(w.hv.h_confer(me, kAllProcessors, 0), HcallStatus::success);
    back = w.now();
  });
  w.run(milliseconds(20));
  for (const std::uint32_t id : {1u, 2u, 3u}) {
    ASSERT_FALSE(w.times(id, What::dispatched).empty());
    EXPECT_LT(w.times(id, What::dispatched).front(), back);
  }
  EXPECT_EQ(w.times(0, What::conferred).size(), 1u);
  EXPECT_EQ(w.hv.counters().confer_undirected, 1u);
}

// A second dispatch of one target doesn't stand for the first of another.
TEST(HcallConferAll, TwoDispatchesOfOneVcpuCountOnce) {
  World w({.cores = 2, .partitions = {partition(3, {0, 1, 0}), partition(1, {0})}});
  // vCPU 1 waits (pinned to seat 1, where it is preempted over and over), and so does vCPU 2, whose
  // seat the stranger, vCPU 3, keeps.
  w.at(nanoseconds(1), [&] { w.hv.vacate(w.hv.seats()[1]); });
  w.body(0, [&](Vcpu& me) {
    w.hv.h_confer(me, kAllProcessors, 0);
    ADD_FAILURE() << "vCPU 2 was never dispatched";
  });
  w.at(kSwitch + kHcall + nanoseconds(1), [&] {
    w.hv.vacate(w.hv.seats()[0]);  // vCPU 2 was about to come
    ASSERT_EQ(w.vcpu(0).confer_waits, 2u);
    w.hv.fill_idle_seats();  // 3, and vCPU 1
  });
  for (const int at : {20, 40, 60})
    w.at(microseconds(at), [&] {
      ASSERT_TRUE(w.runs(1));
      w.hv.vacate(w.hv.seats()[1]);
      w.hv.fill_idle_seats();
      EXPECT_EQ(w.vcpu(0).confer_waits, 1u);
    });
  w.run(milliseconds(1));
  EXPECT_TRUE(w.times(2, What::dispatched).empty());
}

// "Entries rejected (running, ceded, conferred) are skipped."
TEST(HcallConferAll, PassesOverRunningCededAndConferredOnes_NobodyLeftReturnsAtOnce) {
  World w({.cores = 4, .partitions = {partition(4)}});
  w.idle(2);
  w.body(3, [&](Vcpu& me) { w.hv.h_confer(me, 3, 0); });
  w.body(0, [&](Vcpu& me) {
    me.execution.compute(microseconds(20));
    ASSERT_TRUE(w.runs(1));
    ASSERT_EQ(w.vcpu(2).state, VcpuState::ceded);
    ASSERT_EQ(w.vcpu(3).state, VcpuState::conferred);
    const Time before = w.now();
    EXPECT_EQ(w.hv.h_confer(me, kAllProcessors, 0), HcallStatus::success);
    EXPECT_EQ(w.now() - before, kHcall);
    EXPECT_FALSE(me.conferred_to_all);
    for (;;) me.execution.compute(seconds(1));
  });
  w.run(milliseconds(1));
  EXPECT_TRUE(w.times(0, What::conferred).empty());
}

TEST(HcallConferAll, AloneInThePartitionReturnsAtOnce_OthersDoNotCount) {
  World w({.partitions = {partition(1), partition(3)}});
  Time back{};
  w.body(0, [&](Vcpu& me) {
    w.hv.h_confer(me, kAllProcessors, 0);
    back = w.now();
  });
  w.run(milliseconds(1));
  EXPECT_EQ(back, kSwitch + kHcall);
}

// The narrative text rejects ceded entries, the normative text does not: a knob.
TEST(HcallConferAll, WaitsForACededVcpuIfConfigured) {
  for (const bool waits : {false, true}) {
    World w({.cores = 2, .partitions = {partition(2)}, .confer_all_waits_for_ceded = waits});
    Time back{};
    w.body(0, [&](Vcpu& me) {
      me.execution.compute(microseconds(10));
      w.hv.h_confer(me, kAllProcessors, 0);
      back = w.now();
    });
    w.idle(1);
    w.at(milliseconds(1), [&] { w.interrupt(1); });
    w.run(milliseconds(2));
    EXPECT_EQ(back,
              waits ? milliseconds(1) + kHcall + kHcall : kSwitch + microseconds(10) + kHcall);
  }
}

// A prod, or an interrupt with EE = 1, ends it before everybody was dispatched.
TEST(HcallConferAll, AProdOrAnEnabledInterruptEndsIt) {
  enum class By { prod, interrupt, masked_interrupt };
  for (const By by : {By::prod, By::interrupt, By::masked_interrupt}) {
    World w({.cores = 2, .partitions = {partition(3, {0, 1, 1})}});
    bool back = false;
    w.body(0, [&](Vcpu& me) {
      me.interrupts_enabled = by != By::masked_interrupt;
      w.hv.h_confer(me, kAllProcessors, 0);
      back = true;
      EXPECT_FALSE(me.conferred_to_all);
      EXPECT_EQ(me.confer_waits, 0u);
      me.interrupt_pending = false;
    });
    w.body(1, [&](Vcpu& me) {
      me.execution.compute(microseconds(20));
      EXPECT_TRUE(w.vcpu(0).conferred_to_all);
      if (by == By::prod) w.hv.h_prod(me, 0);
      for (;;) me.execution.compute(seconds(1));
    });
    if (by != By::prod) w.at(microseconds(40), [&] { w.interrupt(0); });
    w.run(milliseconds(1));
    EXPECT_EQ(back, by != By::masked_interrupt);
  }
}

// The rest of the slice goes to the partition first, each of whose ready vCPUs gets its turn.
TEST(HcallConferAll, TheSeatGoesToThePartitionFirst) {
  World w({.partitions = {partition(1), partition(2)}});
  Seat& seat = w.hv.seats()[0];
  for (const int at : {20, 40})  // 2 runs; 0, 1 wait
    w.at(microseconds(at), [&] { w.hv.reschedule(seat); });
  Time end{}, inherited_end{};
  w.body(2, [&](Vcpu& me) {
    me.execution.compute(microseconds(10));
    end = seat.slice_end;
    w.hv.h_confer(me, kAllProcessors, 0);
  });
  w.on_dispatch = [&](Vcpu& vcpu) {
    if (vcpu.id == 1) inherited_end = seat.slice_end;
  };
  w.run(milliseconds(1));
  EXPECT_EQ(inherited_end, end + kSwitch);
}

}  // namespace
}  // namespace hv::test
