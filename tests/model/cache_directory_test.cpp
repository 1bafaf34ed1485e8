// Coherence transactions, worked out by hand on round figures (rig.h): transfers take 10 ns in a
// chip, 20 in a socket, 40 to a socket one hop away, 80 two hops away; memory 100 ns; a hit 1 ns.
#include "sim/machine/cache_directory.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/model/rig.h"

namespace sim {
namespace {

struct Word {
  std::uint64_t value = 0;
};

// 4 sockets × 2 chips × 2 cores; two sockets are one group. Cores 0 1 | 2 3 || 4 5 | 6 7 || 8 …
constexpr Topology kMachine{.sockets = 4, .chips = 2, .cores = 2, .threads = 1};

Time timed(Execution& e, const std::function<void()>& action) {
  e.sync();
  const Time begin = e.now();
  action();
  e.sync();
  return e.now() - begin;
}

// How long core `reader`'s load takes after core 0 has written the word.
Time load_after_write_by_core_0(std::uint32_t reader) {
  Rig rig(kMachine);
  auto* word = rig.word<Word>();
  Time taken{};
  rig.vcpu_on(0, [&](Execution& e) { e.store(&word->value, 8, 7); });
  rig.vcpu_on(reader, [&](Execution& e) {
    e.compute(microseconds(1));
    taken = timed(e, [&] { EXPECT_EQ(e.load(&word->value, 8), 7u); });
  });
  rig.run(microseconds(5));
  return taken;
}

TEST(CacheDirectory, ALineTravelsByDistance) {
  EXPECT_EQ(load_after_write_by_core_0(1), nanoseconds(10));
  EXPECT_EQ(load_after_write_by_core_0(2), nanoseconds(20));
  EXPECT_EQ(load_after_write_by_core_0(4), nanoseconds(40));
  EXPECT_EQ(load_after_write_by_core_0(8), nanoseconds(80));
}

TEST(CacheDirectory, TheFirstReadComesFromMemoryAndTheSecondHits) {
  for (const auto& [core, expected] : {std::pair{0u, 100}, {4u, 140}, {12u, 180}}) {
    Rig rig(kMachine);
    auto* word = rig.word<Word>(0);
    Time first{}, second{};
    rig.vcpu_on(core, [&](Execution& e) {
      first = timed(e, [&] { e.load(&word->value, 8); });
      second = timed(e, [&] { e.load(&word->value, 8); });
    });
    rig.run(microseconds(5));
    EXPECT_EQ(first, nanoseconds(expected)) << core;  // remote memory adds the transfer
    EXPECT_EQ(second, nanoseconds(1)) << core;
  }
}

TEST(CacheDirectory, AWriteToASharedLineAsksTheFarthestSharer) {
  Rig rig(kMachine);
  auto* word = rig.word<Word>();
  Time taken{};
  rig.vcpu_on(0, [&](Execution& e) { e.load(&word->value, 8); });
  for (const std::uint32_t core : {1u, 4u})
    rig.vcpu_on(core, [&](Execution& e) {
      e.compute(nanoseconds(500));
      e.load(&word->value, 8);
    });
  rig.vcpu_on(2, [&](Execution& e) {
    e.compute(microseconds(1));
    e.load(&word->value, 8);
    taken = timed(e, [&] {
      e.store(&word->value, 8, 1);
      e.drain_stores();
    });
  });
  rig.run(microseconds(5));
  EXPECT_EQ(taken, nanoseconds(40));  // core 4; cores 0 and 1 are nearer
}

TEST(CacheDirectory, WritesToOneLineAreServedOneAfterTheOther) {
  Rig rig({.cores = 8});
  auto* word = rig.word<Word>();
  std::vector<Time> done(8);
  for (std::uint32_t core = 0; core < 8; ++core)
    rig.vcpu_on(core, [&, core](Execution& e) {
      e.compute(microseconds(1));
      e.store(&word->value, 8, core);
      e.drain_stores();
      done[core] = e.now();
    });
  rig.run(microseconds(5));
  // The first comes from memory, the others one transfer behind each other: O(N).
  for (std::uint32_t core = 0; core < 8; ++core)
    EXPECT_EQ(done[core], microseconds(1) + nanoseconds(100 + 10 * core));
}

TEST(CacheDirectory, ReadsOfOneLineOverlap) {
  Rig rig({.cores = 8});
  auto* word = rig.word<Word>();
  std::vector<Time> done(8);
  rig.vcpu_on(0, [&](Execution& e) { e.store(&word->value, 8, 1); });
  for (std::uint32_t core = 1; core < 8; ++core)
    rig.vcpu_on(core, [&, core](Execution& e) {
      e.compute(microseconds(1));
      e.load(&word->value, 8);
      done[core] = e.now();
    });
  rig.run(microseconds(5));
  // Each keeps the line busy for 2 ns only.
  for (std::uint32_t core = 1; core < 8; ++core)
    EXPECT_EQ(done[core], microseconds(1) + nanoseconds(10 + 2 * (core - 1)));
}

TEST(CacheDirectory, CopiesAreGoneWhenAWriteIsServed_TheValueIsThereWhenItArrives) {
  Rig rig({.cores = 2});
  auto* word = rig.word<Word>();
  Time reader_had_it{}, reader_got_it{};
  std::uint64_t value = 0;
  rig.vcpu_on(0, [&](Execution& e) {
    e.load(&word->value, 8);
    e.compute(nanoseconds(903));  // from 100 (memory) to 1003
    reader_had_it = e.now();
    value = e.load(&word->value, 8);
    reader_got_it = e.now();
  });
  rig.vcpu_on(1, [&](Execution& e) {
    e.compute(nanoseconds(1000));
    e.store(&word->value, 8, 5);  // served at 1000, arrives at 1010
  });
  rig.run(microseconds(5));
  EXPECT_EQ(reader_had_it, nanoseconds(1003));
  EXPECT_EQ(reader_got_it, nanoseconds(1020));  // waits for the arrival, then its own transfer
  EXPECT_EQ(value, 5u);
}

TEST(CacheDirectory, AConditionalThatWaitsWhileAnotherWritesFailsAtThatMoment) {
  Rig rig({.cores = 4});
  auto* word = rig.word<Word>();
  std::vector<bool> success(3);
  std::vector<Time> done(3);
  for (std::uint32_t core = 0; core < 3; ++core)
    rig.vcpu_on(core, [&, core](Execution& e) {
      e.load(&word->value, 8);
      e.compute(nanoseconds(990) - e.now());
      e.reserve(&word->value, 8);  // all hit
      e.work(nanoseconds(10 + core));
      success[core] = e.conditional(&word->value, 8, core + 1, Time{0});
      done[core] = e.now();
    });
  rig.vcpu_on(3, [&](Execution& e) {
    e.compute(nanoseconds(995));
    e.load(&word->value, 8);  // keeps the line busy until 1005
  });
  rig.run(microseconds(5));
  EXPECT_EQ(success, (std::vector<bool>{true, false, false}));
  EXPECT_EQ(done[0], nanoseconds(1015));
  EXPECT_EQ(done[1], nanoseconds(1005));  // the reservation went with the snoop: no transfer
  EXPECT_EQ(done[2], nanoseconds(1005));
  EXPECT_EQ(word->value, 1u);
}

TEST(CacheDirectory, AStoreByAnotherThreadOfTheCoreLosesTheReservation) {
  Rig rig({.cores = 1, .threads = 2});
  auto* word = rig.word<Word>();
  bool success = true;
  rig.vcpu_on(0, [&](Execution& e) {
    e.reserve(&word->value, 8);
    e.work(microseconds(1));
    success = e.conditional(&word->value, 8, 1, Time{0});
  });
  rig.vcpu_on(1, [&](Execution& e) {
    e.compute(nanoseconds(300));
    e.store(&word->value, 8, 2);
  });
  rig.run(microseconds(5));
  EXPECT_FALSE(success);
  EXPECT_EQ(word->value, 2u);
}

// Core 0 acquires at 1000 with a hold of 200 ns; core 1 asks at 1050.
Time asked_for_a_held_line(bool owner_stores_at_1100) {
  Rig rig({.cores = 2});
  auto* word = rig.word<Word>();
  Time got{};
  rig.vcpu_on(0, [&](Execution& e) {
    e.load(&word->value, 8);
    e.compute(microseconds(1) - e.now());
    e.reserve(&word->value, 8);
    EXPECT_TRUE(e.conditional(&word->value, 8, 1, nanoseconds(200)));
    e.compute(nanoseconds(100));
    if (owner_stores_at_1100) e.store(&word->value, 8, 0);
  });
  rig.vcpu_on(1, [&](Execution& e) {
    e.compute(nanoseconds(1050));
    e.load(&word->value, 8);
    got = e.now();
  });
  rig.run(microseconds(5));
  return got;
}

TEST(CacheDirectory, TheEhHintHoldsTheLineUntilTheStoreOrItsTimeIsUp) {
  EXPECT_EQ(asked_for_a_held_line(false), nanoseconds(1210));
  EXPECT_EQ(asked_for_a_held_line(true), nanoseconds(1110));
}

TEST(CacheDirectory, NeighboursOnALineTakeItFromEachOther) {
  struct Pair {
    std::uint64_t a = 0, b = 0;
  };
  Rig rig({.cores = 2});
  auto* pair = rig.word<Pair>();
  Time taken{};
  rig.vcpu_on(0, [&](Execution& e) {
    e.store(&pair->a, 8, 1);
    e.drain_stores();
    e.compute(microseconds(2));
    taken = timed(e, [&] { e.load(&pair->a, 8); });
  });
  rig.vcpu_on(1, [&](Execution& e) {
    e.compute(microseconds(1));
    e.store(&pair->b, 8, 2);
  });
  rig.run(microseconds(5));
  EXPECT_EQ(taken, nanoseconds(10));
}

TEST(StoreBuffer, StoresTakeEffectInOrderAndOwnLoadsSeeThem) {
  Rig rig({.cores = 2});
  auto* far = rig.word<Word>();
  auto* near = rig.word<Word>();
  Time forwarded{};
  std::uint64_t seen_near = 0, seen_far = 0;
  rig.vcpu_on(0, [&](Execution& e) {
    e.store(&near->value, 8, 1);
    e.drain_stores();             // owns `near` from 100 on
    e.store(&far->value, 8, 2);   // 100 ns from memory
    e.store(&near->value, 8, 3);  // owned, but behind it
    forwarded = timed(e, [&] { EXPECT_EQ(e.load(&near->value, 8), 3u); });
  });
  rig.vcpu_on(1, [&](Execution& e) {
    e.compute(nanoseconds(150));
    seen_near = e.load(&near->value, 8);
    seen_far = e.load(&far->value, 8);
  });
  rig.run(microseconds(5));
  EXPECT_EQ(forwarded, nanoseconds(1));
  EXPECT_EQ(seen_near, 1u);  // at 160 the first store is still on its way
  EXPECT_EQ(seen_far, 2u);
}

// An interrupt that comes just before a locked instruction leaves stores behind. The instruction
// waits for them before it takes its line: afterwards, one to that line could never leave the
// buffer.
TEST(StoreBuffer, ALockedInstructionWaitsForTheStoresOfAnInterruptThatCameJustBefore) {
  struct Pair {
    std::uint64_t a = 0, b = 0;
  };
  struct Handler final : AttentionHandler {
    Execution* execution = nullptr;
    Word* far = nullptr;
    Pair* pair = nullptr;
    void attend() override {
      execution->lower_attention();
      execution->store(&far->value, 8, 1);
      execution->store(&pair->b, 8, 2);
      execution->release_fence();
    }
  } handler;
  Profile profile = round_profile();
  profile.reserve_exclusive = 1;
  Rig rig({.cores = 2}, profile);
  handler.far = rig.word<Word>();
  handler.pair = rig.word<Pair>();
  Time done{};
  bool success = false;
  auto& vcpu = rig.vcpu_on(0, [&](Execution& e) {
    e.store(&handler.pair->a, 8, 1);
    e.drain_stores();  // owns the pair's line from 100 on
    e.work(nanoseconds(900));
    e.reserve(&handler.pair->a, 8);  // the interrupt is taken at 1000, before it
    success = e.conditional(&handler.pair->a, 8, 7, Time{0});
    done = e.now();
  });
  handler.execution = &vcpu;
  vcpu.set_attention_handler(&handler);
  rig.at(nanoseconds(500), [&] { vcpu.raise_attention(); });
  rig.run(microseconds(5));
  EXPECT_TRUE(success);
  EXPECT_EQ(handler.pair->a, 7u);
  EXPECT_EQ(handler.pair->b, 2u);
  EXPECT_EQ(done, nanoseconds(1100));  // the far line's 100 ns from memory
}

// Core 0 stores to a line that has to come from memory (100 ns), and then updates a flag that it
// owns. When does the flag change?
Time flag_changes(bool release_fence) {
  Rig rig({.cores = 2});
  auto* data = rig.word<Word>();
  auto* flag = rig.word<Word>();
  Time changed{};
  rig.vcpu_on(0, [&](Execution& e) {
    e.store(&flag->value, 8, 0);
    e.drain_stores();
    e.compute(microseconds(1) - e.now());
    e.store(&data->value, 8, 42);
    if (release_fence) e.release_fence();
    e.reserve(&flag->value, 8);
    EXPECT_TRUE(e.conditional(&flag->value, 8, 1, Time{0}));
    changed = e.now();
  });
  rig.run(microseconds(5));
  return changed;
}

TEST(StoreBuffer, AReleaseFenceHoldsALaterConditionalBackUntilEarlierStoresAreThere) {
  EXPECT_EQ(flag_changes(false), microseconds(1));
  EXPECT_EQ(flag_changes(true), microseconds(1) + nanoseconds(100));
}

// The way back from an interrupt clears the reservation, as Linux does it.
TEST(Execution, AnInterruptBetweenReserveAndConditionalLosesTheReservation) {
  struct Handler final : AttentionHandler {
    Execution* execution = nullptr;
    void attend() override { execution->lower_attention(); }
  };
  for (const bool interrupted : {false, true}) {
    Handler handler;
    Rig rig({.cores = 1});
    auto* word = rig.word<Word>();
    bool success = false;
    auto& vcpu = rig.vcpu_on(0, [&](Execution& e) {
      e.reserve(&word->value, 8);
      e.work(microseconds(1));
      success = e.conditional(&word->value, 8, 1, Time{0});
    });
    handler.execution = &vcpu;
    vcpu.set_attention_handler(&handler);
    if (interrupted) rig.at(nanoseconds(500), [&] { vcpu.raise_attention(); });
    rig.run(microseconds(5));
    EXPECT_EQ(success, !interrupted);
  }
}

// A loop whose first turns do more work than the later ones, on the same values: when it sees a
// write must not depend on whether turns are skipped.
Time sees_the_write(bool fast_forward) {
  Rig rig({.cores = 2}, round_profile(), fast_forward);
  auto* word = rig.word<Word>();
  auto* other = rig.word<Word>();
  Time seen{};
  rig.vcpu_on(0, [&](Execution& e) {
    for (int turn = 0;; ++turn) {
      const bool done = e.load(&word->value, 8) != 0;
      if (turn < 40) e.work(nanoseconds(turn % 5));
      e.load(&other->value, 8);
      if (done) break;
      e.relax(~std::uint64_t{0});
    }
    seen = e.now();
  });
  rig.vcpu_on(1, [&](Execution& e) {
    e.compute(microseconds(3));
    e.store(&word->value, 8, 1);
  });
  rig.run(microseconds(9));
  return seen;
}

TEST(Execution, TurnsAreSkippedOnlyWhenTheyDoTheSameWork) {
  const Time stepped = sees_the_write(false);
  EXPECT_GT(stepped, microseconds(3));
  EXPECT_EQ(sees_the_write(true), stepped);
}

}  // namespace
}  // namespace sim
