// The future event list: an indexed 4-ary heap of at most one event a slot.
//
// A slot is an entity that acts (a vCPU, a physical CPU's timer, …). Events are ordered by
// (time, slot): the key is unique, so the order is total and does not depend on who was scheduled
// first. That is what makes ties stable, and equal between runs that skip events and runs that
// don't.
//
//   set, remove   O(log n)     top   O(1)     memory   20 bytes a slot
//
// The four children of a node share a cache line, and the smallest of them is found without a
// branch that could be mispredicted: measured, this beats arities 2 and 8, index-carrying
// comparisons, bottom-up deletion and a winner tree.
#pragma once

#include <boost/align/aligned_allocator.hpp>
#include <cassert>
#include <cstdint>
#include <vector>

#include "sim/engine/time.h"

namespace sim {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = ~Slot{0};

struct EventKey {
  Time time = kNever;  // not negative
  Slot slot = kNoSlot;
  // Compared as one number of 128 bits, which takes no branch: which of two events is earlier is a
  // coin toss to a branch predictor.
  friend constexpr bool operator<(const EventKey& a, const EventKey& b) {
    return a.wide() < b.wide();
  }
  friend constexpr bool operator==(const EventKey&, const EventKey&) = default;

 private:
  __extension__ using Wide = unsigned __int128;
  constexpr Wide wide() const {
    return Wide{static_cast<std::uint64_t>(time.count())} << 64 | slot;
  }
};

class EventQueue {
 public:
  EventQueue() : heap_(kArity + kArity) {}

  Slot add_slot();
  std::size_t slots() const { return position_.size(); }

  bool empty() const { return size_ == 0; }
  // The earliest event; {kNever, kNoSlot} when empty.
  EventKey top() const { return at(0); }
  bool contains(Slot slot) const { return position_[slot] != kAbsent; }

  // Schedules the slot's event, or moves it.
  void set(Slot slot, Time time);
  // Takes the slot's event out, if it has one.
  void remove(Slot slot);
  // Takes out and returns the earliest event. Precondition: not empty.
  EventKey pop();
  // The same as set(key.slot, key.time) and pop(), in one pass. Precondition: the slot has no
  // event, and the earliest event is earlier than `key`.
  EventKey exchange_top(EventKey key);

  // Who moved up to within the next five events by the latest pop or exchange; kNoSlot: nobody. It
  // will act soon: a hint for who wants to have its data at hand.
  Slot rising() const { return at(rising_).slot; }

 private:
  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};
  static constexpr std::uint32_t kArity = 4;
  static constexpr std::size_t kCacheLine = 64;

  // Heap index 1 (the first child of the root) stands at the beginning of a cache line, and behind
  // the last event stand keys that are later than any: a node always has four children.
  EventKey& at(std::uint32_t i) { return heap_[i + kArity - 1]; }
  const EventKey& at(std::uint32_t i) const { return heap_[i + kArity - 1]; }

  void place(std::uint32_t i, EventKey key) {
    at(i) = key;
    position_[key.slot] = i;
  }
  void sift_up(std::uint32_t hole, EventKey key);
  void sift_down(std::uint32_t hole, EventKey key);
  // The earliest child of node `i`, which has one.
  std::uint32_t first_child(std::uint32_t i) const;
  // Fills the hole at the root.
  void replace_root(EventKey key);
  EventKey take_last();

  std::vector<EventKey, boost::alignment::aligned_allocator<EventKey, kCacheLine>> heap_;
  std::vector<std::uint32_t> position_;  // of each slot in the heap
  std::uint32_t size_ = 0;
  std::uint32_t rising_ = 0;
};

inline std::uint32_t EventQueue::first_child(std::uint32_t i) const {
  // A knock-out in registers: with indices in place of keys each round would wait for a load.
  const std::uint32_t first = i * kArity + 1;
  const EventKey* child = &at(first);
  EventKey a = child[0];
  EventKey b = child[2];
  std::uint32_t which_a = 0;
  std::uint32_t which_b = 2;
  if (child[1] < a) {
    a = child[1];
    which_a = 1;
  }
  if (child[3] < b) {
    b = child[3];
    which_b = 3;
  }
  return first + (b < a ? which_b : which_a);
}

inline void EventQueue::sift_down(std::uint32_t hole, EventKey key) {
  while (hole * kArity + 1 < size_) {
    const std::uint32_t child = first_child(hole);
    if (!(at(child) < key)) break;
    place(hole, at(child));
    hole = child;
  }
  place(hole, key);
}

inline void EventQueue::replace_root(EventKey key) {
  rising_ = 1 < size_ ? first_child(0) : 0;
  sift_down(0, key);
}

inline EventKey EventQueue::exchange_top(EventKey key) {
  assert(!empty() && !contains(key.slot) && top() < key);
  const EventKey first = at(0);
  position_[first.slot] = kAbsent;
  replace_root(key);
  return first;
}

}  // namespace sim
