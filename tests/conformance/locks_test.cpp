// The simple, ticket and MCS locks on a script, and the tables that describe all locks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "lock/algorithms.h"
#include "lock/mcs.h"
#include "lock/qspinlock_knobs.h"
#include "lock/simple.h"
#include "lock/ticket.h"
#include "tests/conformance/scripted_platform.h"

namespace test {
namespace {

using lock::Path;
using testing::ElementsAre;
using Simple = lock::SimpleSpinlock<ScriptedPlatform>;
using Ticket = lock::TicketSpinlock<ScriptedPlatform>;
using Mcs = lock::McsSpinlock<ScriptedPlatform>;
static_assert(lock::Lock<Simple, ScriptedPlatform> && lock::Lock<Ticket, ScriptedPlatform> &&
              lock::Lock<Mcs, ScriptedPlatform>);

constexpr std::uint32_t kTokenOf2 = 0x80000002u;

struct SimpleRig {
  SimpleRig() { p.name(&lock, "word"); }
  std::uint32_t& word() { return *reinterpret_cast<std::uint32_t*>(&lock); }
  lock::SimpleKnobs knobs;
  ScriptedPlatform p{1, 4};
  Simple lock{knobs};
};

TEST(SimpleSpinlock, TheTokenNamesTheHolder) {
  SimpleRig rig;
  EXPECT_EQ(rig.lock.lock(rig.p), Path::fast);
  EXPECT_EQ(rig.word(), 0x80000001u);
  rig.lock.unlock(rig.p);
  EXPECT_THAT(rig.p.log, ElementsAre("update word acquire eh", "note acquired",
                                     "store word release =0", "note released"));
}

TEST(SimpleSpinlock, ReadsUntilFreeAtLowPriorityThenTries) {
  SimpleRig rig;
  rig.word() = kTokenOf2;
  rig.p.at_turn(100, [&] { rig.word() = 0; });
  EXPECT_EQ(rig.lock.lock(rig.p), Path::steal);
  EXPECT_THAT(rig.p.log,
              ElementsAre("refused word", "begin", "load word", "count 2", "relax", "load word",
                          "end", "update word acquire eh", "note acquired"));
}

TEST(SimpleSpinlock, ConfersToAPreemptedHolderOncePerPoll) {
  SimpleRig rig;
  // The hcall is made at low priority, which the scripted platform refuses elsewhere.
  rig.p.low_priority_hcalls = true;
  rig.word() = kTokenOf2;
  rig.p.counts[2] = 3;
  rig.p.before = [&](const std::string& line) {
    if (line == "confer 2@3" && rig.p.count("confer") == 2) rig.word() = 0;
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("confer 2@3"), 3u);
  EXPECT_EQ(rig.p.count("relax"), 0u);
}

TEST(SimpleSpinlock, LooksAgainBeforeItConfers) {
  SimpleRig rig;
  rig.word() = kTokenOf2;
  rig.p.counts[2] = 3;
  rig.p.before = [&](const std::string& line) {
    if (line == "fence acquire") rig.word() = 0;
  };
  rig.lock.lock(rig.p);
  EXPECT_EQ(rig.p.count("confer"), 0u);
}

TEST(SimpleSpinlock, YieldsNeitherWhenDedicatedNorWhenToldNotTo) {
  for (const bool shared : {false, true}) {
    SimpleRig rig;
    rig.p.shared = shared;
    rig.knobs.pv_yield_owner = !shared;
    rig.word() = kTokenOf2;
    rig.p.counts[2] = 3;
    rig.p.at_turn(50, [&] { rig.word() = 0; });
    rig.lock.lock(rig.p);
    EXPECT_EQ(rig.p.count("count"), 0u);
  }
}

TEST(TicketSpinlock, ServesInOrderOfTickets) {
  ScriptedPlatform p{1, 4};
  Ticket lock;
  auto& word = *reinterpret_cast<std::uint32_t*>(&lock);
  word = 0x0003'0001u;  // ticket 1 is served, 2 waits
  p.at_turn(5, [&] { word += 1; });
  p.at_turn(9, [&] { word += 1; });
  EXPECT_EQ(lock.lock(p), Path::queued);
  EXPECT_EQ(word, 0x0004'0003u);
  EXPECT_EQ(p.turns, 9u);
  EXPECT_THAT(p.notes(), ElementsAre("queued", "acquired"));
}

TEST(TicketSpinlock, WrapsWithoutTouchingTheOtherHalf) {
  ScriptedPlatform p{1, 4};
  Ticket lock;
  auto& word = *reinterpret_cast<std::uint32_t*>(&lock);
  word = 0xffff'ffffu;
  EXPECT_TRUE(lock.try_lock(p));
  EXPECT_FALSE(lock.try_lock(p));
  EXPECT_EQ(word, 0x0000'ffffu);
  lock.unlock(p);
  EXPECT_EQ(word, 0u);
}

TEST(McsSpinlock, WaitsOnItsOwnNodeAndHandsOver) {
  ScriptedPlatform me{1, 4};
  ScriptedPlatform other{2, 4};
  std::array<Mcs::CpuArea, 4> areas{};
  Mcs lock{lock::NoKnobs{}, areas};
  EXPECT_EQ(lock.lock(other), Path::fast);
  me.at_turn(6, [&] { lock.unlock(other); });
  EXPECT_EQ(lock.lock(me), Path::queued);
  EXPECT_EQ(me.turns, 6u);
  EXPECT_THAT(me.notes(), ElementsAre("queued", "acquired"));
  EXPECT_THAT(other.notes(), ElementsAre("queued", "acquired", "released"));
  EXPECT_FALSE(lock.try_lock(other));
  lock.unlock(me);
  EXPECT_FALSE(lock.is_locked(me));
}

TEST(McsSpinlock, LocksMayBeReleasedInAnyOrder) {
  ScriptedPlatform p{1, 4};
  std::array<Mcs::CpuArea, 4> areas{};
  Mcs a{lock::NoKnobs{}, areas};
  Mcs b{lock::NoKnobs{}, areas};
  a.lock(p);
  b.lock(p);
  a.unlock(p);
  a.lock(p);
  b.unlock(p);
  a.unlock(p);
  EXPECT_FALSE(a.is_locked(p) || b.is_locked(p));
}

TEST(McsSpinlock, MoreLocksThanNodesIsAnError) {
  ScriptedPlatform p{1, 4};
  std::array<Mcs::CpuArea, 4> areas{};
  std::vector<std::unique_ptr<Mcs>> locks;
  for (std::size_t i = 0; i <= lock::kMcsNodes; ++i) {
    locks.push_back(std::make_unique<Mcs>(lock::NoKnobs{}, areas));
  }
  for (std::size_t i = 0; i < lock::kMcsNodes; ++i) locks[i]->lock(p);
  EXPECT_THROW(locks.back()->lock(p), std::logic_error);
  EXPECT_FALSE(locks.back()->is_locked(p));
  EXPECT_THROW(locks.back()->unlock(p), std::logic_error);
}

// Not inlined: g++ 12 would see a number read from a struct that has only flags.
template <class Knobs>
[[gnu::noinline]] std::int64_t read_knob(const lock::KnobField<Knobs>& field, const Knobs& knobs) {
  if (field.flag != nullptr) return knobs.*field.flag ? 1 : 0;
  return static_cast<std::int64_t>(knobs.*field.number);
}

template <class Knobs, class Fields>
void expect_in_step(const char* algorithm, const Fields& fields) {
  const auto* const described = lock::find_algorithm(algorithm);
  ASSERT_NE(described, nullptr);
  ASSERT_EQ(described->knobs.size(), fields.size());
  const Knobs defaults;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& knob = described->knobs[i];
    const auto& field = fields[i];
    SCOPED_TRACE(knob.name);
    EXPECT_EQ(read_knob(field, defaults), knob.initial);
    EXPECT_FALSE(knob.meaning.empty());
    for (const auto value : {knob.min, knob.max, knob.initial}) {
      Knobs changed;
      EXPECT_TRUE(changed.set(knob.name, value));
      EXPECT_EQ(read_knob(field, changed), value);
    }
  }
}

TEST(Algorithms, TableAndKnobsAreInStep) {
  expect_in_step<lock::QSpinlockKnobs>("qspinlock", lock::kQSpinlockKnobFields);
  expect_in_step<lock::SimpleKnobs>("simple", lock::kSimpleKnobFields);
  EXPECT_TRUE(lock::find_algorithm("ticket")->knobs.empty());
  EXPECT_TRUE(lock::find_algorithm("mcs")->knobs.empty());
  EXPECT_EQ(lock::find_algorithm("qspinlock")->stages.back(), "current");
  EXPECT_EQ(lock::find_algorithm("nosuch"), nullptr);
}

TEST(Algorithms, DefaultsAreTheKernels) {
  const lock::QSpinlockKnobs k;
  EXPECT_EQ(k.steal_spins, 32u);
  EXPECT_EQ(k.remote_steal_spins, 4u);
  EXPECT_EQ(k.head_spins, 256u);
  EXPECT_EQ(k.pv_sleepy_lock_factor, 256u);
  EXPECT_EQ(k.pv_sleepy_lock_interval_ns, 0u);
  EXPECT_TRUE(k.pv_yield_owner && k.pv_sleepy_lock && k.pv_yield_prev && k.pv_yield_sleepy_owner);
  EXPECT_FALSE(k.pv_yield_allow_steal || k.pv_spin_on_preempted_owner || k.pv_sleepy_lock_sticky ||
               k.pv_prod_head);
}

TEST(Algorithms, WrongKnobsAreRefusedAndBooleansNormalised) {
  lock::QSpinlockKnobs k;
  EXPECT_FALSE(k.set("steal_spin", 1));
  EXPECT_FALSE(k.set("steal_spins", -1));
  EXPECT_FALSE(k.set("steal_spins", lock::kMaxSpins + 1));
  EXPECT_EQ(k.steal_spins, 32u);
  EXPECT_TRUE(k.set("pv_prod_head", 7));
  EXPECT_TRUE(k.pv_prod_head);
}

TEST(Algorithms, StagesParse) {
  EXPECT_EQ(lock::parse_stage(""), lock::Stage::current);
  EXPECT_EQ(lock::parse_stage("sleepy"), lock::Stage::sleepy);
  EXPECT_EQ(lock::parse_stage("Sleepy"), std::nullopt);
}

}  // namespace
}  // namespace test
