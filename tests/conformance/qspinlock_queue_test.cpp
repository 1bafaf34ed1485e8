// Waiting in the queue: nodes, links, overflow, and the yields of a queued waiter.
#include "tests/conformance/qspinlock_rig.h"

namespace test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::StartsWith;

class QSpinlockQueue : public BothSpeeds {
 protected:
  QSpinlockQueue() { set_up(rig); }
  void set_up(Rig& r) {
    r.p.skip = GetParam();
    r.no_stealing();
    r.held_by(kOwner);
    r.queue_prev();
  }
  // The predecessor takes and releases the lock, and hands the queue over.
  void take_turn() {
    rig.release();
    rig.hand_me_the_head();
  }
  // What was logged while waiting in the queue.
  std::vector<std::string> waiting() const {
    const auto from = rig.p.find("note queued");
    const auto to = rig.p.find("note head");
    return {rig.p.log.begin() + static_cast<std::ptrdiff_t>(from),
            rig.p.log.begin() + static_cast<std::ptrdiff_t>(to)};
  }
  Rig rig;
};
INSTANTIATE_TEST_SUITE_P(, QSpinlockQueue, testing::Bool());

TEST_P(QSpinlockQueue, LinksBehindTheTailAndPollsOnlyItsOwnNode) {
  rig.p.at_turn(1000, [&] { take_turn(); });
  EXPECT_EQ(rig.lock.lock(rig.p), Path::queued);
  EXPECT_EQ(rig.prev().next.value, &rig.mine());
  EXPECT_EQ(rig.p.turns, 1000u);
  EXPECT_THAT(waiting(), Not(Contains("load word")));
  EXPECT_THAT(rig.p.notes(), ElementsAre("queued", "head", "acquired"));
}

TEST_P(QSpinlockQueue, FindsThePredecessorsNodeByItsLock) {
  int other = 0;
  rig.prev().lock.value = &other;
  rig.areas[kPrev].nodes[2].lock.value = &rig.lock;
  rig.p.at_turn(1, [&] { take_turn(); });
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.prev().next.value, nullptr);
  EXPECT_EQ(rig.areas[kPrev].nodes[2].next.value, &rig.mine());
}

TEST_P(QSpinlockQueue, NestsUpToTheFourthNode) {
  rig.areas[kMe].count.value = 3;
  Node& node = rig.areas[kMe].nodes[3];
  rig.p.at_turn(1, [&] {
    rig.release();
    node.locked.value = 1;
  });
  EXPECT_EQ(rig.lock.lock(rig.p), Path::queued);
  EXPECT_EQ(rig.prev().next.value, &node);
  EXPECT_EQ(rig.areas[kMe].count.value, 3u);
}

TEST_P(QSpinlockQueue, OverflowNeverQueuesNorTouchesTheCount) {
  for (const std::uint32_t in_use : {4u, 5u}) {
    Rig r;
    set_up(r);
    r.areas[kMe].count.value = in_use;
    r.p.at_turn(20, [&] { r.release(); });
    EXPECT_EQ(r.lock.lock(r.p), Path::steal);
    EXPECT_EQ(r.word(), qword::encode_tail(kPrev) | qword::locked_by(kMe));
    EXPECT_EQ(r.areas[kMe].count.value, in_use);
    EXPECT_EQ(r.p.count("store count"), 0u);
    EXPECT_EQ(r.p.count("begin"), 0u);
    EXPECT_EQ(r.p.turns, 20u);
  }
}

TEST_P(QSpinlockQueue, OverflowLosesToMustQueue) {
  rig.areas[kMe].count.value = 4;
  rig.word() |= qword::kMustQueue;
  rig.p.at_turn(10, [&] { rig.release(); });
  rig.p.at_turn(30, [&] { rig.word() = 0; });
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.turns, 30u);
}

TEST_P(QSpinlockQueue, AnInterruptBeforeTheNodeIsFilledUsesTheNextNode) {
  bool nested = false;
  rig.p.before = [&](const std::string& line) {
    if (line == "store count relaxed =1" && !std::exchange(nested, true)) {
      // The hook runs just before the store; what an interrupt would find is the store done.
      rig.areas[kMe].count.value = 1;
      rig.p.at_turn(1, [&] {
        rig.release();
        rig.areas[kMe].nodes[1].locked.value = 1;
      });
      EXPECT_EQ(rig.lock.lock(rig.p), Path::queued);
      rig.lock.unlock(rig.p);
      rig.held_by(kOwner);
      rig.queue_prev();
      rig.p.at_turn(2, [&] { take_turn(); });
    }
  };
  EXPECT_EQ(rig.lock.lock(rig.p), Path::queued);
  EXPECT_TRUE(nested);
  EXPECT_EQ(rig.areas[kMe].count.value, 0u);
  for (const Node& node : rig.areas[kMe].nodes) EXPECT_EQ(node.lock.value, nullptr);
}

TEST_P(QSpinlockQueue, ConfersToAPreemptedPredecessor) {
  rig.p.counts[kPrev] = 5;
  rig.p.before = [&](const std::string& line) {
    if (line == "confer 3@5") take_turn();
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("confer 3@5"), 1u);
  EXPECT_EQ(rig.p.turns, 0u);
  EXPECT_THAT(waiting(), Not(Contains("load word")));
}

