// The head of the queue: its budget, MUST_Q, taking the word and handing the queue over.
#include "tests/conformance/qspinlock_rig.h"

namespace test {
namespace {

using testing::ElementsAre;

class QSpinlockHead : public BothSpeeds {
 protected:
  QSpinlockHead() {
    rig.p.skip = GetParam();
    rig.no_stealing();
  }
  Rig rig;
};
INSTANTIATE_TEST_SUITE_P(, QSpinlockHead, testing::Bool());

TEST_P(QSpinlockHead, AnEmptyQueueMakesItHeadAtOnce) {
  rig.held_by(kOwner);
  rig.p.at_turn(5, [&] { rig.release(); });
  EXPECT_EQ(rig.lock.lock(rig.p), Path::head);
  EXPECT_EQ(rig.word(), qword::locked_by(kMe));
  EXPECT_EQ(rig.p.turns, 5u);
  EXPECT_EQ(rig.p.depth(), 0);
  EXPECT_THAT(rig.p.notes(), ElementsAre("queued", "head", "acquired"));
  EXPECT_EQ(rig.p.find("store next.locked"), rig.p.log.size());
}

TEST_P(QSpinlockHead, SetsMustQueueAfterHeadSpins) {
  rig.held_by(kOwner);
  EXPECT_EQ(rig.turns_before_must_queue(), 256u);
  EXPECT_THAT(rig.p.notes(), ElementsAre("queued", "head", "must_queue", "acquired"));
}

TEST_P(QSpinlockHead, WaitsLongerWhenTheLockIsSleepy) {
  rig.held_by(kOwner, qword::kSleepy);
  EXPECT_EQ(rig.turns_before_must_queue(), 65536u);
}

TEST_P(QSpinlockHead, DoesNotInheritSleepyFromTheStealLoop) {
  rig.knobs.steal_spins = 4;
  rig.held_by(kOwner, qword::kSleepy);
  rig.p.at_turn(4 * 256, [&] { rig.held_by(kOwner); });
  EXPECT_EQ(rig.turns_before_must_queue(), 256u);
}

TEST_P(QSpinlockHead, StaysSleepyOnceItWas) {
  rig.held_by(kOwner, qword::kSleepy);
  rig.p.at_turn(1, [&] { rig.held_by(kOwner); });
  EXPECT_EQ(rig.turns_before_must_queue(), 65536u);
}

TEST_P(QSpinlockHead, BudgetSurvivesBeingRobbed) {
  rig.held_by(kOwner);
  bool robbed = false;
  rig.p.at_turn(200, [&] { rig.release(); });
  rig.p.before = [&](const std::string& line) {
    if (line == "try word" && rig.p.turns == 200 && !std::exchange(robbed, true)) rig.held_by(5);
    if (line == "note must_queue") {
      EXPECT_EQ(rig.p.turns, 256u);
      rig.release();
    }
  };
  EXPECT_EQ(rig.lock.lock(rig.p), Path::head);
  EXPECT_TRUE(robbed);
}

TEST_P(QSpinlockHead, SetsMustQueueOnceAnAttemptEvenIfRobbedAfterwards) {
  rig.held_by(kOwner);
  rig.p.at_turn(300, [&] { rig.release(); });
  rig.p.at_turn(2000, [&] { rig.release(); });
  rig.p.before = [&](const std::string& line) {
    // A thief that slipped in before the head's own update; the word has lost MUST_Q to it.
    if (line == "try word" && rig.p.turns == 300) {
      rig.word() = qword::encode_tail(kMe) | qword::locked_by(5);
    }
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.turns, 2000u);
  EXPECT_EQ(rig.p.count("note must_queue"), 1u);
}

TEST_P(QSpinlockHead, TheNextAttemptStartsWithAFullBudget) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    rig.held_by(kOwner);
    EXPECT_EQ(rig.turns_before_must_queue(), 256u);
    rig.lock.unlock(rig.p);
    EXPECT_EQ(rig.word(), 0u);
  }
}

TEST_P(QSpinlockHead, AllowsStealingOnlyWhileItConfers) {
  rig.knobs.pv_yield_allow_steal = true;
  rig.held_by(kOwner, qword::kSleepy | qword::kMustQueue);
  rig.preempt(kOwner);
  rig.p.before = [&](const std::string& line) {
    if (line == "confer 2@5") {
      EXPECT_FALSE(qword::must_queue(rig.word()));
      rig.release();
    }
  };
  rig.lock.lock(rig.p);
  EXPECT_THAT(rig.p.notes(), ElementsAre("queued", "head", "may_steal", "must_queue", "acquired"));
  EXPECT_EQ(rig.word(), qword::locked_by(kMe));
}

