// One line on a terminal: how far a run is and how long it will take.
#pragma once

#include <chrono>
#include <cstddef>

#include "sim/engine/time.h"

namespace sim {

// Writes to stderr, at most ten times a second, and only if that is a terminal. The line is erased
// at the end, so it leaves nothing in what is kept.
class Progress {
 public:
  explicit Progress(bool wanted);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { erase(); }

  void update(Time now, Time end);
  void erase();

 private:
  using Clock = std::chrono::steady_clock;

  bool shown_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_;
  std::size_t width_ = 0;  // of the line that stands there
};

}  // namespace sim
