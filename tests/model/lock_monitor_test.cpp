// What is measured of a lock, on stories whose figures are worked out by hand, and on random ones
// against a naive implementation written from the definitions alone.
#include "sim/measure/lock_monitor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "sim/engine/random.h"

namespace sim {
namespace {

using lock::Note;

// Tells the monitor one event after the other; a CPU is dispatched unless told otherwise.
struct Story {
  explicit Story(std::uint32_t cpus, bool strict = true)
      : monitor("hot", "test", "guest", cpus, strict, true) {}

  void wait(std::uint32_t cpu, int at_us) { monitor.wait_begins(cpu, microseconds(at_us)); }
  void note(std::uint32_t cpu, Note note, int at_us) {
    monitor.note(cpu, note, microseconds(at_us));
  }
  void preempt(std::uint32_t cpu, int at_us) {
    monitor.dispatch_changed(cpu, false, false, true, microseconds(at_us));
  }
  void dispatch(std::uint32_t cpu, int at_us) {
    monitor.dispatch_changed(cpu, true, monitor.waits(cpu), false, microseconds(at_us));
  }
  LockResult finish(int at_us) { return monitor.finish(microseconds(at_us)); }

  LockMonitor monitor;
};

TEST(LockMonitor, MeasuresWaitHoldAndHandOver) {
  Story s(2);
  s.wait(0, 0);
  s.note(0, Note::acquired, 1);
  s.monitor.path(0, lock::Path::fast);
  s.wait(1, 3);
  s.note(1, Note::queued, 4);
  s.note(0, Note::released, 10);
  s.note(1, Note::acquired, 12);
  s.monitor.path(1, lock::Path::queued);
  s.note(1, Note::released, 20);  // to nobody
  s.wait(0, 25);
  s.note(0, Note::acquired, 27);
  const LockResult r = s.finish(30);
  EXPECT_EQ(r.acquisitions, 2u);  // the third isn't complete
  EXPECT_EQ(r.paths, (std::array<std::uint64_t, 4>{1, 0, 0, 1}));
  EXPECT_EQ(r.wait.min_ns(), 1000);  // 0 -> 1
  EXPECT_EQ(r.wait.max_ns(), 9000);  // 3 -> 12
  EXPECT_EQ(r.hold.min_ns(), 8000);  // 12 -> 20
  EXPECT_EQ(r.hold.max_ns(), 9000);  // 1 -> 10
  // Only the first release had somebody waiting: 10 -> 12.
  EXPECT_EQ(r.handover.count(), 1u);
  EXPECT_EQ(r.handover.max_ns(), 2000);
  EXPECT_EQ(r.stalls, 0u);
}

TEST(LockMonitor, AHolderStallLastsWhileSomebodyWantsTheLockAndItsOwnerIsGone) {
  Story s(3);
  s.wait(0, 0);
  s.note(0, Note::acquired, 0);
  s.preempt(0, 10);  // nobody wants it yet: no stall
  s.wait(1, 20);
  s.wait(2, 30);
  s.dispatch(0, 50);
  s.note(0, Note::released, 51);
  const LockResult r = s.finish(60);
  EXPECT_EQ(r.stalls, 1u);
  EXPECT_EQ(r.stalls_by_cause, (std::array<std::uint64_t, 3>{1, 0, 0}));
  EXPECT_EQ(r.stall_total, microseconds(30));  // 20 -> 50
  EXPECT_EQ(r.stall_cost, microseconds(50));   // CPU 1: 30, CPU 2: 20
  EXPECT_EQ(r.holder_preemptions, 1u);
  EXPECT_EQ(r.wrecks, 0u);  // one stall is no wreck
}

TEST(LockMonitor, AHeadLostItsCpuAtTheFront_AWaiterFurtherBack) {
  Story s(4);
  s.wait(0, 0);
  s.note(0, Note::acquired, 0);
  for (std::uint32_t cpu = 1; cpu < 4; ++cpu) {
    s.wait(cpu, static_cast<int>(cpu));
    s.note(cpu, Note::queued, static_cast<int>(cpu));
  }
  s.preempt(1, 10);               // at the front
  s.preempt(2, 10);               // behind it
  s.note(0, Note::released, 20);  // stall, cause head, three wait, CPU 3 spins
  s.dispatch(1, 30);
  s.note(1, Note::acquired, 30);
  s.note(1, Note::released, 40);  // stall, cause waiter, two wait
  s.dispatch(2, 55);
  s.note(2, Note::acquired, 55);
  s.note(2, Note::released, 56);
  s.note(3, Note::acquired, 57);  // drained
  s.note(3, Note::released, 58);
  const LockResult r = s.finish(60);
  EXPECT_EQ(r.stalls_by_cause, (std::array<std::uint64_t, 3>{0, 1, 1}));
  EXPECT_EQ(r.stall_total, microseconds(10 + 15));
  EXPECT_EQ(r.stall_cost, microseconds(10 + 15));
  EXPECT_EQ(r.waiter_preemptions, 2u);
  EXPECT_EQ(r.longest_bypass, 0u);  // those who were served before had come before
  ASSERT_EQ(r.wrecks, 1u);
  EXPECT_EQ(r.wreck_longest, microseconds(35));  // 20 -> 55
  EXPECT_EQ(r.wreck_deepest, 3u);
  EXPECT_EQ(r.wreck_longest_chain, 2u);
  const auto& chain = r.worst.at(0).chain;
  ASSERT_EQ(chain.size(), 2u);
  EXPECT_EQ(chain[0].vcpu, 1u);
  EXPECT_EQ(chain[0].waiters, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(chain[1].vcpu, 2u);
  EXPECT_EQ(chain[1].start, microseconds(40));
}

TEST(LockMonitor, AStallIsAsDeepAsItGets) {
  Story s(5);
  s.wait(0, 0);
  s.note(0, Note::acquired, 0);
  s.wait(1, 1);
  for (int t : {10, 20}) {  // two stalls; in the first the waiters grow from one to three
    s.preempt(0, t);
    if (t == 10) s.wait(2, 12), s.wait(3, 14);
    s.dispatch(0, t + 5);
  }
  const LockResult r = s.finish(30);
  ASSERT_EQ(r.wrecks, 1u);
  EXPECT_EQ(r.wreck_deepest, 3u);
  EXPECT_EQ(r.worst.at(0).chain.at(0).depth, 3u);
  EXPECT_EQ(r.worst.at(0).chain.at(0).waiters, (std::vector<std::uint32_t>{1}));
}

TEST(LockMonitor, AQueueThatDrainsBetweenTwoStallsEndsTheRun) {
  Story s(2);
  for (int i = 0; i < 2; ++i) {
    const int t = 100 * i;
    s.wait(0, t);
    s.note(0, Note::acquired, t);
    s.wait(1, t + 1);
    s.preempt(0, t + 2);
    s.dispatch(0, t + 12);
    s.note(0, Note::released, t + 13);
    s.note(1, Note::acquired, t + 14);
    s.note(1, Note::released, t + 15);
  }
  const LockResult r = s.finish(300);
  EXPECT_EQ(r.stalls, 2u);
  EXPECT_EQ(r.wrecks, 0u);
}

TEST(LockMonitor, AFreeLockThatMayBeStolenHasNoTurnUnlessTheHeadForbidsIt) {
  Story s(2, false);
  s.wait(0, 0);
  s.note(0, Note::acquired, 0);
  s.wait(1, 1);
  s.note(1, Note::queued, 1);
  s.preempt(1, 2);
  s.note(0, Note::released, 10);
  EXPECT_EQ(s.monitor.turn(), kNobody);
  s.note(1, Note::must_queue, 20);
  EXPECT_EQ(s.monitor.turn(), 1u);
  s.dispatch(1, 25);
  const LockResult r = s.finish(30);
  EXPECT_EQ(r.stall_total, microseconds(5));
  EXPECT_EQ(r.stalls_by_cause, (std::array<std::uint64_t, 3>{0, 1, 0}));
}

TEST(LockMonitor, CountsHowOftenAWaiterWasOvertakenByLaterArrivals) {
  Story s(3, false);
  s.wait(0, 0);
  s.note(0, Note::acquired, 0);
  s.wait(1, 1);
  for (int i = 0; i < 3; ++i) {  // CPU 2 arrives after CPU 1 and passes it three times
    s.wait(2, 10 * i + 2);
    s.note(i == 0 ? 0 : 2, Note::released, 10 * i + 3);
    s.note(2, Note::acquired, 10 * i + 4);
    if (i < 2)
      s.note(2, Note::released, 10 * i + 5), s.wait(0, 10 * i + 6),
          s.note(0, Note::acquired, 10 * i + 7), s.note(0, Note::released, 10 * i + 8),
          s.wait(2, 10 * i + 8), s.note(2, Note::acquired, 10 * i + 9);
  }
  s.note(2, Note::released, 40);
  s.note(1, Note::acquired, 41);
  s.note(1, Note::released, 42);
  // After CPU 1 came: CPU 2 at 4, 0 at 7, 2 at 9, 2 at 14, 0 at 17, 2 at 19, 2 at 24.
  EXPECT_EQ(s.finish(50).longest_bypass, 7u);
}

TEST(LockMonitor, FairnessIsOverTheVcpusThatUseTheLock) {
  Story s(4);
  for (int i = 0; i < 4; ++i) {  // CPU 0 three times, CPU 1 once; 2 and 3 never ask
    const std::uint32_t cpu = i == 3 ? 1 : 0;
    s.wait(cpu, 10 * i);
    s.note(cpu, Note::acquired, 10 * i);
    s.note(cpu, Note::released, 10 * i + 1);
  }
  const LockResult r = s.finish(100);
  EXPECT_DOUBLE_EQ(r.max_min_ratio, 3.0);
  EXPECT_DOUBLE_EQ(r.jain, 16.0 / (2 * 10));  // (3 + 1)² / (2 · (9 + 1))
}

TEST(LockMonitor, AWaiterThatNeverGotItMakesTheRatioInfinite) {
  Story s(2);
  s.wait(0, 0);
  s.note(0, Note::acquired, 0);
  s.wait(1, 1);
  s.note(0, Note::released, 2);
  EXPECT_EQ(s.finish(10).max_min_ratio, std::numeric_limits<double>::infinity());
}

// Random stories of a strictly FIFO lock: every microsecond one thing happens. The naive side keeps
// the whole state and walks every microsecond.
TEST(LockMonitor, AgreesWithTheDefinitionsOnRandomStories) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    constexpr std::uint32_t kCpus = 5;
    constexpr int kEnd = 400;
    Random random(seed, "story");
    Story s(kCpus);
    std::vector<bool> dispatched(kCpus, true);
    std::vector<std::uint32_t> queue;  // who wants it, in order of arrival
    std::uint32_t owner = kNobody;

    std::uint64_t stalls = 0, wrecks = 0, run = 0, chain = 0;
    std::int64_t length = 0, cost = 0, holder = 0;
    bool stalled = false;
    for (int t = 0; t < kEnd; ++t) {
      const auto cpu = static_cast<std::uint32_t>(random.below(kCpus));
      const bool waits = std::ranges::find(queue, cpu) != queue.end();
      if (random.below(3) == 0) {
        dispatched[cpu] = !dispatched[cpu];
        dispatched[cpu] ? s.dispatch(cpu, t) : s.preempt(cpu, t);
      } else if (!dispatched[cpu]) {
        // does nothing
      } else if (owner == cpu) {
        s.note(cpu, Note::released, t);
        owner = kNobody;
      } else if (!waits) {
        s.wait(cpu, t);
        s.note(cpu, Note::queued, t);
        queue.push_back(cpu);
      } else if (owner == kNobody && queue.front() == cpu) {
        s.note(cpu, Note::acquired, t);
        queue.erase(queue.begin());
        owner = cpu;
      }
      // The microsecond that begins now.
      const std::uint32_t turn = owner != kNobody ? owner : queue.empty() ? kNobody : queue.front();
      const bool now = !queue.empty() && turn != kNobody && !dispatched[turn];
      if (queue.empty()) {
        wrecks += run >= 2;
        chain = std::max(chain, run >= 2 ? run : 0);
        run = 0;
      }
      if (now && !stalled) {
        ++stalls;
        ++run;
        holder += turn == owner;
      }
      stalled = now;
      if (!now) continue;
      ++length;
      cost += std::ranges::count_if(queue, [&](std::uint32_t c) { return dispatched[c]; });
    }
    wrecks += run >= 2;
    chain = std::max(chain, run >= 2 ? run : 0);

    const LockResult r = s.finish(kEnd);
    SCOPED_TRACE("seed " + std::to_string(seed));
    EXPECT_EQ(r.stalls, stalls);
    EXPECT_EQ(r.stall_total, microseconds(length));
    EXPECT_EQ(r.stall_cost, microseconds(cost));
    EXPECT_EQ(r.stalls_by_cause[0], static_cast<std::uint64_t>(holder));
    EXPECT_EQ(r.wrecks, wrecks);
    EXPECT_EQ(r.wreck_longest_chain, chain);
  }
}

}  // namespace
}  // namespace sim
