// The classic ticket lock: take a number, wait until it is called.
//
// Low half: the number being served; high half: the next number to give. Numbers wrap at 2^16,
// which is more than there are CPUs. Strictly FIFO; every waiter polls the one word, and nobody
// yields, so a preempted waiter stops all behind it. Not reentrant; unlock by the CPU that locked.
// Source: J. Mellor-Crummey and M. Scott, "Algorithms for Scalable Synchronization on Shared-Memory
// Multiprocessors", ACM TOCS 9(1), 1991, section 2.2.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lock/knobs.h"
#include "lock/platform.h"

namespace lock {

template <Platform P>
class TicketSpinlock {
 public:
  using Knobs = NoKnobs;
  using CpuArea = NoCpuArea;

  static constexpr bool kStrictFifo = true;

  explicit TicketSpinlock(const Knobs& = {}, std::span<CpuArea> = {}) {}

  Path lock(P& p) {
    // One fetch-and-add: only afterwards is it known whether there was somebody to wait for.
    p.note_at_next_store(this, Note::queued);
    const std::uint32_t old =
        p.update(
             word_,
             [](std::uint32_t word) -> std::optional<std::uint32_t> { return word + kOneTicket; },
             std::memory_order_acquire, Hint::none)
            .old;
    const std::uint16_t mine = next(old);
    const bool free = serving(old) == mine;
    if (!free) wait_for(p, mine);
    p.note(this, Note::acquired);
    return free ? Path::fast : Path::queued;
  }

  bool try_lock(P& p) {
    p.note_at_next_store(this, Note::acquired);
    return p
        .update(
            word_,
            [](std::uint32_t word) -> std::optional<std::uint32_t> {
              if (serving(word) != next(word)) return std::nullopt;
              return word + kOneTicket;
            },
            std::memory_order_acquire, Hint::none)
        .stored;
  }

  // Only the owner changes the low half.
  void unlock(P& p) {
    const std::uint16_t mine = serving(p.load(word_, std::memory_order_relaxed));
    p.note_at_next_store(this, Note::released);
    p.store_low_half(word_, static_cast<std::uint16_t>(mine + 1), std::memory_order_release);
  }

  bool is_locked(P& p) const {
    const std::uint32_t word = p.load(word_, std::memory_order_relaxed);
    return serving(word) != next(word);
  }
  bool strict_fifo() const { return true; }

 private:
  static constexpr int kNextShift = 16;
  static constexpr std::uint32_t kOneTicket = 1u << kNextShift;

  static std::uint16_t serving(std::uint32_t word) { return static_cast<std::uint16_t>(word); }
  static std::uint16_t next(std::uint32_t word) {
    return static_cast<std::uint16_t>(word >> kNextShift);
  }

  void wait_for(P& p, std::uint16_t mine) {
    while (serving(p.load(word_, std::memory_order_acquire)) != mine) p.relax(kNoBudget);
  }

  typename P::template Atomic<std::uint32_t> word_{};  // first: the word's address is the lock's
};

}  // namespace lock