TEST_P(QSpinlockQueue, DoesNotConferOnceTheHeadIsHandedOver) {
  rig.p.counts[kPrev] = 5;
  rig.p.before = [&](const std::string& line) {
    // The second fence is the one between the count and the flag.
    if (line == "fence acquire" && rig.p.count("fence") == 1) take_turn();
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("confer"), 0u);
  EXPECT_EQ(rig.p.count("relax 1"), 1u);
}

TEST_P(QSpinlockQueue, YieldPrevKnobSwitchesThatOff) {
  rig.knobs.pv_yield_prev = false;
  rig.p.counts[kPrev] = 5;
  rig.p.at_turn(9, [&] { take_turn(); });
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("confer"), 0u);
  EXPECT_EQ(rig.p.count("count 3"), 0u);
}

TEST_P(QSpinlockQueue, ToldSleepyItConfersToTheOwnerAndPassesItOn) {
  rig.preempt(kOwner);
  rig.held_by(kOwner, qword::kSleepy);
  rig.p.before = [&](const std::string& line) {
    if (line == "note queued") rig.queue_next(), rig.mine().sleepy.value = 1;
    if (line == "confer 2@5") take_turn();
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.next().sleepy.value, 1);
  EXPECT_EQ(rig.p.count("confer 2@5"), 1u);
  // A confer leaves the flag: the owner may still be off.
  EXPECT_EQ(rig.mine().sleepy.value, 1);
}

TEST_P(QSpinlockQueue, ToldSleepyOfARunningOwnerItForgetsAndRelaxesTwice) {
  rig.p.before = [&](const std::string& line) {
    if (line == "note queued") rig.queue_next(), rig.mine().sleepy.value = 1;
  };
  rig.p.at_turn(50, [&] { take_turn(); });
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.mine().sleepy.value, 0);
  EXPECT_EQ(rig.next().sleepy.value, 0);
  const auto told = rig.p.find("count 2");
  EXPECT_THAT(rig.p.log[told + 1], StartsWith("relax 1"));
  EXPECT_EQ(rig.p.log[told + 2], "count 3");
  EXPECT_THAT(rig.p.log[told + 3], StartsWith("relax 1"));
  EXPECT_EQ(rig.p.count("load word"), 2u);  // once told, and once as head
  EXPECT_EQ(rig.p.turns, 50u);
}

TEST_P(QSpinlockQueue, ToldSleepyOfAFreeLockItClearsTheFlag) {
  rig.p.before = [&](const std::string& line) {
    if (line == "note queued") rig.release(), rig.mine().sleepy.value = 1;
  };
  rig.p.at_turn(50, [&] { take_turn(); });
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.mine().sleepy.value, 0);
  EXPECT_EQ(rig.p.count("count 2"), 0u);
}

TEST_P(QSpinlockQueue, APreemptedPredecessorMakesItAskForTheOwner) {
  rig.preempt(kPrev);
  rig.preempt(kOwner);
  rig.held_by(kOwner, qword::kSleepy);
  rig.p.before = [&](const std::string& line) {
    if (line == "confer 2@5") take_turn();
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("confer 2@5"), 1u);
  EXPECT_EQ(rig.p.count("confer 3"), 0u);
}

TEST_P(QSpinlockQueue, SleepyOwnerKnobKeepsItOffTheWord) {
  rig.knobs.pv_yield_sleepy_owner = false;
  rig.preempt(kPrev);
  rig.p.before = [&](const std::string& line) {
    if (line == "confer 3@5") take_turn();
  };
  rig.lock.lock(rig.p);
  EXPECT_THAT(waiting(), Not(Contains("load word")));
}

TEST_P(QSpinlockQueue, SightingsInTheQueueNeverMarkTheLock) {
  rig.p.counts[kPrev] = 5;
  rig.knobs.pv_sleepy_lock_interval_ns = 100;
  rig.p.now = 33;
  rig.p.before = [&](const std::string& line) {
    if (line == "confer 3@5") take_turn();
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("update word relaxed"), 0u);
  EXPECT_EQ(rig.areas[kMe].sleepy_seen_ns, 33u);
}

TEST_P(QSpinlockQueue, WhatItSawInTheQueueMakesTheHeadSticky) {
  for (const bool saw : {false, true}) {
    Rig r;
    set_up(r);
    r.knobs.pv_sleepy_lock_sticky = true;
    r.p.counts[kPrev] = saw ? 5 : 4;
    r.p.before = [&](const std::string& line) {
      if (line == "confer 3@5") r.hand_me_the_head(), r.p.at_turn(10, [&] { r.release(); });
    };
    if (!saw) {
      r.p.at_turn(5, [&] { r.hand_me_the_head(); });
      r.p.at_turn(10, [&] { r.release(); });
    }
    r.lock.lock(r.p);
    EXPECT_EQ(r.p.count("update word relaxed"), saw ? 1u : 0u);
  }
}

TEST_P(QSpinlockQueue, DedicatedProcessorsNeverYield) {
  rig.p.shared = false;
  rig.preempt(kPrev);
  rig.preempt(kOwner);
  rig.p.at_turn(500, [&] { rig.hand_me_the_head(); });
  rig.p.at_turn(600, [&] { rig.release(); });
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("confer"), 0u);
  EXPECT_EQ(rig.p.count("count"), 0u);
}

}  // namespace
}  // namespace test
