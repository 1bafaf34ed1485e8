#include "sim/engine/event_queue.h"

namespace sim {

Slot EventQueue::add_slot() {
  position_.push_back(kAbsent);
  // Room for an event of every slot, the three keys before the root and the four behind the last.
  if (heap_.size() < position_.size() + 2 * kArity) heap_.resize(heap_.size() * 2);
  return static_cast<Slot>(position_.size() - 1);
}

void EventQueue::set(Slot slot, Time time) {
  const EventKey key{time, slot};
  const std::uint32_t i = position_[slot];
  if (i == kAbsent) {
    sift_up(size_++, key);
  } else if (key < at(i)) {
    sift_up(i, key);
  } else {
    sift_down(i, key);
  }
}

EventKey EventQueue::take_last() {
  const EventKey last = at(--size_);
  at(size_) = EventKey{};
  return last;
}

void EventQueue::remove(Slot slot) {
  const std::uint32_t i = position_[slot];
  if (i == kAbsent) return;
  position_[slot] = kAbsent;
  const EventKey last = take_last();
  if (last.slot == slot) return;
  if (i > 0 && last < at((i - 1) / kArity)) {
    sift_up(i, last);
  } else {
    sift_down(i, last);
  }
}

EventKey EventQueue::pop() {
  assert(!empty());
  const EventKey first = at(0);
  position_[first.slot] = kAbsent;
  const EventKey last = take_last();
  if (!empty()) replace_root(last);
  return first;
}

void EventQueue::sift_up(std::uint32_t hole, EventKey key) {
  while (hole > 0) {
    const std::uint32_t parent = (hole - 1) / kArity;
    if (!(key < at(parent))) break;
    place(hole, at(parent));
    hole = parent;
  }
  place(hole, key);
}

}  // namespace sim
