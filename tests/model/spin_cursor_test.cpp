// SpinCursor against a simulation that runs the turns one by one.
#include "sim/machine/spin_cursor.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace sim {
namespace {

// Work is counted in units of 1/65536 ps: at that rate a unit of kFull is a picosecond.
constexpr std::int64_t kFull = 65536;

SpinCursor cursor_of(const std::vector<Work>& pieces, Time begin) {
  SpinCursor cursor;
  cursor.clear();
  for (const Work piece : pieces) cursor.append(piece);
  cursor.begin(begin);
  return cursor;
}

TEST(SpinCursor, CountsTheRelaxThatStartedTheSleepAsTheFirstTurn) {
  // Pieces of 3 and 4 ps. From 100: read 0 at 103, the relax and read 1 at 107, at 110, at 114, …
  SpinCursor cursor = cursor_of({3 * kFull, 4 * kFull}, Time{100});
  EXPECT_EQ(cursor.turns(), 1u);
  cursor.advance(Time{102}, kFull);
  EXPECT_EQ(cursor.piece(), 0u);
  cursor.advance(Time{103}, kFull);
  EXPECT_EQ(cursor.piece(), 1u);
  EXPECT_EQ(cursor.turns(), 1u);
  EXPECT_EQ(cursor.turn_start(2, kFull), Time{107});
  EXPECT_EQ(cursor.turn_start(12, kFull), Time{177});
  cursor.advance(Time{107}, kFull);
  EXPECT_EQ(cursor.turns(), 2u);
  EXPECT_EQ(cursor.piece(), 0u);
  cursor.advance(Time{106 + 70}, kFull);  // 9 whole turns and 6 ps
  EXPECT_EQ(cursor.turns(), 11u);
  EXPECT_EQ(cursor.piece(), 1u);
}

TEST(SpinCursor, RoundsEveryPieceUpAsRunningItDoes) {
  // 1.5 ps each at full rate: every read takes 2 ps, so two pieces take 4, not 3.
  const SpinCursor cursor = cursor_of({kFull * 3 / 2, kFull * 3 / 2}, Time{0});
  EXPECT_EQ(cursor.turn_start(2, kFull), Time{4});
  EXPECT_EQ(cursor.turn_start(3, kFull), Time{8});
}

TEST(SpinCursor, KeepsRemainingWorkWhenTheRateChanges) {
  // 10 ps of work; 4 ps at full rate leave 6, which take 12 at half rate, or 24 at a quarter.
  SpinCursor cursor = cursor_of({10 * kFull}, Time{0});
  cursor.settle(Time{4}, kFull);
  EXPECT_EQ(cursor.piece_end(kFull / 2), Time{16});
  cursor.settle(Time{10}, kFull / 2);  // 3 more done
  EXPECT_EQ(cursor.piece_end(kFull / 4), Time{22});
  // A halt: nothing is done while the rate is 0.
  cursor.settle(Time{14}, kFull / 4);  // 1 more done, 2 left
  cursor.settle(Time{1000}, 0);
  EXPECT_EQ(cursor.piece_end(kFull), Time{1002});
}

TEST(SpinCursor, SaysNeverForATurnBeyondTheEndOfTime) {
  const SpinCursor cursor = cursor_of({1000 * kFull}, Time{0});
  EXPECT_EQ(cursor.turn_start(~std::uint64_t{0}, kFull), kNever);
}

// Runs the loop piece by piece, as the machine does without skipping.
class Naive {
 public:
  Naive(std::vector<Work> pieces, Time now) : pieces_(std::move(pieces)), at_time_(now) {
    left_ = pieces_[0];
  }
  // Lets time pass up to `until`: whatever is due at or before it happens.
  void run(Time until, std::int64_t rate) {
    if (rate == 0) {
      at_time_ = until;
      return;
    }
    for (;;) {
      // Whole picoseconds, upwards.
      const Time end = at_time_ + Time{left_ / rate + (left_ % rate != 0 ? 1 : 0)};
      if (end > until) break;
      at_time_ = end;
      if (++piece == pieces_.size()) {
        piece = 0;
        ++turns;
      }
      left_ = pieces_[piece];
    }
  }
  void change(Time now, std::int64_t rate) {
    left_ = std::max<Work>(0, left_ - (now - at_time_).count() * rate);
    at_time_ = now;
  }
  Work left() const { return left_; }
  std::uint64_t turns = 1;
  std::size_t piece = 0;

 private:
  std::vector<Work> pieces_;
  Work left_ = 0;
  Time at_time_;
};

RC_GTEST_PROP(SpinCursorProperty, AgreesWithRunningTheTurnsOneByOne, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, SpinCursor::kMaxReads + 1);
  // Whole picoseconds at full rate half of the time, so that instants coincide.
  const bool round = *rc::gen::arbitrary<bool>();
  std::vector<Work> pieces;
  for (std::size_t i = 0; i < count; ++i) {
    const auto work = *rc::gen::inRange<Work>(1, 40);
    pieces.push_back(round ? work * kFull : work * kFull / 7 + 1);
  }
  const Time begin{*rc::gen::inRange<std::int64_t>(0, 1000)};
  SpinCursor cursor = cursor_of(pieces, begin);
  Naive naive(pieces, begin);
  Time now = begin;
  std::int64_t rate = kFull;
  const auto steps = *rc::gen::inRange(1, 25);
  for (int i = 0; i < steps; ++i) {
    // Often the very instant at which a read is due.
    const bool tie = rate > 0 && *rc::gen::inRange(0, 3) == 0;
    const Time at =
        tie ? cursor.turn_start(cursor.turns() + *rc::gen::inRange<std::uint64_t>(1, 4), rate)
            : now + Time{*rc::gen::inRange<std::int64_t>(0, 2000)};
    // A change at an instant finds reads of that instant done, or still due, by the slots' order.
    const bool before = at > now && *rc::gen::arbitrary<bool>();
    const Time until = before ? at - Time{1} : at;
    const auto next = *rc::gen::element<std::int64_t>(0, 1, 1000, kFull / 8, kFull / 3, kFull);
    if (rate > 0) cursor.advance(until, rate);
    naive.run(until, rate);
    cursor.settle(at, rate);
    naive.change(at, rate);
    now = at;
    rate = next;
    RC_ASSERT(cursor.turns() == naive.turns);
    RC_ASSERT(cursor.piece() == naive.piece);
    RC_ASSERT(cursor.remaining() == naive.left());
    if (rate < 1000) continue;
    // turn_start is when running them gets there, not a picosecond earlier.
    const std::uint64_t turn = cursor.turns() + *rc::gen::inRange<std::uint64_t>(1, 6);
    const Time start = cursor.turn_start(turn, rate);
    Naive early = naive, late = naive;
    if (start > now) {
      early.run(start - Time{1}, rate);
      RC_ASSERT(early.turns < turn);
    }
    late.run(start, rate);
    RC_ASSERT(late.turns >= turn);
  }
}

}  // namespace
}  // namespace sim
