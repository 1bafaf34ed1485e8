// The queued spinlock, every stage of it, on real threads.
#include "lock/qspinlock.h"
#include "tests/conformance/lock_client.h"
#include "tests/conformance/stages.h"

namespace test {
namespace {

using lock::Stage;

struct Maker {
  template <class P>
  using Lock = lock::QSpinlock<P>;
  template <class P>
  std::unique_ptr<Lock<P>> make(std::span<typename Lock<P>::CpuArea> areas) {
    return std::make_unique<Lock<P>>(knobs, stage, areas);
  }
  template <class Areas>
  void expect_clean(const Areas& areas) {
    for (const auto& area : areas) {
      EXPECT_EQ(area.count.value.load(), 0u);
      if (stage < Stage::current) continue;
      for (const auto& node : area.nodes) EXPECT_EQ(node.lock.value.load(), nullptr);
    }
  }
  Stage stage;
  lock::QSpinlockKnobs knobs{};
};

// Few tries and every mechanism, so that the queue and the confers are busy.
lock::QSpinlockKnobs busy_knobs() {
  lock::QSpinlockKnobs knobs;
  knobs.steal_spins = 2;
  knobs.remote_steal_spins = 1;
  knobs.head_spins = 4;
  knobs.pv_sleepy_lock_factor = 2;
  knobs.pv_yield_allow_steal = true;
  knobs.pv_sleepy_lock_sticky = true;
  knobs.pv_sleepy_lock_interval_ns = 1000;
  knobs.pv_prod_head = true;
  return knobs;
}

using Param = std::tuple<Stage, CpuId>;

class NativeQSpinlock : public testing::TestWithParam<Param> {
 protected:
  Stage stage() const { return std::get<0>(GetParam()); }
  CpuId cpus() const { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(, NativeQSpinlock,
                         testing::Combine(testing::ValuesIn(stages()), testing::Values(1, 2, 4, 8)),
                         [](const testing::TestParamInfo<Param>& param) {
                           return std::string(lock::stage_name(std::get<0>(param.param))) + "_" +
                                  std::to_string(std::get<1>(param.param));
                         });

TEST_P(NativeQSpinlock, Excludes) {
  expect_mutual_exclusion(Maker{stage()}, cpus(), 500);
}
TEST_P(NativeQSpinlock, ExcludesWithEveryMechanismOn) {
  expect_mutual_exclusion(Maker{stage(), busy_knobs()}, cpus(), 500);
}
TEST_P(NativeQSpinlock, Tries) {
  expect_trylock(Maker{stage()}, cpus(), 400);
}
TEST_P(NativeQSpinlock, Nests) {
  expect_nesting(Maker{stage(), busy_knobs()}, cpus(), 4, 100);
}

// Interrupts that come while a CPU waits, each waiting for a further lock: more than it has nodes.
class NativeQSpinlockNodes : public testing::TestWithParam<Stage> {};
INSTANTIATE_TEST_SUITE_P(, NativeQSpinlockNodes, testing::ValuesIn(stages()), stage_param);

TEST_P(NativeQSpinlockNodes, AFifthContextSpinsWithoutANode) {
  constexpr std::size_t kDepth = lock::kMaxNesting + 2;
  lock::NativeMachine machine(2);
  Maker maker{GetParam()};
  maker.knobs.steal_spins = 0;
  Bench<Maker> bench(maker, 2, kDepth);
  std::array<Path, kDepth> paths{};
  std::atomic<std::size_t> waiting{0};
  on_cpus(machine, false, [&](RecordingPlatform& p) {
    if (p.processor_id() == 0) {
      for (auto& lock : bench.locks) lock->lock(p);
      waiting = 1;
      while (waiting != kDepth + 1) p.relax(1);
      for (auto& lock : bench.locks) lock->unlock(p);
      return;
    }
    while (waiting == 0) p.relax(1);
    std::function<void(std::size_t, RecordingPlatform&)> nest = [&](std::size_t level,
                                                                    RecordingPlatform& cpu) {
      cpu.interrupt = [&, level](RecordingPlatform& in) {
        ++waiting;
        if (level + 1 < kDepth) nest(level + 1, in);
      };
      paths[level] = bench.locks[level]->lock(cpu);
      bench.locks[level]->unlock(cpu);
    };
    nest(0, p);
  });
  const Path with_node = GetParam() == Stage::simple_word ? Path::steal : Path::head;
  for (std::size_t level = 0; level < kDepth; ++level) {
    EXPECT_EQ(paths[level], level < lock::kMaxNesting ? with_node : Path::steal) << level;
  }
  maker.expect_clean(bench.areas);
}

TEST(NativeMachine, CountsAreEvenWhileDispatchedAndConfersEnd) {
  lock::NativeMachine machine(2);
  lock::NativePlatform p(machine, 0);
  EXPECT_EQ(p.yield_count_of(1), 0u);
  machine.preempt(1);
  machine.preempt(1);
  EXPECT_EQ(p.yield_count_of(1), 1u);
  EXPECT_TRUE(p.vcpu_is_preempted(1));
  machine.set_idle(1, true);
  EXPECT_FALSE(p.vcpu_is_preempted(1));
  p.yield_to_preempted(1, 3);  // a stale count is no confer
  EXPECT_EQ(machine.confers(), 0u);
  p.yield_to_preempted(1, 1);
  p.prod(1);
  EXPECT_EQ(machine.confers(), 1u);
  EXPECT_EQ(machine.prods(), 1u);
  machine.dispatch(1);
  EXPECT_EQ(p.yield_count_of(1), 2u);
}

TEST(NativePlatform, LowHalfIsTheHalfOfTheLowBits) {
  lock::NativeMachine machine(1);
  lock::NativePlatform p(machine, 0);
  lock::NativePlatform::Atomic<std::uint32_t> word;
  p.store(word, 0x1234'5678u, std::memory_order_relaxed);
  p.store_low_half(word, 0x9abc, std::memory_order_release);
  EXPECT_EQ(p.load(word, std::memory_order_relaxed), 0x1234'9abcu);
}

}  // namespace
}  // namespace test
