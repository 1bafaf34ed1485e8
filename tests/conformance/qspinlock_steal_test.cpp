// The loop in which a newcomer tries to steal, and its confers to the owner.
#include "tests/conformance/qspinlock_rig.h"

namespace test {
namespace {

using testing::ElementsAre;

class QSpinlockSteal : public BothSpeeds {
 protected:
  QSpinlockSteal() { rig.p.skip = GetParam(); }
  Rig rig;
};
INSTANTIATE_TEST_SUITE_P(, QSpinlockSteal, testing::Bool());

TEST_P(QSpinlockSteal, UncontendedTakesTheFastPath) {
  EXPECT_EQ(rig.lock.lock(rig.p), Path::fast);
  EXPECT_THAT(rig.p.log, ElementsAre("update word acquire eh", "note acquired"));
}

TEST_P(QSpinlockSteal, StealsWhenTheOwnerLetsGo) {
  rig.held_by(kOwner);
  rig.p.at_turn(10, [&] { rig.release(); });
  EXPECT_EQ(rig.lock.lock(rig.p), Path::steal);
  EXPECT_EQ(rig.p.turns, 10u);
  EXPECT_EQ(rig.p.depth(), 0);
  EXPECT_THAT(rig.p.notes(), ElementsAre("acquired"));
}

TEST_P(QSpinlockSteal, GivesUpAfterStealSpins) {
  rig.held_by(kOwner);
  EXPECT_EQ(rig.turns_before_queueing(), 32u);
}

TEST_P(QSpinlockSteal, GivesUpSoonerOnARemoteOwner) {
  rig.held_by(kOwner);
  rig.p.nodes[kOwner] = 1;
  EXPECT_EQ(rig.turns_before_queueing(), 4u);
}

TEST_P(QSpinlockSteal, TriesLongerOnASleepyLock) {
  rig.held_by(kOwner, qword::kSleepy);
  EXPECT_EQ(rig.turns_before_queueing(), 8192u);
}

TEST_P(QSpinlockSteal, ScalesTheRemoteLimitToo) {
  rig.held_by(kOwner, qword::kSleepy);
  rig.p.nodes[kOwner] = 1;
  EXPECT_EQ(rig.turns_before_queueing(), 1024u);
}

TEST_P(QSpinlockSteal, ReadsTheFactorOnlyWhenShared) {
  rig.p.shared = false;
  rig.held_by(kOwner, qword::kSleepy);
  EXPECT_EQ(rig.turns_before_queueing(), 32u);
  EXPECT_EQ(rig.p.count("count"), 0u);
}

TEST_P(QSpinlockSteal, RemoteLimitIsJudgedAnewEachTurn) {
  rig.held_by(kOwner);
  rig.p.nodes[5] = 1;
  rig.p.at_turn(10, [&] { rig.held_by(5); });
  // The turn that meets the remote owner is its last: ten turns are more than four already.
  EXPECT_EQ(rig.turns_before_queueing(), 11u);
}

TEST_P(QSpinlockSteal, ZeroStealSpinsProbesNothing) {
  rig.no_stealing();
  rig.held_by(kOwner);
  rig.turns_before_queueing();
  EXPECT_EQ(rig.p.find("load word") > rig.p.find("update word release"), true);
}

TEST_P(QSpinlockSteal, ProbesAtLeastOnce) {
  rig.knobs.remote_steal_spins = 0;
  rig.p.nodes[kOwner] = 1;
  rig.held_by(kOwner);
  EXPECT_EQ(rig.turns_before_queueing(), 1u);
}

TEST_P(QSpinlockSteal, MustQueueIsLookedAtBeforeLocked) {
  rig.word() = qword::kMustQueue;
  EXPECT_EQ(rig.lock.lock(rig.p), Path::head);
  // The first attempt is refused; the loop reads once and queues without trying.
  EXPECT_THAT(rig.p.log, testing::Contains("refused word").Times(1));
  EXPECT_EQ(rig.p.turns, 0u);
}

TEST_P(QSpinlockSteal, LosingARaceIsATurnAndComparesWithCpu0sNode) {
  rig.p.nodes[0] = 1;
  rig.p.before = [&](const std::string& line) {
    if (line == "update word release" || line == "load word") rig.release();
    if (line == "try word" && rig.p.count("update word release") == 0) rig.held_by(kOwner);
  };
  // All reads see a free word, and all attempts lose, until the head takes it.
  EXPECT_EQ(rig.lock.lock(rig.p), Path::head);
  EXPECT_EQ(rig.p.count("refused word"), 1u + 4u);
}

TEST_P(QSpinlockSteal, FirstSightingOfAPreemptedOwnerMarksAndSecondConfers) {
  rig.held_by(kOwner);
  rig.preempt(kOwner);
  rig.p.before = [&](const std::string& line) {
    if (line == "confer 2@5") rig.release();
  };
  EXPECT_EQ(rig.lock.lock(rig.p), Path::steal);
  EXPECT_THAT(rig.p.log,
              ElementsAre("refused word", "begin", "load word", "count 2", "end",
                          "update word relaxed", "fence acquire", "load word", "begin", "relax 1",
                          "load word", "count 2", "end", "fence acquire", "load word", "confer 2@5",
                          "begin", "load word", "end", "update word acquire eh", "note acquired"));
}

TEST_P(QSpinlockSteal, WithoutSleepyConfersAtFirstSight) {
  rig.knobs.pv_sleepy_lock = false;
  rig.held_by(kOwner);
  rig.preempt(kOwner);
  rig.p.before = [&](const std::string& line) {
    if (line == "confer 2@5") rig.release();
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("relax"), 0u);
  EXPECT_EQ(rig.p.count("update word relaxed"), 0u);
}

TEST_P(QSpinlockSteal, AnyChangeOfTheWordCancelsTheConfer) {
  rig.held_by(kOwner, qword::kSleepy);
  rig.preempt(kOwner);
  int fences = 0;
  rig.p.before = [&](const std::string& line) {
    if (line == "fence acquire" && ++fences == 1) rig.word() |= qword::encode_tail(kNext);
    if (line == "confer 2@5") rig.release();
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(fences, 2);
  EXPECT_EQ(rig.p.count("confer"), 1u);
  EXPECT_EQ(rig.p.count("relax 1"), 1u);
}

TEST_P(QSpinlockSteal, ConfersToACpuThatIdles) {
  rig.held_by(kOwner, qword::kSleepy);
  rig.p.counts[kOwner] = 7;  // odd, yet vcpu_is_preempted says no
  rig.p.before = [&](const std::string& line) {
    if (line == "confer 2@7") rig.release();
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("confer 2@7"), 1u);
  EXPECT_EQ(rig.p.count("preempted?"), 0u);
}

TEST_P(QSpinlockSteal, YieldOwnerKnobSwitchesConfersOff) {
  rig.knobs.pv_yield_owner = false;
  rig.held_by(kOwner);
  rig.preempt(kOwner);
  EXPECT_EQ(rig.turns_before_queueing(), 32u);
  EXPECT_EQ(rig.p.count("confer"), 0u);
}

TEST_P(QSpinlockSteal, TurnsOnAPreemptedOwnerCountUnlessToldOtherwise) {
  for (const bool spin_on : {false, true}) {
    Rig r;
    r.p.skip = GetParam();
    r.knobs.pv_spin_on_preempted_owner = spin_on;
    r.knobs.pv_sleepy_lock = false;
    r.knobs.pv_sleepy_lock_factor = 1;
    r.held_by(kOwner);
    r.preempt(kOwner);
    std::size_t confers = 0;
    std::uint64_t queued_at = 0;
    r.p.before = [&](const std::string& line) {
      if (line == "confer 2@5" && ++confers == 100) r.preempt(kOwner, false);
      if (line == "update word release") {
        queued_at = r.p.turns;
        r.release();
      }
    };
    r.lock.lock(r.p);
    EXPECT_EQ(confers, spin_on ? 100u : 32u);
    EXPECT_EQ(queued_at, spin_on ? 32u : 0u);
  }
}

TEST_P(QSpinlockSteal, StickyMarksLaterHoldsButNeverAFreeWord) {
  rig.knobs.pv_sleepy_lock_sticky = true;
  rig.held_by(kOwner, qword::kSleepy);
  rig.preempt(kOwner);
  rig.p.before = [&](const std::string& line) {
    // The preempted hold ends; an attempt on the free word loses; the next hold is not sleepy.
    if (line == "confer 2@5") rig.release(), rig.preempt(kOwner, false);
    if (line == "try word" && rig.p.count("refused word") == 1 && rig.word() == 0) rig.held_by(5);
  };
  rig.p.at_turn(3, [&] { rig.release(); });
  EXPECT_EQ(rig.lock.lock(rig.p), Path::steal);
  EXPECT_EQ(rig.p.count("update word relaxed"), 1u);
  EXPECT_EQ(rig.p.count("confer"), 1u);
}

TEST_P(QSpinlockSteal, IntervalRemembersAcrossLocks) {
  rig.knobs.pv_sleepy_lock_interval_ns = 100;
  rig.areas[kMe].sleepy_seen_ns = 50;
  rig.p.now = 149;
  rig.held_by(kOwner);
  EXPECT_EQ(rig.turns_before_queueing(), 8192u);
}

TEST_P(QSpinlockSteal, IntervalExpiresAndIsForgotten) {
  rig.knobs.pv_sleepy_lock_interval_ns = 100;
  rig.areas[kMe].sleepy_seen_ns = 50;
  rig.p.now = 150;
  rig.held_by(kOwner);
  EXPECT_EQ(rig.turns_before_queueing(), 32u);
  EXPECT_EQ(rig.areas[kMe].sleepy_seen_ns, 0u);
}

TEST_P(QSpinlockSteal, SeeingASleepyLockRefreshesTheClockOnce) {
  rig.knobs.pv_sleepy_lock_interval_ns = 100;
  rig.p.now = 77;
  rig.held_by(kOwner, qword::kSleepy);
  EXPECT_EQ(rig.turns_before_queueing(), 8192u);
  EXPECT_EQ(rig.areas[kMe].sleepy_seen_ns, 77u);
}

}  // namespace
}  // namespace test
