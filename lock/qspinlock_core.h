// The powerpc queued spinlock's word, its queue nodes, and the atomic steps on the word.
//
// Each step is written once for every stage of the ladder (qspinlock_knobs.h); which form runs is
// decided by the lock's stage. Memory orders are part of the algorithm: the three acquiring steps
// have a barrier after success only, publish_tail one before it, unlock is a store-release, and the
// rest is relaxed. A conditional step that fails stores nothing and orders nothing.
//
// Ownership: a lock refers to its knobs and its guest's CPU areas, which must outlive it. Only
// `word_` and the atomics of the areas are memory of the guest. Source: Linux
// arch/powerpc/lib/qspinlock.c and include/asm/qspinlock.h (behaviour, not text).
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <optional>
#include <span>

#include "lock/platform.h"
#include "lock/qspinlock_knobs.h"
#include "lock/qspinlock_word.h"

namespace lock {

// A waiter's place in a queue. Packed like the kernel's, so that all nodes of a CPU and their count
// share one 128-byte line; yield_cpu fits 16 bits because a CPU number has 14.
template <Platform P>
struct QSpinlockNode {
  template <class T>
  using Atomic = typename P::template Atomic<T>;

  Atomic<QSpinlockNode*> next;
  Atomic<const void*> lock;        // whose queue; how a successor finds this node
  Atomic<std::uint32_t> cpu;       // for the prod of a new head
  Atomic<std::int16_t> yield_cpu;  // propagate_owner … tuning: confer to this CPU; -1: to nobody
  Atomic<std::uint8_t> sleepy;     // current: the owner was seen preempted
  Atomic<std::uint8_t> locked;     // the predecessor has handed the head of the queue over
};

template <Platform P>
struct alignas(kLineAlign) QSpinlockCpuArea {
  typename P::template Atomic<std::uint32_t> count;  // nodes in use: contexts that queue at once
  std::array<QSpinlockNode<P>, kMaxNesting> nodes;
  // When this CPU last saw a sleepy lock, in ns of p.clock(); 0: never. Touched by this CPU only.
  std::uint64_t sleepy_seen_ns = 0;
};

template <Platform P>
class QSpinlockCore {
 public:
  using Word = typename P::template Atomic<std::uint32_t>;
  using Knobs = QSpinlockKnobs;
  using Node = QSpinlockNode<P>;
  using CpuArea = QSpinlockCpuArea<P>;

  QSpinlockCore(const Knobs& knobs, Stage stage, std::span<CpuArea> cpus)
      : stage_(stage), knobs_(&knobs), cpus_(cpus) {
    static_assert(sizeof(CpuArea) == kLineAlign, "a CPU's nodes are one line");
  }

  bool has(Stage stage) const { return stage_ >= stage; }
  const Knobs& knobs() const { return *knobs_; }
  CpuArea& area(CpuId cpu) const { return cpus_[cpu]; }
  std::uint32_t load(P& p) const { return p.load(word_, std::memory_order_relaxed); }

  // Whether anybody may take the lock while somebody is queued. Without, the head takes a free word
  // for granted and counts nothing.
  bool maybe_stealers() const {
    return has(Stage::steal) && (trylock_steals() || knobs_->steal_spins != 0);
  }

  bool try_lock(P& p) { return trylock_steals() ? try_lock_steal(p) : try_lock_nosteal(p); }

  // Past the queue, but not past MUST_Q: every bit outside the tail must be clear.
  bool try_lock_steal(P& p) {
    const std::uint32_t mine = locked_by_me(p);
    p.note_at_next_store(this, Note::acquired);
    return p
        .update(
            word_,
            [mine](std::uint32_t word) -> std::optional<std::uint32_t> {
              if ((word & ~qword::kTailMask) != 0) return std::nullopt;
              return word | mine;
            },
            std::memory_order_acquire, hint())
        .stored;
  }

  // The head of the queue takes a free lock, and leaves the queue if it is its tail. Returns the
  // word before; the lock was taken if that was not locked.
  std::uint32_t take_as_head(P& p, std::uint32_t tail) {
    return has(Stage::llsc) ? take_by_update(p, tail) : take_by_compare(p, tail);
  }

  // Returns the word before.
  std::uint32_t publish_tail(P& p, std::uint32_t tail) {
    if (!has(Stage::llsc)) return publish_tail_by_compare(p, tail);
    p.note_at_next_store(this, Note::queued);
    return p
        .update(
            word_,
            [tail](std::uint32_t word) -> std::optional<std::uint32_t> {
              return (word & ~qword::kTailMask) | tail;
            },
            std::memory_order_release, Hint::none)
        .old;
  }

  void set_must_queue(P& p) {
    p.note_at_next_store(this, Note::must_queue);
    change(p, qword::kMustQueue, qword::kMustQueue);
  }

  void clear_must_queue(P& p) {
    p.note_at_next_store(this, Note::may_steal);
    change(p, qword::kMustQueue, 0);
  }

