// The powerpc simple spinlock: test-and-test-and-set with a directed yield.
//
// The word is 0 when free, else a token of the holder: bit 31 and its CPU in the low 16 bits. A
// waiter reads until it sees 0, then tries; while it reads it runs at low SMT priority, and confers
// to the holder when that is not dispatched (raw yield count, odd). Unfair, without bound and
// without memory. Not reentrant. Source: Linux arch/powerpc/include/asm/simple_spinlock.h and
// arch/powerpc/lib/locks.c.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "lock/knobs.h"
#include "lock/platform.h"

namespace lock {

struct SimpleKnobs {
  bool pv_yield_owner = true;
  bool eh_hint = true;

  bool set(std::string_view name, std::int64_t value);
};

inline constexpr std::array kSimpleKnobFields{
    flag_knob("pv_yield_owner", &SimpleKnobs::pv_yield_owner, "confer to a preempted owner"),
    flag_knob("eh_hint", &SimpleKnobs::eh_hint,
              "acquiring updates carry the hint that a store to unlock follows"),
};

template <Platform P>
class SimpleSpinlock {
 public:
  using Knobs = SimpleKnobs;
  using CpuArea = NoCpuArea;

  static constexpr bool kStrictFifo = false;
  static constexpr std::uint32_t kToken = 1u << 31;
  static constexpr std::uint32_t kHolderMask = 0xffff;

  explicit SimpleSpinlock(const Knobs& knobs, std::span<CpuArea> = {}) : knobs_(&knobs) {}

  Path lock(P& p) {
    if (try_lock(p)) return Path::fast;
    do {
      wait_until_free(p);
    } while (!try_lock(p));
    return Path::steal;
  }

  bool try_lock(P& p) {
    const std::uint32_t token = kToken | p.processor_id();
    p.note_at_next_store(this, Note::acquired);
    return p
        .update(
            word_,
            [token](std::uint32_t word) -> std::optional<std::uint32_t> {
              if (word != 0) return std::nullopt;
              return token;
            },
            std::memory_order_acquire, knobs_->eh_hint ? Hint::lock : Hint::none)
        .stored;
  }

  void unlock(P& p) {
    p.note_at_next_store(this, Note::released);
    p.store(word_, std::uint32_t{0}, std::memory_order_release);
  }

  bool is_locked(P& p) const { return load(p) != 0; }
  bool strict_fifo() const { return false; }

 private:
  std::uint32_t load(P& p) const { return p.load(word_, std::memory_order_relaxed); }

  // Low priority for the whole wait, hcalls included.
  void wait_until_free(P& p) {
    const bool yields = knobs_->pv_yield_owner && p.is_shared_processor();
    p.spin_begin();
    do {
      // Without a confer it saw a holder that runs, and will until the word or the count changes.
      if (!yields || !yield_to_holder(p)) p.relax(kNoBudget);
    } while (load(p) != 0);
    p.spin_end();
  }

  // At most one hcall. False: nothing was done, and the same would be done again.
  bool yield_to_holder(P& p) {
    const std::uint32_t word = load(p);
    if (word == 0) return true;
    const CpuId holder = word & kHolderMask;
    const std::uint32_t count = p.yield_count_of(holder);
    if ((count & 1) == 0) return false;
    p.fence(std::memory_order_acquire);  // the count was read before the word is read again
    if (load(p) == word) p.yield_to_preempted(holder, count);
    return true;
  }

  typename P::template Atomic<std::uint32_t> word_{};  // first: the word's address is the lock's
  const Knobs* knobs_;
};

}  // namespace lock
