// Tunables and stages of the powerpc queued spinlock.
//
// Names and defaults are those of the kernel's debugfs files (`qspl_<name>`), arch/powerpc/lib/
// qspinlock.c; try_lock_steal and eh_hint are compile-time constants there. Spins are iterations of
// a loop, not time. A knob whose mechanism the chosen stage does not have yet is ignored.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "lock/knobs.h"

namespace lock {

struct QSpinlockKnobs {
  std::uint64_t steal_spins = 1u << 5;
  std::uint64_t remote_steal_spins = 1u << 2;
  std::uint64_t head_spins = 1u << 8;
  bool try_lock_steal = true;
  bool pv_yield_owner = true;
  bool pv_yield_allow_steal = false;
  bool pv_spin_on_preempted_owner = false;
  bool pv_sleepy_lock = true;
  bool pv_sleepy_lock_sticky = false;
  std::uint64_t pv_sleepy_lock_interval_ns = 0;
  std::uint64_t pv_sleepy_lock_factor = 1u << 8;
  bool pv_yield_prev = true;
  bool pv_yield_propagate_owner = true;  // propagate_owner … tuning
  bool pv_yield_sleepy_owner = true;     // current, where it replaces the one above
  bool pv_prod_head = false;
  bool eh_hint = true;

  bool set(std::string_view name, std::int64_t value);
};

// The kernel's counts are ints; a product of two of them still fits 64 bits.
inline constexpr std::int64_t kMaxSpins = std::numeric_limits<std::int32_t>::max();

inline constexpr std::array kQSpinlockKnobFields{
    number_knob("steal_spins", &QSpinlockKnobs::steal_spins, 0, kMaxSpins,
                "iterations of trying to steal before queueing; 0 goes straight to the queue"),
    number_knob("remote_steal_spins", &QSpinlockKnobs::remote_steal_spins, 0, kMaxSpins,
                "the same while the owner is on another NUMA node"),
    number_knob("head_spins", &QSpinlockKnobs::head_spins, 0, kMaxSpins,
                "iterations of the queue head before it forbids stealing"),
    flag_knob("try_lock_steal", &QSpinlockKnobs::try_lock_steal,
              "the first attempt and trylock may pass the queue"),
    flag_knob("pv_yield_owner", &QSpinlockKnobs::pv_yield_owner, "confer to a preempted owner"),
    flag_knob("pv_yield_allow_steal", &QSpinlockKnobs::pv_yield_allow_steal,
              "the head allows stealing while it confers"),
    flag_knob("pv_spin_on_preempted_owner", &QSpinlockKnobs::pv_spin_on_preempted_owner,
              "iterations that found the owner preempted do not count"),
    flag_knob("pv_sleepy_lock", &QSpinlockKnobs::pv_sleepy_lock,
              "mark the lock sleepy when its owner is seen preempted"),
    flag_knob("pv_sleepy_lock_sticky", &QSpinlockKnobs::pv_sleepy_lock_sticky,
              "a waiter that saw preemption marks every later hold sleepy too"),
    number_knob("pv_sleepy_lock_interval_ns", &QSpinlockKnobs::pv_sleepy_lock_interval_ns, 0,
                std::numeric_limits<std::int64_t>::max(),
                "how long a CPU remembers a sleepy lock, for all locks; 0 is off"),
    number_knob("pv_sleepy_lock_factor", &QSpinlockKnobs::pv_sleepy_lock_factor, 0, kMaxSpins,
                "multiplies the spins of a waiter that saw a sleepy lock"),
    flag_knob("pv_yield_prev", &QSpinlockKnobs::pv_yield_prev,
              "a queued waiter confers to a preempted predecessor"),
    flag_knob("pv_yield_propagate_owner", &QSpinlockKnobs::pv_yield_propagate_owner,
              "the queue passes on whom to confer to (stages before current)"),
    flag_knob("pv_yield_sleepy_owner", &QSpinlockKnobs::pv_yield_sleepy_owner,
              "a queued waiter confers to the owner when told that it is preempted"),
    flag_knob("pv_prod_head", &QSpinlockKnobs::pv_prod_head,
              "prod the new queue head when it is preempted"),
    flag_knob("eh_hint", &QSpinlockKnobs::eh_hint,
              "acquiring updates carry the hint that a store to unlock follows"),
};

// The 2022 series as a ladder: every rung has all that the rungs below it have.
// Source: "powerpc: alternate queued spinlock implementation" v3, N. Piggin, 26 Nov 2022, patch by
// patch; `current` adds the fixes of October 2023 and August 2024.
enum class Stage : std::uint8_t {
  simple_word,        // test-and-set by compare-and-swap
  mcs_queue,          // strictly FIFO queue, compare-and-swap loops throughout
  halfword_unlock,    // unlock is a plain 16-bit store
  llsc,               // every update is one load-reserve/store-conditional loop
  steal,              // newcomers try the lock before they queue
  must_queue,         // the head may forbid that
  owner,              // the owner's CPU is in the word
  yield_owner,        // thieves and head confer to a preempted owner
  yield_prev,         // queued waiters confer to a preempted predecessor
  yield_allow_steal,  // the head may allow stealing while it confers
  propagate_owner,    // the owner's CPU is passed down the queue
  prod_head,          // the new head is prodded
  trylock_steal,      // trylock passes the queue
  spin_begin,         // waits run at low SMT priority
  remote_steal,       // fewer tries while the owner is on another node
  spin_on_preempted,  // iterations on a preempted owner may go uncounted
  sleepy,             // preemption is remembered in the word
  tuning,             // the EH hint can be switched off
  current,            // mainline: preemption, not a CPU, is passed down the queue
};

inline constexpr std::array<std::string_view, 19> kStageNames{
    "simple_word",       "mcs_queue", "halfword_unlock", "llsc",       "steal",
    "must_queue",        "owner",     "yield_owner",     "yield_prev", "yield_allow_steal",
    "propagate_owner",   "prod_head", "trylock_steal",   "spin_begin", "remote_steal",
    "spin_on_preempted", "sleepy",    "tuning",          "current"};
static_assert(kStageNames.size() == static_cast<std::size_t>(Stage::current) + 1);

constexpr std::string_view stage_name(Stage stage) {
  return kStageNames[static_cast<std::size_t>(stage)];
}

// The empty name is the default, `current`; nullopt for an unknown one.
constexpr std::optional<Stage> parse_stage(std::string_view name) {
  if (name.empty()) return Stage::current;
  for (std::size_t i = 0; i < kStageNames.size(); ++i) {
    if (kStageNames[i] == name) return static_cast<Stage>(i);
  }
  return std::nullopt;
}

}  // namespace lock
