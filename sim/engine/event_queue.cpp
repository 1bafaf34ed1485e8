#include "sim/engine/event_queue.h"

#include <algorithm>

namespace sim {

Slot EventQueue::add_slot() {
  position_.push_back(kAbsent);
  heap_.reserve(position_.capacity());
  return static_cast<Slot>(position_.size() - 1);
}

void EventQueue::set(Slot slot, Time time) {
  const EventKey key{time, slot};
  std::uint32_t at = position_[slot];
  if (at == kAbsent) {
    at = static_cast<std::uint32_t>(heap_.size());
    heap_.push_back(key);
    sift_up(at, key);
  } else if (key < heap_[at]) {
    sift_up(at, key);
  } else {
    sift_down(at, key);
  }
}

void EventQueue::remove(Slot slot) {
  const std::uint32_t at = position_[slot];
  if (at == kAbsent) return;
  position_[slot] = kAbsent;
  const EventKey last = heap_.back();
  heap_.pop_back();
  if (last.slot == slot) return;
  if (at > 0 && last < heap_[(at - 1) / kArity]) {
    sift_up(at, last);
  } else {
    sift_down(at, last);
  }
}

EventKey EventQueue::pop() {
  assert(!heap_.empty());
  const EventKey first = heap_.front();
  position_[first.slot] = kAbsent;
  const EventKey last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sift_down(0, last);
  return first;
}

void EventQueue::sift_up(std::uint32_t hole, EventKey key) {
  while (hole > 0) {
    const std::uint32_t parent = (hole - 1) / kArity;
    if (!(key < heap_[parent])) break;
    place(hole, heap_[parent]);
    hole = parent;
  }
  place(hole, key);
}

void EventQueue::sift_down(std::uint32_t hole, EventKey key) {
  const auto size = static_cast<std::uint32_t>(heap_.size());
  for (;;) {
    const std::uint32_t first = hole * kArity + 1;
    if (first >= size) break;
    const std::uint32_t end = std::min(first + kArity, size);
    std::uint32_t best = first;
    for (std::uint32_t child = first + 1; child < end; ++child)
      if (heap_[child] < heap_[best]) best = child;
    if (!(heap_[best] < key)) break;
    place(hole, heap_[best]);
    hole = best;
  }
  place(hole, key);
}

}  // namespace sim
