#include "sim/machine/spin_cursor.h"

namespace sim {

void SpinCursor::begin(Time now) {
  at_ = 0;
  left_ = piece_[0];
  anchor_ = now;
  turns_ = 1;
}

Time SpinCursor::period(std::int64_t rate) const {
  Time sum{};
  for (std::uint32_t i = 0; i < pieces_; ++i) sum += time_for(piece_[i], rate);
  return sum;
}

void SpinCursor::step(Time end) {
  anchor_ = end;
  if (++at_ == pieces_) {
    at_ = 0;
    ++turns_;
  }
  left_ = piece_[at_];
}

void SpinCursor::advance(Time until, std::int64_t rate) {
  Time end = piece_end(rate);
  if (end > until) return;
  step(end);
  while (at_ != 0) {
    end = piece_end(rate);
    if (end > until) return;
    step(end);
  }
  const Time turn = period(rate);
  const std::int64_t whole = (until - anchor_) / turn;
  anchor_ += whole * turn;
  turns_ += static_cast<std::uint64_t>(whole);
  while ((end = piece_end(rate)) <= until) step(end);
}

void SpinCursor::settle(Time now, std::int64_t rate) {
  left_ -= (now - anchor_).count() * rate;
  if (left_ < 0) left_ = 0;
  anchor_ = now;
}

Time SpinCursor::turn_start(std::uint64_t turn, std::int64_t rate) const {
  Time end = piece_end(rate);
  for (std::uint32_t i = at_ + 1; i < pieces_; ++i) end += time_for(piece_[i], rate);
  const std::uint64_t more = turn - turns_ - 1;
  if (more == 0) return end;
  const Time each = period(rate);
  if (more > static_cast<std::uint64_t>((kNever - end) / each)) return kNever;
  return end + static_cast<std::int64_t>(more) * each;
}

}  // namespace sim
