// Where a spinning vCPU stands in its loop, without running it.
//
// A settled spin loop does the same turn again and again: some work, a read that hits in the cache,
// some work, the next read, … A turn that consists of m reads is m pieces of work; the turn's relax
// lies in the first one. The cursor knows which piece is in progress and how much of it is left,
// and moves over any number of turns at once. It rounds each piece up to whole picoseconds, as
// running the turns one by one does, so both agree to the picosecond.
//
// Work is counted in units of 1/65536 ps at full rate (a rate times a time is work).
#pragma once

#include <array>
#include <cstdint>

#include "sim/engine/time.h"

namespace sim {

using Work = std::int64_t;

// Time that `work` takes at `rate` > 0, rounded up.
constexpr Time time_for(Work work, std::int64_t rate) {
  return Time{work <= 0 ? 0 : (work + rate - 1) / rate};
}

class SpinCursor {
 public:
  static constexpr std::uint32_t kMaxReads = 8;

  // Forgets everything; then append() the pieces of a turn in order, then begin().
  void clear() { pieces_ = 0; }
  void append(Work piece) { piece_[pieces_++] = piece; }
  // The first piece starts at `now`, just before relax call number 1 of this sleep.
  void begin(Time now);

  // Relax calls passed so far (the one that started the sleep is the first).
  std::uint64_t turns() const { return turns_; }
  // The piece in progress: 0 is the one with the relax in it; k > 0: k reads of this turn are done.
  std::uint32_t piece() const { return at_; }
  Work piece_work(std::uint32_t piece) const { return piece_[piece]; }
  Work remaining() const { return left_; }

  // Lets pass all reads that are due at or before `until`, at a constant rate > 0.
  void advance(Time until, std::int64_t rate);
  // At `now` the rate changes from `rate` (>= 0): what the piece in progress has done is settled.
  void settle(Time now, std::int64_t rate);

  // When the piece in progress ends, at this rate > 0.
  Time piece_end(std::int64_t rate) const { return anchor_ + time_for(left_, rate); }
  // When the read ends that precedes relax call number `turn` > turns(); kNever if out of range.
  Time turn_start(std::uint64_t turn, std::int64_t rate) const;

 private:
  Time period(std::int64_t rate) const;
  void step(Time end);

  std::array<Work, kMaxReads> piece_{};
  std::uint32_t pieces_ = 0;
  std::uint32_t at_ = 0;
  Work left_ = 0;
  Time anchor_{};  // when the piece in progress had `left_` to do
  std::uint64_t turns_ = 0;
};

}  // namespace sim
