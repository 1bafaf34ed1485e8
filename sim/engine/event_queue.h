// The future event list: an indexed 4-ary heap of at most one event a slot.
//
// A slot is an entity that acts (a vCPU, a physical CPU's timer, …). Events are ordered by
// (time, slot): the key is unique, so the order is total and does not depend on who was scheduled
// first. That is what makes ties stable, and equal between runs that skip events and runs that
// don't.
//
//   set, remove   O(log n)     top   O(1)     memory   20 bytes a slot
#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "sim/engine/time.h"

namespace sim {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = ~Slot{0};

struct EventKey {
  Time time = kNever;
  Slot slot = kNoSlot;
  friend constexpr bool operator<(const EventKey& a, const EventKey& b) {
    return a.time != b.time ? a.time < b.time : a.slot < b.slot;
  }
  friend constexpr bool operator==(const EventKey&, const EventKey&) = default;
};

class EventQueue {
 public:
  Slot add_slot();
  std::size_t slots() const { return position_.size(); }

  bool empty() const { return heap_.empty(); }
  // The earliest event; {kNever, kNoSlot} when empty.
  EventKey top() const { return heap_.empty() ? EventKey{} : heap_.front(); }
  bool contains(Slot slot) const { return position_[slot] != kAbsent; }

  // Schedules the slot's event, or moves it.
  void set(Slot slot, Time time);
  // Takes the slot's event out, if it has one.
  void remove(Slot slot);
  // Takes out and returns the earliest event. Precondition: not empty.
  EventKey pop();

 private:
  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};
  static constexpr std::uint32_t kArity = 4;

  void sift_up(std::uint32_t hole, EventKey key);
  void sift_down(std::uint32_t hole, EventKey key);
  void place(std::uint32_t at, EventKey key) {
    heap_[at] = key;
    position_[key.slot] = at;
  }

  std::vector<EventKey> heap_;
  std::vector<std::uint32_t> position_;  // of each slot in heap_
};

}  // namespace sim
