// Spinning: turns of a loop that would do the same again are skipped until something changes.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/machine/execution.h"

namespace sim {

Time Execution::reads_until() const {
  const EventKey key = machine_.engine().key();
  return slot_ < key.slot ? key.time : key.time - Time{1};
}

void Execution::record(const void* address, std::uint64_t value, LineId line, bool hit,
                       Time deadline) {
  if (turn_.count == SpinCursor::kMaxReads) {
    mark_turn();
    return;
  }
  const Work before = turn_.count == 0 ? before_read_ - raw_tail_ : before_read_ + missed_cost();
  turn_.reads[turn_.count++] = {address, value,   machine_.directory().version(line), before, line,
                                hit,     deadline};
}

Work Execution::missed_cost() const {
  const bool missed = turn_.count > 0 && !turn_.reads[turn_.count - 1].hit;
  return missed ? machine_.profile().l1_hit.count() * kFullRate : 0;
}

const Execution::Read& Execution::replay(const void* address) {
  --replay_left_;
  // `last_` is the turn that was repeated; what it read, this turn reads.
  const Read& read = last_.reads[turn_.count];
  if (read.address != address)
    throw std::logic_error("a spin loop did not repeat its reads with the same values read");
  turn_.reads[turn_.count++] = read;
  pending_ = 0;
  return read;
}

void Execution::next_turn() {
  std::swap(last_, turn_);
  last_pure_ = std::exchange(turn_pure_, true);
  turn_.count = 0;
}

bool Execution::settled() {
  if (!turn_pure_ || !last_pure_ || turn_.count == 0 || turn_.count != last_.count ||
      turn_.tail != last_.tail)
    return false;
  for (std::uint32_t i = 0; i < turn_.count; ++i) {
    const Read& read = turn_.reads[i];
    if (!read.hit || !read.same(last_.reads[i])) return false;
    if (read.address == nullptr) continue;
    if (read.version != machine_.directory().version(read.line)) return false;
    if (!machine_.directory().readable(read.line, core())) return false;
  }
  return true;
}

std::uint64_t Execution::relax(std::uint64_t budget) {
  const Profile& profile = machine_.profile();
  if (priority_ == Priority::medium && profile.weight_relax != profile.weight_medium) {
    sync();
    set_priority(Priority::relaxed);
  }
  raw_tail_ = pending_;
  turn_.tail = pending_ + missed_cost();
  const bool skip = budget > 1 && machine_.fast_forward() && settled();
  work(profile.relax + profile.loop);
  if (skip) return skip_turns(budget);
  next_turn();
  ++counters_.iterations;
  return 1;
}

std::uint64_t Execution::skip_turns(std::uint64_t budget) {
  cursor_.clear();
  alarm_ = kNever;
  for (std::uint32_t i = 0; i < turn_.count; ++i) {
    const Read& read = turn_.reads[i];
    // The first piece of a turn begins at the last read of the turn before.
    cursor_.append(i == 0 ? turn_.tail + read.before : read.before);
    if (read.address == nullptr && read.value != 0) alarm_ = std::min(alarm_, read.deadline);
  }
  cursor_.begin(now());
  budget_ = budget;
  budget_spent_ = false;
  const Work tail_after_relax = pending_;
  watch_reads();
  state_ = State::spinning;
  skipping_ = true;
  reschedule_spin();
  park(State::spinning);

  const std::uint64_t turns = cursor_.turns();
  skipping_ = false;
  count_skipped(turns, counters_);
  next_turn();
  pending_ = tail_after_relax;
  if (!budget_spent_) {
    piece_elapsed_ = true;
    piece_expected_ = cursor_.piece_work(cursor_.piece());
    replay_left_ = cursor_.piece();
  }
  return turns;
}

void Execution::count_skipped(std::uint64_t turns, Counters& counters) {
  counters.iterations += turns;
  counters.fast_forwarded += turns - 1;
}

// A run that ends takes the fibers down where they sleep, so the last turns are counted from here.
Execution::Counters Execution::counters() const {
  Counters result = counters_;
  if (!skipping_) return result;
  SpinCursor cursor = cursor_;
  if (state_ == State::spinning && rate_ > 0) cursor.advance(reads_until(), rate_);
  count_skipped(cursor.turns(), result);
  return result;
}

Time Execution::spin_event() const {
  return std::min(alarm_, cursor_.turn_start(budget_, rate_));
}

void Execution::reschedule_spin() {
  const Time at = spin_event();
  if (at == kNever) {
    machine_.engine().cancel(slot_);
  } else {
    machine_.engine().schedule(slot_, std::max(at, now()));
  }
}

void Execution::end_spin(Time until) {
  if (rate_ > 0) {
    cursor_.advance(until, rate_);
    cursor_.settle(now(), rate_);
  }
  unwatch();
  state_ = State::working;
  left_ = cursor_.remaining();
  anchor_ = now();
  if (rate_ > 0) {
    machine_.engine().schedule(slot_, now() + time_for(left_, rate_));
  } else {
    machine_.engine().cancel(slot_);
  }
}

void Execution::watch_reads() {
  watching_ = 0;
  for (std::uint32_t i = 0; i < turn_.count; ++i) {
    const Read& read = turn_.reads[i];
    const auto watched = [&](const Watcher::Node& node) { return node.line == read.line; };
    if (read.address == nullptr || std::any_of(nodes_.begin(), nodes_.begin() + watching_, watched))
      continue;
    nodes_[watching_].line = read.line;
    machine_.directory().watch(nodes_[watching_++]);
  }
}

void Execution::unwatch() {
  for (std::uint32_t i = 0; i < watching_; ++i) machine_.directory().unwatch(nodes_[i]);
  watching_ = 0;
}

bool Execution::lines_still_here() {
  return std::all_of(nodes_.begin(), nodes_.begin() + watching_, [&](const Watcher::Node& node) {
    return machine_.directory().readable(node.line, core());
  });
}

}  // namespace sim
