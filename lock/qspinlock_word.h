// Layout of the powerpc queued spinlock's 32-bit word.
//
//   bit  0        LOCKED     somebody owns the lock
//   bits 1..14    OWNER_CPU  the owner's CPU as it is (0 is CPU 0); means something only if LOCKED
//   bit  15       SLEEPY     the owner was seen preempted during this hold
//   bit  16       MUST_Q     the queue head forbids stealing
//   bits 17..31   TAIL_CPU   CPU of the last queued waiter, plus one; 0: nobody is queued
//
// Bits 0..15 form the half-word that the owner alone may store plainly, to unlock; everything else
// changes the whole word by an atomic update. Hence SLEEPY, which dies with the hold, lives in the
// low half, and MUST_Q and the tail, which outlive it, in the high half. Source: Linux
// arch/powerpc/include/asm/qspinlock_types.h (N. Piggin, 2022).
#pragma once

#include <cstdint>

#include "lock/platform.h"

namespace lock::qword {

inline constexpr std::uint32_t kLocked = 1u << 0;
inline constexpr int kOwnerShift = 1;
inline constexpr std::uint32_t kOwnerMask = (kMaxCpus - 1) << kOwnerShift;
inline constexpr std::uint32_t kSleepy = 1u << 15;
inline constexpr std::uint32_t kMustQueue = 1u << 16;
inline constexpr int kTailShift = 17;
inline constexpr std::uint32_t kTailMask = ~std::uint32_t{0} << kTailShift;

static_assert((kLocked | kOwnerMask | kSleepy) == 0xffff);
static_assert((kMustQueue | kTailMask) == 0xffff0000);

constexpr bool is_locked(std::uint32_t word) {
  return (word & kLocked) != 0;
}
constexpr bool is_sleepy(std::uint32_t word) {
  return (word & kSleepy) != 0;
}
constexpr bool must_queue(std::uint32_t word) {
  return (word & kMustQueue) != 0;
}
constexpr bool has_tail(std::uint32_t word) {
  return (word & kTailMask) != 0;
}

constexpr CpuId owner_of(std::uint32_t word) {
  return (word & kOwnerMask) >> kOwnerShift;
}
constexpr std::uint32_t locked_by(CpuId cpu) {
  return kLocked | (cpu << kOwnerShift);
}

constexpr std::uint32_t tail_of(std::uint32_t word) {
  return word & kTailMask;
}
constexpr std::uint32_t encode_tail(CpuId cpu) {
  return (cpu + 1) << kTailShift;
}
// Only for a word that has a tail.
constexpr CpuId tail_cpu(std::uint32_t word) {
  return (word >> kTailShift) - 1;
}

}  // namespace lock::qword
