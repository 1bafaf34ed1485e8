// The queued spinlock's word: layout, and what each atomic step does to it.
#include "tests/conformance/qspinlock_rig.h"

namespace test {
namespace {

using testing::ElementsAre;

TEST(QSpinlockWord, FieldsAreWhereTheKernelHasThem) {
  EXPECT_EQ(qword::locked_by(0), 0x00000001u);
  EXPECT_EQ(qword::locked_by(0x3fff), 0x00007fffu);
  EXPECT_EQ(qword::kSleepy, 0x00008000u);
  EXPECT_EQ(qword::kMustQueue, 0x00010000u);
  EXPECT_EQ(qword::kTailMask, 0xfffe0000u);
}

TEST(QSpinlockWord, OwnerIsStoredAsItIsAndTailPlusOne) {
  EXPECT_EQ(qword::owner_of(qword::locked_by(0)), 0u);
  EXPECT_EQ(qword::encode_tail(0), 0x00020000u);
  EXPECT_EQ(qword::tail_cpu(qword::encode_tail(0)), 0u);
  EXPECT_EQ(qword::tail_cpu(qword::encode_tail(lock::kMaxCpus - 1)), lock::kMaxCpus - 1);
}

TEST(QSpinlockWord, TheWordStandsFirstAndNodesFillOneLine) {
  static_assert(std::is_standard_layout_v<Spinlock>);
  static_assert(sizeof(Node) == 24 && sizeof(Area) == lock::kLineAlign);
  Rig rig;
  ASSERT_TRUE(rig.lock.try_lock(rig.p));
  EXPECT_EQ(rig.word(), qword::locked_by(kMe));
}

TEST(QSpinlockWord, UnlockStoresOnlyTheLowHalf) {
  Rig rig;
  rig.word() =
      qword::encode_tail(kNext) | qword::kMustQueue | qword::kSleepy | qword::locked_by(kMe);
  rig.lock.unlock(rig.p);
  EXPECT_EQ(rig.word(), qword::encode_tail(kNext) | qword::kMustQueue);
  EXPECT_THAT(rig.p.log, ElementsAre("half word release =0", "note released"));
}

TEST(QSpinlockWord, TrylockPassesAQueue) {
  Rig rig;
  rig.word() = qword::encode_tail(kNext);
  EXPECT_TRUE(rig.lock.try_lock(rig.p));
  EXPECT_EQ(rig.word(), qword::encode_tail(kNext) | qword::locked_by(kMe));
}

TEST(QSpinlockWord, TrylockFailsOnMustQueueThoughUnlocked) {
  Rig rig;
  rig.word() = qword::encode_tail(kNext) | qword::kMustQueue;
  EXPECT_FALSE(rig.lock.try_lock(rig.p));
  EXPECT_EQ(rig.word(), qword::encode_tail(kNext) | qword::kMustQueue);
  EXPECT_THAT(rig.p.log, ElementsAre("refused word"));
}

TEST(QSpinlockWord, TrylockWithoutStealingFailsOnATail) {
  Rig rig;
  rig.knobs.try_lock_steal = false;
  rig.word() = qword::encode_tail(kNext);
  EXPECT_FALSE(rig.lock.try_lock(rig.p));
}

TEST(QSpinlockWord, ATailAloneCountsAsLockedAndContended) {
  Rig rig;
  EXPECT_FALSE(rig.lock.is_locked(rig.p));
  rig.word() = qword::encode_tail(0);
  EXPECT_TRUE(rig.lock.is_locked(rig.p));
  EXPECT_TRUE(rig.lock.is_contended(rig.p));
  rig.word() = qword::locked_by(0);
  EXPECT_TRUE(rig.lock.is_locked(rig.p));
  EXPECT_FALSE(rig.lock.is_contended(rig.p));
}

struct CoreRig : Rig {
  Core core{knobs, Stage::current, areas};
  std::uint32_t& word() { return *reinterpret_cast<std::uint32_t*>(&core); }
  CoreRig() { p.name(&core, "word"); }
};

TEST(QSpinlockWord, CleanTailDropsMustQueueSleepyAndStaleOwner) {
  CoreRig rig;
  rig.word() = qword::encode_tail(kMe) | qword::kMustQueue | qword::kSleepy | (5u << 1);
  rig.core.take_as_head(rig.p, qword::encode_tail(kMe));
  EXPECT_EQ(rig.word(), qword::locked_by(kMe));
}

TEST(QSpinlockWord, CleanTailKeepsAnotherTail) {
  CoreRig rig;
  rig.word() = qword::encode_tail(kNext) | qword::kMustQueue;
  rig.core.take_as_head(rig.p, qword::encode_tail(kMe));
  EXPECT_EQ(rig.word(), qword::encode_tail(kNext) | qword::locked_by(kMe));
}

TEST(QSpinlockWord, CleanTailStoresNothingWhenLocked) {
  CoreRig rig;
  const std::uint32_t before =
      qword::encode_tail(kMe) | qword::kMustQueue | qword::locked_by(kOwner);
  rig.word() = before;
  EXPECT_EQ(rig.core.take_as_head(rig.p, qword::encode_tail(kMe)), before);
  EXPECT_EQ(rig.word(), before);
  EXPECT_THAT(rig.p.log, ElementsAre("refused word"));
}

TEST(QSpinlockWord, PublishTailKeepsAllButTheTail) {
  CoreRig rig;
  const std::uint32_t low = qword::kMustQueue | qword::kSleepy | qword::locked_by(kOwner);
  rig.word() = low | qword::encode_tail(kPrev);
  EXPECT_EQ(rig.core.publish_tail(rig.p, qword::encode_tail(kMe)), low | qword::encode_tail(kPrev));
  EXPECT_EQ(rig.word(), low | qword::encode_tail(kMe));
}

TEST(QSpinlockWord, SetSleepyGivesUpOnAnyOtherWord) {
  CoreRig rig;
  rig.word() = qword::locked_by(kOwner) | qword::encode_tail(kNext);
  EXPECT_FALSE(rig.core.try_set_sleepy(rig.p, qword::locked_by(kOwner)));
  EXPECT_TRUE(rig.core.try_set_sleepy(rig.p, rig.word()));
  EXPECT_EQ(rig.word(), qword::locked_by(kOwner) | qword::encode_tail(kNext) | qword::kSleepy);
}

TEST(QSpinlockWord, OrdersAndHintsAreThoseOfTheSteps) {
  CoreRig rig;
  const std::uint32_t tail = qword::encode_tail(kMe);
  rig.core.try_lock_steal(rig.p);
  rig.core.set_must_queue(rig.p);
  rig.core.clear_must_queue(rig.p);
  rig.core.try_set_sleepy(rig.p, rig.word());
  rig.core.unlock(rig.p);
  rig.core.publish_tail(rig.p, tail);
  rig.core.take_as_head(rig.p, tail);
  EXPECT_THAT(rig.p.log, ElementsAre("update word acquire eh", "note acquired",
                                     "update word relaxed", "note must_queue",
                                     "update word relaxed", "note may_steal", "update word relaxed",
                                     "half word release =0", "note released", "update word release",
                                     "note queued", "update word acquire eh", "note acquired"));
}

TEST(QSpinlockWord, EhHintKnobTakesTheHintAway) {
  Rig rig;
  rig.knobs.eh_hint = false;
  rig.lock.try_lock(rig.p);
  EXPECT_THAT(rig.p.log, ElementsAre("update word acquire", "note acquired"));
}

}  // namespace
}  // namespace test
