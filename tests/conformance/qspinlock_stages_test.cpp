// The ladder of the 2022 series: what each rung adds, and what it does not have yet.
#include "tests/conformance/qspinlock_rig.h"
#include "tests/conformance/stages.h"

namespace test {
namespace {

using testing::ElementsAre;

class QSpinlockStages : public testing::TestWithParam<Stage> {
 protected:
  bool has(Stage since) const { return GetParam() >= since; }
  Rig rig{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(, QSpinlockStages, testing::ValuesIn(stages()), stage_param);

class WithQueue : public QSpinlockStages {};
INSTANTIATE_TEST_SUITE_P(, WithQueue, testing::ValuesIn(stages(Stage::mcs_queue)), stage_param);

class WithThieves : public QSpinlockStages {};
INSTANTIATE_TEST_SUITE_P(, WithThieves, testing::ValuesIn(stages(Stage::steal)), stage_param);

class BeforeTrylockSteals : public QSpinlockStages {};
INSTANTIATE_TEST_SUITE_P(, BeforeTrylockSteals,
                         testing::ValuesIn(stages(Stage::must_queue, Stage::prod_head)),
                         stage_param);

class WithConfers : public QSpinlockStages {};
INSTANTIATE_TEST_SUITE_P(, WithConfers, testing::ValuesIn(stages(Stage::yield_owner)), stage_param);

TEST_P(QSpinlockStages, NameIsParsed) {
  EXPECT_EQ(lock::parse_stage(lock::stage_name(GetParam())), GetParam());
}

TEST_P(QSpinlockStages, UnlockIsAStoreThenACasLoopThenAHalfwordStore) {
  rig.lock.try_lock(rig.p);
  rig.p.log.clear();
  rig.lock.unlock(rig.p);
  EXPECT_EQ(rig.word(), 0u);
  if (has(Stage::halfword_unlock)) {
    EXPECT_THAT(rig.p.log, ElementsAre("half word release =0", "note released"));
  } else if (has(Stage::mcs_queue)) {
    EXPECT_THAT(rig.p.log, ElementsAre("load word", "cas word release", "note released"));
  } else {
    EXPECT_THAT(rig.p.log, ElementsAre("store word release =0", "note released"));
  }
}

TEST_P(QSpinlockStages, TrylockIsACasThenOneUpdateWithTheHint) {
  EXPECT_TRUE(rig.lock.try_lock(rig.p));
  const std::string first = has(Stage::llsc) ? "update word acquire eh" : "cas word acquire";
  EXPECT_THAT(rig.p.log, ElementsAre(first, "note acquired"));
}

TEST_P(QSpinlockStages, OnlyTuningCanDropTheHint) {
  rig.knobs.eh_hint = false;
  rig.lock.try_lock(rig.p);
  const bool hinted = has(Stage::llsc) && !has(Stage::tuning);
  EXPECT_EQ(rig.p.count("update word acquire eh"), hinted ? 1u : 0u);
}

TEST_P(QSpinlockStages, OwnerIsInTheWordFromItsRungOn) {
  rig.lock.try_lock(rig.p);
  EXPECT_EQ(rig.word(), has(Stage::owner) ? qword::locked_by(kMe) : qword::kLocked);
}

TEST_P(WithQueue, TrylockPassesTheQueueFromItsRungOn) {
  rig.word() = qword::encode_tail(kNext);
  EXPECT_EQ(rig.lock.try_lock(rig.p), has(Stage::trylock_steal));
}

TEST_P(QSpinlockStages, IsStrictlyFifoWithAQueueAndNoThieves) {
  EXPECT_EQ(rig.lock.strict_fifo(), has(Stage::mcs_queue) && !has(Stage::steal));
  rig.no_stealing();
  EXPECT_EQ(rig.lock.strict_fifo(), has(Stage::mcs_queue) && !has(Stage::trylock_steal));
  rig.knobs.try_lock_steal = false;
  EXPECT_EQ(rig.lock.strict_fifo(), has(Stage::mcs_queue));
}

TEST(SimpleWord, SpinsOnTrylockWithoutLooking) {
  Rig rig{Stage::simple_word};
  rig.word() = qword::kLocked;
  rig.p.at_turn(3, [&] { rig.release(); });
  EXPECT_EQ(rig.lock.lock(rig.p), Path::steal);
  EXPECT_THAT(rig.p.log, ElementsAre("cas-failed word acquire", "cas-failed word acquire", "relax",
                                     "cas word acquire", "note acquired"));
}

TEST_P(WithQueue, StealsBeforeQueueingFromItsRungOn) {
  rig.held_by(kOwner);
  rig.p.at_turn(20, [&] { rig.release(); });
  EXPECT_EQ(rig.lock.lock(rig.p), has(Stage::steal) ? Path::steal : Path::head);
  EXPECT_EQ(rig.p.turns, 20u);
}

TEST_P(WithQueue, TheHeadForbidsStealingFromItsRungOn) {
  rig.held_by(kOwner);
  rig.p.at_turn(5000, [&] { rig.release(); });
  EXPECT_EQ(rig.lock.lock(rig.p), Path::head);
  EXPECT_EQ(rig.p.count("note must_queue"), has(Stage::must_queue) ? 1u : 0u);
}

TEST_P(BeforeTrylockSteals, WithoutThievesTheHeadCountsNothing) {
  rig.no_stealing();
  rig.held_by(kOwner);
  rig.p.at_turn(5000, [&] { rig.release(); });
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("note must_queue"), 0u);
}

TEST_P(WithQueue, TheHeadTakesByCasThenUnconditionallyThenOnlyIfFree) {
  rig.no_stealing();
  rig.held_by(kOwner);
  rig.p.at_turn(1, [&] { rig.release(); });
  rig.lock.lock(rig.p);
  const auto taken = rig.p.find("note acquired");
  EXPECT_EQ(rig.p.log[taken - 1], has(Stage::llsc) ? "update word acquire eh" : "cas word acquire");
  EXPECT_EQ(rig.word() & ~qword::kOwnerMask, qword::kLocked);
}

TEST_P(WithQueue, TheHeadKeepsATailThatGrewBehindIt) {
  rig.no_stealing();
  rig.held_by(kOwner);
  rig.p.at_turn(1, [&] { rig.release(); });
  // Between the head's look and its update, even where that is a compare-and-swap.
  rig.p.before = [&](const std::string& line) {
    if (line == "try word" && rig.p.turns == 1) rig.queue_next();
  };
  EXPECT_EQ(rig.lock.lock(rig.p), Path::head);
  EXPECT_EQ(qword::tail_of(rig.word()), qword::encode_tail(kNext));
  EXPECT_TRUE(qword::is_locked(rig.word()));
  EXPECT_EQ(rig.next().locked.value, 1u);
}

TEST_P(WithThieves, ConfersToTheOwnerFromItsRungOnAndAtSecondSightWhenSleepy) {
  rig.held_by(kOwner);
  rig.preempt(kOwner);
  rig.p.before = [&](const std::string& line) {
    if (line.starts_with("confer")) rig.release();
  };
  if (!has(Stage::yield_owner)) rig.p.at_turn(4, [&] { rig.release(); });
  EXPECT_EQ(rig.lock.lock(rig.p), Path::steal);
  EXPECT_EQ(rig.p.count("confer 2@5"), has(Stage::yield_owner) ? 1u : 0u);
  EXPECT_EQ(rig.p.count("update word relaxed"), has(Stage::sleepy) ? 1u : 0u);
}

TEST_P(WithQueue, ConfersToThePredecessorFromItsRungOn) {
  rig.no_stealing();
  rig.held_by(kOwner);
  rig.queue_prev();
  rig.p.counts[kPrev] = 5;
  const auto turn = [&] { rig.release(), rig.hand_me_the_head(); };
  rig.p.before = [&](const std::string& line) {
    if (line.starts_with("confer 3")) turn();
  };
  if (!has(Stage::yield_prev)) rig.p.at_turn(4, turn);
  EXPECT_EQ(rig.lock.lock(rig.p), Path::queued);
  EXPECT_EQ(rig.p.count("confer 3@5"), has(Stage::yield_prev) ? 1u : 0u);
}

TEST_P(WithThieves, WaitsAtLowPriorityFromItsRungOn) {
  rig.held_by(kOwner);
  rig.p.at_turn(4, [&] { rig.release(); });
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("begin"), has(Stage::spin_begin) ? 1u : 0u);
  EXPECT_EQ(rig.p.count("end"), rig.p.count("begin"));
}

TEST_P(WithThieves, KnowsRemoteOwnersFromItsRungOn) {
  rig.held_by(kOwner);
  rig.p.nodes[kOwner] = 1;
  EXPECT_EQ(rig.turns_before_queueing(), has(Stage::remote_steal) ? 4u : 32u);
}

TEST_P(WithThieves, ScalesItsSpinsFromSleepyOn) {
  rig.knobs.pv_sleepy_lock_factor = 4;
  rig.held_by(kOwner, qword::kSleepy);
  EXPECT_EQ(rig.turns_before_queueing(), has(Stage::sleepy) ? 128u : 32u);
}

TEST_P(WithConfers, CountsTurnsOnAPreemptedOwnerUntilItsRung) {
  rig.knobs.pv_spin_on_preempted_owner = true;
  rig.knobs.pv_sleepy_lock_factor = 1;
  rig.knobs.pv_sleepy_lock = false;
  rig.held_by(kOwner);
  rig.preempt(kOwner);
  std::size_t confers = 0;
  rig.p.before = [&](const std::string& line) {
    if (line.starts_with("confer") && ++confers == 100) rig.release();
  };
  EXPECT_EQ(rig.lock.lock(rig.p), has(Stage::spin_on_preempted) ? Path::steal : Path::head);
}

TEST_P(WithQueue, ClearsItsNodeOnlyInCurrentForm) {
  rig.no_stealing();
  rig.held_by(kOwner);
  rig.p.at_turn(1, [&] { rig.release(); });
  rig.lock.lock(rig.p);
  const void* const left = has(Stage::current) ? nullptr : &rig.lock;
  EXPECT_EQ(rig.mine().lock.value, left);
  EXPECT_EQ(rig.areas[kMe].count.value, 0u);
}

TEST_P(WithQueue, ProdsTheHeadFromItsRungOn) {
  rig.no_stealing();
  rig.knobs.pv_prod_head = true;
  rig.preempt(kNext);
  rig.held_by(kOwner);
  rig.p.before = [&](const std::string& line) {
    if (line == "note head") rig.queue_next(), rig.release();
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("prod 4"), has(Stage::prod_head) ? 1u : 0u);
}

// The first form of propagation: the owner's CPU travels down the queue.
class QSpinlockPropagateOwner : public QSpinlockStages {};
INSTANTIATE_TEST_SUITE_P(, QSpinlockPropagateOwner,
                         testing::Values(Stage::propagate_owner, Stage::sleepy, Stage::tuning),
                         stage_param);

TEST_P(QSpinlockPropagateOwner, AWaiterConfersToTheCpuItWasToldAndPassesItOn) {
  rig.no_stealing();
  rig.held_by(kOwner);
  rig.queue_prev();
  rig.p.counts[5] = 9;
  rig.p.before = [&](const std::string& line) {
    if (line == "note queued") rig.queue_next(), rig.mine().yield_cpu.value = 5;
    if (line == "confer 5@9") rig.release(), rig.hand_me_the_head();
  };
  // CPU 5 owns nothing: nobody checks. That is the flaw of this form.
  EXPECT_EQ(rig.lock.lock(rig.p), Path::queued);
  EXPECT_EQ(rig.p.count("confer 5@9"), 1u);
  EXPECT_EQ(rig.next().yield_cpu.value, 5);
  EXPECT_EQ(rig.mine().yield_cpu.value, -1);
}

TEST_P(QSpinlockPropagateOwner, PassesOnNobodyToo) {
  rig.no_stealing();
  rig.held_by(kOwner);
  rig.queue_prev();
  rig.next().yield_cpu.value = 2;
  rig.p.at_turn(7, [&] { rig.release(), rig.hand_me_the_head(); });
  rig.p.before = [&](const std::string& line) {
    if (line == "note queued") rig.queue_next();
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("store next.yield_cpu"), 1u);
  EXPECT_EQ(rig.next().yield_cpu.value, -1);
}

TEST_P(QSpinlockPropagateOwner, TheHeadTellsAPreemptedOwnerAndItsSuccessors) {
  rig.no_stealing();
  rig.held_by(kOwner, qword::kSleepy);
  rig.p.preempted[kOwner] = true;
  rig.next().yield_cpu.value = -1;
  rig.p.before = [&](const std::string& line) {
    if (line == "note head") rig.queue_next();
  };
  // Once something was told, a running owner is told too.
  rig.p.at_turn(10, [&] { rig.held_by(0); });
  rig.p.at_turn(20, [&] { rig.release(); });
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("store next.yield_cpu relaxed =2"), 1u);
  EXPECT_EQ(rig.p.count("store next.yield_cpu relaxed =0"), 1u);
}

TEST_P(QSpinlockPropagateOwner, FromSleepyOnAWaiterTriesToMarkAWordItReadTooEarly) {
  rig.no_stealing();
  rig.held_by(kOwner);
  rig.queue_prev();
  rig.p.counts[kPrev] = 5;
  rig.p.before = [&](const std::string& line) {
    if (line == "confer 3@5") rig.release(), rig.hand_me_the_head();
  };
  rig.lock.lock(rig.p);
  // The fast path and, where there is one, the stale mark: its own tail defeats it.
  EXPECT_EQ(rig.p.count("refused word"), has(Stage::sleepy) ? 2u : 1u);
}

}  // namespace
}  // namespace test