TEST_P(QSpinlockHead, KeepsMustQueueWhileItConfersByDefault) {
  rig.held_by(kOwner, qword::kSleepy | qword::kMustQueue);
  rig.preempt(kOwner);
  rig.p.before = [&](const std::string& line) {
    if (line == "confer 2@5") rig.release();
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("note may_steal"), 0u);
}

TEST_P(QSpinlockHead, TellsItsSuccessorThatTheOwnerIsPreempted) {
  rig.held_by(kOwner, qword::kSleepy);
  rig.p.preempted[kOwner] = true;  // the counter reads even again: told, but not conferred to
  rig.p.before = [&](const std::string& line) {
    if (line == "note head") rig.queue_next();
    if (line == "store next.sleepy relaxed =1")
      rig.p.at_turn(rig.p.turns + 3, [&] { rig.release(); });
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("store next.sleepy"), 1u);
  EXPECT_EQ(rig.p.count("confer"), 0u);
}

TEST_P(QSpinlockHead, DoesNotPassOnARawCount) {
  rig.held_by(kOwner, qword::kSleepy);
  rig.p.counts[kOwner] = 5;  // idle: worth a confer, but no preemption to tell of
  rig.p.before = [&](const std::string& line) {
    if (line == "note head") rig.queue_next();
    if (line == "confer 2@5") rig.release();
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("store next.sleepy"), 0u);
  EXPECT_EQ(rig.p.count("confer"), 1u);
}

TEST_P(QSpinlockHead, HandsTheQueueOverWhileItHoldsTheLock) {
  rig.held_by(kOwner);
  rig.p.before = [&](const std::string& line) {
    if (line == "note head") rig.queue_next(), rig.release();
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.word(), qword::locked_by(kMe) | qword::encode_tail(kNext));
  EXPECT_EQ(rig.next().locked.value, 1u);
  EXPECT_LT(rig.p.find("note acquired"), rig.p.find("store next.locked relaxed =1"));
  EXPECT_EQ(rig.p.count("prod"), 0u);
}

TEST_P(QSpinlockHead, WaitsForALinkWithoutAnyYield) {
  rig.held_by(kOwner);
  rig.preempt(kNext);
  rig.p.before = [&](const std::string& line) {
    if (line == "note head") rig.queue_next(), rig.mine().next.value = nullptr, rig.release();
    if (line == "note acquired") {
      EXPECT_EQ(rig.p.depth(), 0);
      rig.p.at_turn(rig.p.turns + 40, [&] { rig.mine().next.value = &rig.next(); });
    }
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.turns, 40u);
  EXPECT_EQ(rig.p.count("confer"), 0u);
  EXPECT_EQ(rig.next().locked.value, 1u);
}

TEST_P(QSpinlockHead, ProdsTheNextOnlyIfPreemptedAndReadsItsCpuFirst) {
  for (const bool off : {false, true}) {
    Rig r;
    r.no_stealing();
    r.knobs.pv_prod_head = true;
    r.held_by(kOwner);
    r.p.counts[kNext] = 5;  // the raw count does not matter here
    r.p.preempted[kNext] = off;
    r.p.before = [&](const std::string& line) {
      if (line == "note head") r.queue_next(), r.release();
    };
    r.lock.lock(r.p);
    const auto read = r.p.find("load next.cpu");
    const auto stored = r.p.find("store next.locked");
    const auto asked = r.p.find("preempted? 4", stored);
    EXPECT_LT(read, stored);
    EXPECT_LT(stored, asked);
    EXPECT_LT(asked, r.p.log.size());
    EXPECT_EQ(r.p.count("prod 4"), off ? 1u : 0u);
  }
}

TEST_P(QSpinlockHead, LeavesACleanNodeBehind) {
  rig.held_by(kOwner);
  rig.p.at_turn(1, [&] { rig.release(); });
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.areas[kMe].count.value, 0u);
  EXPECT_EQ(rig.mine().lock.value, nullptr);
}

}  // namespace
}  // namespace test
