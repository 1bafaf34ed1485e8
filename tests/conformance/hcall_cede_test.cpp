// H_CEDE, rule by rule. Source of each: LoPAR, "Logical Partitioning Option", H_CEDE, unless the
// test says otherwise.
#include "tests/conformance/hypervisor_fixture.h"

namespace hv::test {
namespace {

using What = World::What;

// "Mark the virtual processor non-dispatchable until … H_PROD."
TEST(HcallCede, SleepsUntilProdded) {
  World w({.cores = 2, .partitions = {partition(2)}});
  Time back{};
  w.body(0, [&](Vcpu& me) {
    EXPECT_EQ(w.hv.h_cede(me), HcallStatus::success);
    back = w.now();
  });
  w.body(1, [&](Vcpu& me) {
    me.execution.compute(microseconds(50));
    w.hv.h_prod(me, 0);
  });
  w.at(microseconds(40), [&] {
    EXPECT_EQ(w.vcpu(0).state, VcpuState::ceded);
    EXPECT_EQ(w.count_of(0) % 2, 1u);
  });
  w.run(milliseconds(1));
  const Time prodded = kSwitch + microseconds(50) + kHcall + kProd;
  EXPECT_EQ(w.times(0, What::ceded).front(), kSwitch + kHcall);
  // Nobody else was on its seat, so coming back costs no full switch.
  EXPECT_EQ(back, prodded + kHcall);
}

// "… until an interrupt (external, decrementer, IPI, system reset)."
TEST(HcallCede, SleepsUntilInterrupted) {
  World w({.partitions = {partition(1)}});
  Time back{};
  w.body(0, [&](Vcpu& me) {
    w.hv.h_cede(me);
    back = w.now();
    me.interrupt_pending = false;
  });
  w.at(microseconds(30), [&] { w.interrupt(0); });
  w.run(milliseconds(1));
  EXPECT_EQ(back, microseconds(30) + kHcall);
}

// "Enable MSR[EE]."
TEST(HcallCede, EnablesInterrupts) {
  World w({.partitions = {partition(1)}});
  w.vcpu(0).interrupts_enabled = false;
  w.idle(0);
  w.at(microseconds(20), [&] {
    EXPECT_EQ(w.vcpu(0).state, VcpuState::ceded);
    EXPECT_TRUE(w.vcpu(0).interrupts_enabled);
  });
  w.run(microseconds(30));
}

// "Pending interrupts are taken before the next instruction": nothing to sleep for.
TEST(HcallCede, PendingInterruptPreventsTheSleep) {
  World w({.partitions = {partition(1)}});
  Time back{};
  w.body(0, [&](Vcpu& me) {
    me.interrupts_enabled = false;
    me.interrupt_pending = true;
    w.hv.h_cede(me);
    back = w.now();
    EXPECT_TRUE(me.interrupts_enabled);
    EXPECT_TRUE(w.times(0, What::ceded).empty());
    me.interrupt_pending = false;
  });
  w.run(milliseconds(1));
  EXPECT_EQ(back, kSwitch + kHcall);
}

// The same for one that arrives while the hypervisor works on the call.
TEST(HcallCede, InterruptDuringTheCallsOwnTimePreventsTheSleep) {
  World w({.partitions = {partition(1)}});
  Time back{};
  w.body(0, [&](Vcpu& me) {
    w.hv.h_cede(me);
    back = w.now();
    me.interrupt_pending = false;
  });
  w.at(kSwitch + kHcall / 2, [&] { w.interrupt(0); });
  w.run(milliseconds(1));
  EXPECT_EQ(back, kSwitch + kHcall);
}

// "If the prod bit is set: clear it, return H_Success at once."
TEST(HcallCede, RememberedProdReturnsAtOnce_AndOnlyOnce) {
  World w({.cores = 2, .partitions = {partition(2)}});
  Time first{}, second{};
  w.body(0, [&](Vcpu& me) {
    me.execution.compute(microseconds(20));
    w.hv.h_cede(me);
    first = w.now();
    EXPECT_TRUE(w.times(0, What::ceded).empty());
    EXPECT_FALSE(me.prodded);
    w.hv.h_cede(me);
    second = w.now();
  });
  w.body(1, [&](Vcpu& me) { w.hv.h_prod(me, 0); });
  w.run(milliseconds(1));
  EXPECT_EQ(first, kSwitch + microseconds(20) + kHcall);
  EXPECT_EQ(second, Time{0});  // slept for good
  EXPECT_EQ(w.vcpu(0).state, VcpuState::ceded);
}

// The prod bit is one bit.
TEST(HcallCede, ManyProdsCollapseIntoOne) {
  World w({.cores = 2, .partitions = {partition(2)}});
  int returns = 0;
  w.body(0, [&](Vcpu& me) {
    me.execution.compute(microseconds(20));
    for (;;) {
      w.hv.h_cede(me);
      ++returns;
    }
  });
  w.body(1, [&](Vcpu& me) {
    for (int i = 0; i < 5; ++i) w.hv.h_prod(me, 0);
  });
  w.run(milliseconds(1));
  EXPECT_EQ(returns, 1);
}

// "Serialise with H_PROD on the virtual processor's control block": whichever order, no prod is
// lost. Here it arrives while the hypervisor works on the H_CEDE …
TEST(HcallCede, ProdDuringTheCallsOwnTimeIsNotLost) {
  World w({.cores = 2, .partitions = {partition(2)}});
  Time back{};
  w.body(0, [&](Vcpu& me) {
    me.execution.compute(nanoseconds(500));
    w.hv.h_cede(me);  // takes effect 1500 ns after the dispatch
    back = w.now();
  });
  w.body(1, [&](Vcpu& me) { w.hv.h_prod(me, 0); });  // at 1000 ns
  w.run(milliseconds(1));
  EXPECT_EQ(back, kSwitch + nanoseconds(500) + kHcall);
}

// … here just after it, and just before, by one picosecond; and at the same instant.
TEST(HcallCede, ProdRacingWithCedeIsNotLost_InAnyOrder) {
  for (const std::int64_t offset : {-1, 0, 1}) {
    World w({.cores = 2, .partitions = {partition(2)}});
    bool back = false;
    w.body(0, [&](Vcpu& me) {
      me.execution.compute(microseconds(10));
      w.hv.h_cede(me);
      back = true;
    });
    w.body(1, [&](Vcpu& me) {
      me.execution.compute(microseconds(10) + Time{offset});
      w.hv.h_prod(me, 0);
    });
    w.run(milliseconds(1));
    EXPECT_TRUE(back) << offset;
  }
}

// Dispatch section: "the prod bit is cleared when the virtual processor is dispatched". KVM clears
// it in H_CEDE only (arch/powerpc/kvm/book3s_hv.c).
TEST(HcallCede, ProdOfAReadyVcpuIsForgottenAtItsDispatch_ExceptOnKvm) {
  for (const auto memory : {ProdMemory::until_dispatch, ProdMemory::until_cede}) {
    World w({.partitions = {partition(2)}, .prod_memory = memory});
    bool back = false;
    w.body(0, [&](Vcpu& me) {
      w.hv.h_prod(me, 1);  // waits for its first dispatch
      EXPECT_TRUE(w.vcpu(1).prodded);
    });
    w.body(1, [&](Vcpu& me) {
      EXPECT_EQ(me.prodded, memory == ProdMemory::until_cede);
      w.hv.h_cede(me);
      back = true;
    });
    w.run(milliseconds(1));
    EXPECT_EQ(back, memory == ProdMemory::until_cede);
  }
}

// On KVM a prod that ended a sleep is still remembered, so the next H_CEDE returns spuriously.
TEST(HcallCede, AfterAWakeByProdTheNextCedeReturnsAtOnce_OnKvmOnly) {
  for (const auto memory : {ProdMemory::until_dispatch, ProdMemory::until_cede}) {
    World w({.cores = 2, .partitions = {partition(2)}, .prod_memory = memory});
    int returns = 0;
    w.body(0, [&](Vcpu& me) {
      for (;;) {
        w.hv.h_cede(me);
        ++returns;
      }
    });
    w.body(1, [&](Vcpu& me) {
      me.execution.compute(microseconds(50));
      w.hv.h_prod(me, 0);
    });
    w.run(milliseconds(1));
    EXPECT_EQ(returns, memory == ProdMemory::until_cede ? 2 : 1);
  }
}

// "Cede remaining slice preferentially to own partition": vCPU 1 overtakes the other partition's
// vCPU 0, which has waited longer, and gets exactly what is left of the slice.
TEST(HcallCede, RestOfTheSliceGoesToTheOwnPartitionFirst) {
  World w({.partitions = {partition(1), partition(2)}});
  Seat& seat = w.hv.seats()[0];
  Time end{}, inherited_end{};
  w.at(microseconds(20), [&] { w.hv.reschedule(seat); });  // 1 runs; 2, 0 wait
  w.at(microseconds(40), [&] { w.hv.reschedule(seat); });  // 2 runs; 0, 1 wait
  w.body(2, [&](Vcpu& me) {
    me.execution.compute(microseconds(10));
    end = seat.slice_end;
    w.hv.h_cede(me);
  });
  w.on_dispatch = [&](Vcpu& vcpu) {
    if (vcpu.id == 1) inherited_end = seat.slice_end;
  };
  w.run(milliseconds(1));
  EXPECT_EQ(inherited_end, end + kSwitch);
  EXPECT_EQ(w.times(0, What::dispatched).size(), 1u);
}

// Yield count: one more when it leaves, one more when it comes back (VPA dispatch counter).
TEST(HcallCede, YieldCountGrowsByOneAtEachEnd) {
  World w({.partitions = {partition(1)}});
  std::vector<std::uint32_t> counts;
  w.body(0, [&](Vcpu& me) {
    counts.push_back(w.count_of(0));
    w.hv.h_cede(me);
    counts.push_back(w.count_of(0));
    me.interrupt_pending = false;
  });
  w.at(microseconds(20), [&] {
    counts.push_back(w.count_of(0));
    w.interrupt(0);
  });
  w.run(milliseconds(1));
  EXPECT_EQ(counts, (std::vector<std::uint32_t>{2, 3, 4}));
}

TEST(HcallCede, EveryCallIsCounted) {
  World w({.partitions = {partition(1)}});
  w.body(0, [&](Vcpu& me) {
    w.hv.h_prod(me, 0);
    w.hv.h_cede(me);
  });
  w.run(milliseconds(1));
  EXPECT_EQ(w.hv.counters().cede, 2u);
}

}  // namespace
}  // namespace hv::test
