// A guest that hangs or breaks is found out, and the story names who holds, who waits, since when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/model/guest_rig.h"

namespace sim {
namespace {

using testing::HasSubstr;

// Runs, expects the failure, returns its story.
std::string story_of(GuestRig& rig, GuestFailure::Kind kind, Time end = milliseconds(100)) {
  try {
    rig.run(end);
  } catch (const GuestFailure& failure) {
    EXPECT_EQ(failure.kind(), kind) << failure.what();
    return failure.what();
  }
  ADD_FAILURE() << "the guest did not fail";
  return "";
}

TEST(GuestFailure, TwoLocksInOppositeOrderAreADeadlock) {
  GuestRig rig(2);
  GuestLock& a = rig.add_lock("a");
  GuestLock& b = rig.add_lock("b");
  rig.body(0, [&](SimPlatform& p, Execution& e) {
    rig.lock(p, a);
    e.compute(microseconds(10));
    rig.lock(p, b);
  });
  rig.body(1, [&](SimPlatform& p, Execution& e) {
    rig.lock(p, b);
    e.compute(microseconds(10));
    rig.lock(p, a);
  });
  const std::string story = story_of(rig, GuestFailure::Kind::deadlock);
  EXPECT_THAT(story, HasSubstr("vCPU 0 waits for \"b\", which vCPU 1 owns"));
  EXPECT_THAT(story, HasSubstr("vCPU 1 waits for \"a\", which vCPU 0 owns"));
  EXPECT_THAT(story, HasSubstr("lock \"a\": held by vCPU 0 since 0.000"));
}

TEST(GuestFailure, AcquiringALockTwiceIsADeadlock) {
  GuestRig rig(1);
  GuestLock& a = rig.add_lock("a");
  rig.body(0, [&](SimPlatform& p, Execution&) {
    rig.lock(p, a);
    rig.lock(p, a);
  });
  EXPECT_THAT(story_of(rig, GuestFailure::Kind::deadlock),
              HasSubstr("vCPU 0 waits for \"a\", which vCPU 0 owns"));
}

TEST(GuestFailure, AnOwnerThatSleepsForEverIsALivelock) {
  GuestRig rig(2);
  GuestLock& a = rig.add_lock("a", "ticket");
  rig.body(0, [&](SimPlatform& p, Execution&) { rig.lock(p, a); });  // cedes as owner
  rig.body(1, [&](SimPlatform& p, Execution& e) {
    e.compute(microseconds(50));
    rig.lock(p, a);
  });
  rig.every(milliseconds(1), [&] { rig.monitor.check_progress(milliseconds(5), false); });
  const std::string story = story_of(rig, GuestFailure::Kind::livelock);
  EXPECT_THAT(story, HasSubstr("held by vCPU 0"));
  EXPECT_THAT(story, HasSubstr("ceded"));
  EXPECT_THAT(story, HasSubstr("vCPU 1 waits since 0.00005"));
}

TEST(GuestFailure, ALongCriticalSectionIsNone) {
  GuestRig rig(2);
  GuestLock& a = rig.add_lock("a");
  rig.body(0, [&](SimPlatform& p, Execution& e) {
    rig.lock(p, a);
    e.compute(milliseconds(50));
    rig.unlock(p, a);
  });
  rig.body(1, [&](SimPlatform& p, Execution& e) {
    e.compute(microseconds(50));
    rig.lock(p, a);
    rig.unlock(p, a);
  });
  rig.every(milliseconds(1), [&] { rig.monitor.check_progress(milliseconds(5), false); });
  EXPECT_NO_THROW(rig.run(milliseconds(100)));
  EXPECT_EQ(rig.monitor.finish(rig.engine.now()).at(0).acquisitions, 2u);
}

TEST(GuestFailure, NobodyLeftToRunIsADeadlock) {
  GuestRig rig(2);
  GuestLock& a = rig.add_lock("a");
  for (std::uint32_t cpu = 0; cpu < 2; ++cpu)
    rig.body(cpu, [&](SimPlatform& p, Execution& e) {
      e.compute(microseconds(10 * (p.vcpu().cpu + 1)));
      if (p.vcpu().cpu == 1) {
        rig.monitor.wait_begins(p.vcpu(), *a.monitor);  // and sleeps instead: a lost wake-up
      }
    });
  rig.every(milliseconds(1), [&] { rig.monitor.check_progress(seconds(1), true); });
  EXPECT_THAT(story_of(rig, GuestFailure::Kind::deadlock), HasSubstr("none ever will"));
}

// Lets everybody in.
class NoLock final : public GuestLock {
 public:
  lock::Path lock(SimPlatform& p) override {
    p.note(this, lock::Note::acquired);
    return lock::Path::fast;
  }
  void unlock(SimPlatform& p) override { p.note(this, lock::Note::released); }
  bool strict_fifo() const override { return false; }
  bool queues() const override { return false; }
  const void* address() const override { return this; }
};

TEST(GuestFailure, TwoOwnersAtOnceBreakMutualExclusion) {
  GuestRig rig(2);
  GuestLock& a = rig.adopt("a", std::make_unique<NoLock>());
  for (std::uint32_t cpu = 0; cpu < 2; ++cpu)
    rig.body(cpu, [&](SimPlatform& p, Execution& e) {
      rig.lock(p, a);
      e.compute(microseconds(10));
      rig.unlock(p, a);
    });
  EXPECT_THAT(story_of(rig, GuestFailure::Kind::broken_exclusion),
              HasSubstr("vCPU 1 acquired it while vCPU 0 owned it"));
}

TEST(GuestFailure, ReleasingWhatOneDoesNotOwnBreaksMutualExclusion) {
  GuestRig rig(1);
  GuestLock& a = rig.adopt("a", std::make_unique<NoLock>());
  rig.body(0, [&](SimPlatform& p, Execution&) { rig.unlock(p, a); });
  EXPECT_THAT(story_of(rig, GuestFailure::Kind::broken_exclusion), HasSubstr("nobody"));
}

// On x86 a locked instruction holds its line: however many contend, each one succeeds.
TEST(SimPlatform, AnExclusiveAtomicIsNeverLostToAContender) {
  for (const char* profile : {"epyc", "xeon", "power9"}) {
    GuestRig rig(16, 0, profile);
    auto& word = *rig.machine.memory().make<SimPlatform::Atomic<std::uint32_t>>(0);
    for (std::uint32_t cpu = 0; cpu < 16; ++cpu)
      rig.body(cpu, [&](SimPlatform& p, Execution&) {
        for (int i = 0; i < 100; ++i)
          p.update(
              word, [](std::uint32_t old) { return std::optional(old + 1); },
              std::memory_order_relaxed, lock::Hint::none);
      });
    rig.run(milliseconds(20));
    EXPECT_EQ(word.value, 1600u) << profile;
    std::uint64_t lost = 0;
    for (const hv::Vcpu& vcpu : rig.hypervisor.vcpus())
      lost += vcpu.execution.counters().reservations_lost;
    EXPECT_EQ(lost > 0, std::string(profile) == "power9") << profile;
  }
}

// Oversubscribed, a vCPU may lose its CPU while the line travels to it; the line goes on.
TEST(SimPlatform, AtomicsOfPreemptedVcpusAreNeitherLostNorDoubled) {
  for (const char* profile : {"epyc", "power9"}) {
    GuestRig rig(16, 4, profile);
    auto& word = *rig.machine.memory().make<SimPlatform::Atomic<std::uint32_t>>(0);
    for (std::uint32_t cpu = 0; cpu < 16; ++cpu)
      rig.body(cpu, [&](SimPlatform& p, Execution&) {
        for (int i = 0; i < 20000; ++i)
          p.update(
              word, [](std::uint32_t old) { return std::optional(old + 1); },
              std::memory_order_relaxed, lock::Hint::none);
      });
    rig.run(seconds(2));
    EXPECT_EQ(word.value, 16u * 20000u) << profile;
  }
}

}  // namespace
}  // namespace sim
