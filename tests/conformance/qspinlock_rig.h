// One queued spinlock on a scripted platform, seen from CPU 1 of six.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "lock/qspinlock.h"
#include "tests/conformance/scripted_platform.h"

namespace test {

namespace qword = lock::qword;
using lock::CpuId;
using lock::Path;
using lock::Stage;
using Core = lock::QSpinlockCore<ScriptedPlatform>;
using Spinlock = lock::QSpinlock<ScriptedPlatform>;
using Area = Spinlock::CpuArea;
using Node = Spinlock::Node;

inline constexpr CpuId kMe = 1;
inline constexpr CpuId kOwner = 2;
inline constexpr CpuId kPrev = 3;
inline constexpr CpuId kNext = 4;
inline constexpr CpuId kCpus = 6;

struct Rig {
  explicit Rig(Stage at = Stage::current) : lock(knobs, at, areas) {
    p.name(&lock, "word");
    p.name(mine().locked, "my.locked");
    p.name(areas[kMe].count, "count");
    p.name(next().locked, "next.locked");
    p.name(next().cpu, "next.cpu");
    p.name(next().sleepy, "next.sleepy");
    p.name(next().yield_cpu, "next.yield_cpu");
  }

  std::uint32_t& word() { return *reinterpret_cast<std::uint32_t*>(&lock); }
  Node& mine() { return areas[kMe].nodes[0]; }
  Node& prev() { return areas[kPrev].nodes[0]; }
  Node& next() { return areas[kNext].nodes[0]; }

  void held_by(CpuId cpu, std::uint32_t flags = 0) {
    word() = qword::tail_of(word()) | qword::locked_by(cpu) | flags;
  }
  void release() { word() &= 0xffff0000u; }
  void preempt(CpuId cpu, bool odd = true) {
    p.counts[cpu] = odd ? 5 : 6;
    p.preempted[cpu] = odd;
  }
  // CPU 3 is the tail of the queue; only its node's lock field matters.
  void queue_prev() {
    prev().lock.value = &lock;
    word() = (word() & ~qword::kTailMask) | qword::encode_tail(kPrev);
  }
  // CPU 4 joins behind CPU 1 and has linked itself.
  void queue_next() {
    next().lock.value = &lock;
    next().cpu.value = kNext;
    word() = (word() & ~qword::kTailMask) | qword::encode_tail(kNext);
    mine().next.value = &next();
  }
  void hand_me_the_head() { mine().locked.value = 1; }
  // Straight to the queue, so that turns count from there.
  void no_stealing() { knobs.steal_spins = 0; }

  // Turns spent stealing before this CPU queues behind an owner that keeps the lock.
  std::uint64_t turns_before_queueing() {
    std::uint64_t at = 0;
    p.before = [&](const std::string& line) {
      if (line == "update word release") {
        at = p.turns;
        release();
      }
    };
    lock.lock(p);
    p.before = nullptr;
    return at;
  }
  // Turns of a head, whose lock stays held, until it sets MUST_Q.
  std::uint64_t turns_before_must_queue() {
    std::uint64_t from = 0;
    std::uint64_t at = 0;
    p.before = [&](const std::string& line) {
      if (line == "update word release") from = p.turns;
      if (line == "note must_queue") at = p.turns;
      if (line == "load word" && qword::must_queue(word())) {
        if (at == 0) at = p.turns;
        release();
      }
    };
    lock.lock(p);
    p.before = nullptr;
    return at - from;
  }

  lock::QSpinlockKnobs knobs;
  std::array<Area, kCpus> areas{};
  ScriptedPlatform p{kMe, kCpus};
  Spinlock lock;
};

// Every behaviour must be the same whether the platform lets one turn pass or many.
class BothSpeeds : public testing::TestWithParam<bool> {};

}  // namespace test
