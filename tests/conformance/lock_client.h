// What every lock must do, on real threads: one client, about thirty lines a lock (libvsync's
// shape).
//
// A Maker says how to make one lock: `Maker::Lock<P>`, and `make(areas)` returning a unique_ptr.
// The counter that a lock protects is plain data, so that the race detector sees a lock that does
// not order, and a lost update shows one that does not exclude.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "tests/conformance/recording_platform.h"

namespace test {

using lock::CpuId;
using lock::Path;

// `work(platform)` on one thread a CPU, all starting together. Another thread flips yield counts
// and idle flags at random-looking places if `disturb`, so that paravirtual paths run.
template <class Work>
void on_cpus(lock::NativeMachine& machine, bool disturb, Work work) {
  std::barrier start(static_cast<std::ptrdiff_t>(machine.cpus()));
  std::atomic<bool> done{false};
  std::vector<std::jthread> threads;
  for (CpuId cpu = 0; cpu < machine.cpus(); ++cpu) {
    threads.emplace_back([&, cpu] {
      RecordingPlatform p(machine, cpu);
      start.arrive_and_wait();
      work(p);
    });
  }
  std::jthread hypervisor([&] {
    for (std::uint32_t i = 0; disturb && !done.load(); i = i * 5 + 3) {
      const CpuId cpu = (i >> 3) % machine.cpus();
      machine.set_idle(cpu, (i & 64) != 0);
      (i & 128) != 0 ? machine.preempt(cpu) : machine.dispatch(cpu);
      std::this_thread::yield();
    }
  });
  threads.clear();
  done = true;
}

template <class Maker>
struct Bench {
  using Lock = typename Maker::template Lock<RecordingPlatform>;
  using Area = typename Lock::CpuArea;
  static_assert(lock::Lock<Lock, RecordingPlatform>);

  Bench(Maker& with, CpuId cpus, std::size_t count) : areas(cpus) {
    for (std::size_t i = 0; i < count; ++i) {
      locks.push_back(with.template make<RecordingPlatform>(std::span<Area>(areas)));
    }
  }

  std::vector<Area> areas;
  std::vector<std::unique_ptr<Lock>> locks;
};

template <class Maker>
void expect_mutual_exclusion(Maker maker, CpuId cpus, std::uint64_t rounds) {
  static constexpr std::array<std::uint32_t, 8> kNodes{0, 0, 1, 1, 0, 1, 0, 1};
  lock::NativeMachine machine(cpus, true, kNodes);
  Bench<Maker> bench(maker, cpus, 1);
  auto& lock = *bench.locks[0];
  std::uint64_t counter = 0;
  std::array<std::atomic<std::uint64_t>, lock::kPaths> paths{};
  on_cpus(machine, true, [&](RecordingPlatform& p) {
    for (std::uint64_t i = 0; i < rounds; ++i) {
      const Path path = lock.lock(p);
      const std::uint64_t before = counter;
      p.shake();
      counter = before + 1;
      EXPECT_TRUE(lock.is_locked(p));
      lock.unlock(p);
      paths[static_cast<std::size_t>(path)].fetch_add(1, std::memory_order_relaxed);
    }
    expect_sane_notes(p.notes(), rounds);
  });
  EXPECT_EQ(counter, rounds * cpus);
  std::uint64_t taken = 0;
  for (const auto& path : paths) taken += path;
  EXPECT_EQ(taken, rounds * cpus);
  RecordingPlatform p(machine, 0);
  EXPECT_FALSE(lock.is_locked(p));
  maker.expect_clean(bench.areas);
}

template <class Maker>
void expect_trylock(Maker maker, CpuId cpus, std::uint64_t rounds) {
  lock::NativeMachine machine(cpus);
  Bench<Maker> bench(maker, cpus, 1);
  auto& lock = *bench.locks[0];
  std::uint64_t counter = 0;
  std::atomic<std::uint64_t> taken{0};
  on_cpus(machine, false, [&](RecordingPlatform& p) {
    for (std::uint64_t i = 0; i < rounds; ++i) {
      // Mixed with waiters, so that trylock also meets a queue.
      if (i % 4 == 0) {
        lock.lock(p);
      } else if (!lock.try_lock(p)) {
        continue;
      }
      ++counter;
      p.shake();
      EXPECT_FALSE(i % 16 == 0 && lock.try_lock(p));
      lock.unlock(p);
      taken.fetch_add(1, std::memory_order_relaxed);
    }
  });
  EXPECT_EQ(counter, taken.load());
  RecordingPlatform p(machine, 0);
  EXPECT_TRUE(lock.try_lock(p));
  lock.unlock(p);
  EXPECT_FALSE(lock.is_locked(p));
}

// Locks taken inside one another in one order by all, `depth` of them.
template <class Maker>
void expect_nesting(Maker maker, CpuId cpus, std::size_t depth, std::uint64_t rounds) {
  lock::NativeMachine machine(cpus);
  Bench<Maker> bench(maker, cpus, depth);
  std::vector<std::uint64_t> counters(depth, 0);
  on_cpus(machine, true, [&](RecordingPlatform& p) {
    for (std::uint64_t i = 0; i < rounds; ++i) {
      const std::size_t first = i % depth;
      for (std::size_t k = first; k < depth; ++k) bench.locks[k]->lock(p), ++counters[k];
      for (std::size_t k = depth; k-- > first;) bench.locks[k]->unlock(p);
    }
  });
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < rounds; ++i) sum += (depth - i % depth) * cpus;
  std::uint64_t counted = 0;
  for (const auto counter : counters) counted += counter;
  EXPECT_EQ(counted, sum);
  maker.expect_clean(bench.areas);
}

}  // namespace test
