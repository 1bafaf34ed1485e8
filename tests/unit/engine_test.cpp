// The engine: order of events, fibers that go on without a switch, ends and failures.
#include "sim/engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sim {
namespace {

// A slot whose fiber runs `body` and whose every event resumes it.
struct Actor final : EventHandler {
  Engine& engine;
  Slot slot;
  explicit Actor(Engine& e) : engine(e), slot(e.add_slot(*this)) {}
  bool fire() override { return true; }
  void start(std::function<void()> body, Time at = Time{0}) {
    engine.set_fiber(slot, std::move(body));
    engine.schedule(slot, at);
  }
  void sleep(Time t) {
    const Time at = engine.now() + t;
    if (!engine.try_advance(slot, at)) engine.park_until(slot, at);
  }
};

TEST(EventQueue, PopsInOrderOfTimeThenSlot_WhateverTheOrderOfCalls) {
  EventQueue queue;
  std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): a test wants the same draw
  constexpr Slot kSlots = 300;
  for (Slot i = 0; i < kSlots; ++i) queue.add_slot();
  std::vector<EventKey> expected;
  std::vector<Time> last(kSlots, kNever);
  for (int round = 0; round < 5000; ++round) {
    const Slot slot = static_cast<Slot>(random() % kSlots);
    if (random() % 4 == 0) {
      queue.remove(slot);
      last[slot] = kNever;
    } else {
      last[slot] = Time{static_cast<std::int64_t>(random() % 50)};
      queue.set(slot, last[slot]);
    }
    EXPECT_EQ(queue.contains(slot), last[slot] != kNever);
  }
  for (Slot i = 0; i < kSlots; ++i)
    if (last[i] != kNever) expected.push_back({last[i], i});
  std::sort(expected.begin(), expected.end());
  for (const EventKey& key : expected) {
    ASSERT_FALSE(queue.empty());
    EXPECT_EQ(queue.top(), key);
    EXPECT_EQ(queue.pop(), key);
  }
  EXPECT_TRUE(queue.empty());
}

TEST(Engine, RunsTheFiberWithTheSmallestTimeNext_LowerSlotFirstAtEqualTimes) {
  Engine engine;
  std::string story;
  Actor a(engine), b(engine);
  a.start([&] {
    for (int i = 0; i < 3; ++i) {
      story += 'a';
      a.sleep(nanoseconds(10));
    }
  });
  b.start([&] {
    for (int i = 0; i < 3; ++i) {
      story += 'b';
      b.sleep(nanoseconds(15));
    }
  });
  engine.run();
  EXPECT_EQ(story, "ababab");  // a at 0 10 20, b at 0 15 30
}

TEST(Engine, AFiberThatIsStillTheEarliestGoesOnWithoutASwitch) {
  Engine engine;
  Actor a(engine), b(engine);
  a.start([&] {
    for (int i = 0; i < 1000; ++i) a.sleep(nanoseconds(1));
  });
  b.start([&] { b.sleep(seconds(1)); }, seconds(1));
  engine.run();
  EXPECT_EQ(engine.now(), seconds(2));
  EXPECT_LE(engine.switches(), 2u);
}

TEST(Engine, ATimerRunsBetweenTwoStepsOfAFiber) {
  Engine engine;
  std::vector<Time> seen;
  Timer timer([&] { seen.push_back(engine.now()); });
  const Slot t = engine.add_slot(timer);
  Actor a(engine);
  a.start([&] {
    a.sleep(nanoseconds(10));
    seen.push_back(engine.now());
  });
  engine.schedule(t, nanoseconds(10));
  engine.run();
  EXPECT_EQ(seen, (std::vector<Time>{nanoseconds(10), nanoseconds(10)}));
}

TEST(Engine, StopUnwindsEveryFiber) {
  Engine engine;
  int destroyed = 0;
  struct Guard {
    int& n;
    ~Guard() { ++n; }
  };
  std::vector<std::unique_ptr<Actor>> actors;
  for (int i = 0; i < 100; ++i) actors.push_back(std::make_unique<Actor>(engine));
  for (auto& actor : actors)
    actor->start([&destroyed, &a = *actor] {
      const Guard guard{destroyed};
      for (;;) a.sleep(nanoseconds(1));
    });
  Timer end([&] { engine.stop(); });
  engine.schedule(engine.add_slot(end), microseconds(1));
  engine.run();
  EXPECT_EQ(destroyed, 100);
}

TEST(Engine, AnExceptionOfAFiberOrATimerEndsTheRunAndReachesTheCaller) {
  {
    Engine engine;
    Actor a(engine), b(engine);
    a.start([&] {
      a.sleep(nanoseconds(5));
      throw std::runtime_error("fiber");
    });
    b.start([&] {
      for (;;) b.sleep(nanoseconds(1));
    });
    EXPECT_THROW(engine.run(), std::runtime_error);
  }
  Engine engine;
  Actor a(engine);
  a.start([&] {
    for (;;) a.sleep(nanoseconds(1));
  });
  Timer bad([] { throw std::logic_error("timer"); });
  engine.schedule(engine.add_slot(bad), nanoseconds(3));
  EXPECT_THROW(engine.run(), std::logic_error);
}

TEST(Engine, ReportsThatNothingCanEverHappenAgain) {
  Engine engine;
  Actor a(engine);
  a.start([&] { engine.park(a.slot); });
  bool drained = false;
  engine.run([&] { drained = true; });
  EXPECT_TRUE(drained);
}

TEST(Engine, TwoRunSideBySideInOneProcess) {
  const auto simulate = [](std::vector<Time>& out) {
    Engine engine;
    Actor a(engine), b(engine);
    a.start([&] {
      for (int i = 0; i < 20000; ++i) a.sleep(nanoseconds(3));
      out.push_back(engine.now());
    });
    b.start([&] {
      for (int i = 0; i < 20000; ++i) b.sleep(nanoseconds(5));
      out.push_back(engine.now());
    });
    engine.run();
  };
  std::vector<Time> first, second;
  std::thread one([&] { simulate(first); });
  std::thread two([&] { simulate(second); });
  one.join();
  two.join();
  EXPECT_EQ(first, (std::vector<Time>{microseconds(60), microseconds(100)}));
  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace sim
