// The native platform with the notes of its own CPU written down, in the order they took effect.
//
// It also lets other threads run before some of its accesses to memory, at places drawn from a
// fixed sequence: on a host with few CPUs the windows of a lock would hardly ever be hit otherwise.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "lock/native_platform.h"

namespace test {

class RecordingPlatform : public lock::NativePlatform {
  using Base = lock::NativePlatform;

 public:
  RecordingPlatform(lock::NativeMachine& machine, lock::CpuId cpu)
      : Base(machine, cpu), dice_(cpu + 1) {}

  // Set to run nested work, as an interrupt would, at some turn of a wait; returns when it is done.
  std::function<void(RecordingPlatform&)> interrupt;

  const std::vector<lock::Note>& notes() const { return notes_; }

  void note(const void*, lock::Note note) { notes_.push_back(note); }
  void note_at_next_store(const void*, lock::Note note) { pending_ = note; }

  template <class T>
  T load(const Atomic<T>& a, std::memory_order order) {
    shake();
    return Base::load(a, order);
  }
  template <class T>
  void store(Atomic<T>& a, std::type_identity_t<T> value, std::memory_order order) {
    shake();
    Base::store(a, value, order);
    settle(true);
  }
  void store_low_half(Atomic<std::uint32_t>& a, std::uint16_t value, std::memory_order order) {
    shake();
    Base::store_low_half(a, value, order);
    settle(true);
  }
  template <class T, class F>
  lock::Updated<T> update(Atomic<T>& a, F&& f, std::memory_order order, lock::Hint hint) {
    shake();
    const auto result = Base::update(a, std::forward<F>(f), order, hint);
    settle(result.stored);
    return result;
  }
  template <class T>
  T compare_exchange(Atomic<T>& a, std::type_identity_t<T> expected, std::type_identity_t<T> wanted,
                     std::memory_order order, lock::Hint hint) {
    shake();
    const T old = Base::compare_exchange(a, expected, wanted, order, hint);
    settle(old == expected);
    return old;
  }
  std::uint64_t relax(std::uint64_t budget) {
    if (interrupt) std::exchange(interrupt, nullptr)(*this);
    return Base::relax(budget);
  }

  // Also to be called inside a critical section: being preempted there is what makes others wait.
  void shake() {
    dice_ = dice_ * 6364136223846793005u + 1442695040888963407u;
    if ((dice_ >> 33) % kOneIn == 0) std::this_thread::yield();
  }

 private:
  static constexpr std::uint64_t kOneIn = 8;

  void settle(bool stored) {
    const auto note = std::exchange(pending_, std::nullopt);
    if (note && stored) notes_.push_back(*note);
  }

  std::vector<lock::Note> notes_;
  std::optional<lock::Note> pending_;
  std::uint64_t dice_;
};

static_assert(lock::Platform<RecordingPlatform>);

// Of one CPU that took one lock `times` times, never two at once.
inline void expect_sane_notes(const std::vector<lock::Note>& notes, std::uint64_t times) {
  using enum lock::Note;
  std::uint64_t acquisitions = 0;
  bool owned = false;
  bool in_queue = false;
  bool forbids = false;
  for (const auto note : notes) {
    if (note == acquired) {
      EXPECT_FALSE(std::exchange(owned, true));
      in_queue = forbids = false;
      ++acquisitions;
    } else if (note == released) {
      EXPECT_TRUE(std::exchange(owned, false));
    } else {
      EXPECT_FALSE(owned) << "a waiter's note from the owner";
      if (note == queued) {
        EXPECT_FALSE(std::exchange(in_queue, true));
      }
      if (note == head) {
        EXPECT_TRUE(in_queue);
      }
      if (note == must_queue) {
        EXPECT_TRUE(in_queue && !std::exchange(forbids, true));
      }
      if (note == may_steal) {
        EXPECT_TRUE(std::exchange(forbids, false));
      }
    }
  }
  EXPECT_FALSE(owned);
  EXPECT_EQ(acquisitions, times);
}

}  // namespace test