  // Only while the word is still `expected`, which must be of a hold that is not yet sleepy.
  bool try_set_sleepy(P& p, std::uint32_t expected) {
    assert(qword::is_locked(expected) && !qword::is_sleepy(expected));
    return p
        .update(
            word_,
            [expected](std::uint32_t word) -> std::optional<std::uint32_t> {
              if (word != expected) return std::nullopt;
              return word | qword::kSleepy;
            },
            std::memory_order_relaxed, Hint::none)
        .stored;
  }

  void unlock(P& p) {
    if (has(Stage::halfword_unlock)) {
      // Clears LOCKED, owner and SLEEPY; MUST_Q and the tail belong to the queue.
      p.note_at_next_store(this, Note::released);
      p.store_low_half(word_, 0, std::memory_order_release);
    } else if (has(Stage::mcs_queue)) {
      unlock_by_compare(p);
    } else {
      p.note_at_next_store(this, Note::released);
      p.store(word_, std::uint32_t{0}, std::memory_order_release);
    }
  }

 private:
  bool trylock_steals() const { return has(Stage::trylock_steal) && knobs_->try_lock_steal; }

  // The EH hint came with the direct updates and can be switched off from `tuning` on.
  Hint hint() const {
    if (!has(Stage::llsc) || (has(Stage::tuning) && !knobs_->eh_hint)) return Hint::none;
    return Hint::lock;
  }

  std::uint32_t locked_by_me(P& p) const {
    return has(Stage::owner) ? qword::locked_by(p.processor_id()) : qword::kLocked;
  }

  bool try_lock_nosteal(P& p) {
    const std::uint32_t mine = locked_by_me(p);
    p.note_at_next_store(this, Note::acquired);
    if (!has(Stage::llsc)) {
      return p.compare_exchange(word_, std::uint32_t{0}, mine, std::memory_order_acquire, hint()) ==
             0;
    }
    return p
        .update(
            word_,
            [mine](std::uint32_t word) -> std::optional<std::uint32_t> {
              if (word != 0) return std::nullopt;
              return mine;
            },
            std::memory_order_acquire, hint())
        .stored;
  }

  // Rebuilds the word from the tail, so MUST_Q and SLEEPY fall with it. Before there were thieves
  // nobody could have taken a lock that the head saw free, and the update was unconditional.
  std::uint32_t take_by_update(P& p, std::uint32_t tail) {
    const std::uint32_t mine = locked_by_me(p);
    const bool refuses = has(Stage::steal);
    p.note_at_next_store(this, Note::acquired);
    const std::uint32_t old = p.update(
                                   word_,
                                   [=](std::uint32_t word) -> std::optional<std::uint32_t> {
                                     if (refuses && qword::is_locked(word)) return std::nullopt;
                                     const std::uint32_t others = qword::tail_of(word);
                                     return others == tail ? mine : others | mine;
                                   },
                                   std::memory_order_acquire, hint())
                                  .old;
    assert(refuses || !qword::is_locked(old));
    return old;
  }

  // Two attempts, since a compare-and-swap cannot both keep a tail that has just grown and drop one
  // that has not.
  std::uint32_t take_by_compare(P& p, std::uint32_t tail) {
    const std::uint32_t seen = load(p);
    if (qword::tail_of(seen) == tail) {
      p.note_at_next_store(this, Note::acquired);
      const std::uint32_t old =
          p.compare_exchange(word_, seen, qword::kLocked, std::memory_order_acquire, hint());
      if (old == seen) return old;
    }
    p.note_at_next_store(this, Note::acquired);
    return p
        .update(
            word_,
            [](std::uint32_t word) -> std::optional<std::uint32_t> {
              return word | qword::kLocked;
            },
            std::memory_order_acquire, hint())
        .old;
  }

  std::uint32_t publish_tail_by_compare(P& p, std::uint32_t tail) {
    for (;;) {
      const std::uint32_t seen = load(p);
      const std::uint32_t wanted = (seen & ~qword::kTailMask) | tail;
      p.note_at_next_store(this, Note::queued);
      if (p.compare_exchange(word_, seen, wanted, std::memory_order_release, Hint::none) == seen) {
        return seen;
      }
    }
  }

  void unlock_by_compare(P& p) {
    for (;;) {
      const std::uint32_t seen = load(p);
      const std::uint32_t wanted = seen & ~qword::kLocked;
      p.note_at_next_store(this, Note::released);
      if (p.compare_exchange(word_, seen, wanted, std::memory_order_release, Hint::none) == seen) {
        return;
      }
    }
  }

  void change(P& p, std::uint32_t mask, std::uint32_t bits) {
    p.update(
        word_,
        [=](std::uint32_t word) -> std::optional<std::uint32_t> { return (word & ~mask) | bits; },
        std::memory_order_relaxed, Hint::none);
  }

  Word word_{};  // first: the word's address is the lock's
  Stage stage_;
  const Knobs* knobs_;
  std::span<CpuArea> cpus_;
};

}  // namespace lock
