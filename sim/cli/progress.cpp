#include "sim/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "sim/cli/atomic_file.h"

namespace sim {
namespace {

constexpr auto kBetween = std::chrono::milliseconds(100);

double as_seconds(Time time) {
  return static_cast<double>(time.count()) * 1e-12;
}

std::string short_time(double seconds) {
  if (seconds >= 3600) return fmt::format("{:.1f} h", seconds / 3600);
  if (seconds >= 60) return fmt::format("{:.1f} min", seconds / 60);
  return fmt::format("{:.0f} s", seconds);
}

}  // namespace

Progress::Progress(bool wanted) : shown_(wanted && ::isatty(STDERR_FILENO) == 1) {}

void Progress::update(Time now, Time end) {
  if (!shown_ || end <= Time{0}) return;
  const auto wall = Clock::now();
  if (wall < next_) return;
  next_ = wall + kBetween;
  const double elapsed = std::chrono::duration<double>(wall - start_).count();
  const double done = as_seconds(now) / as_seconds(end);
  std::string line = fmt::format("{:5.1f} %", 100 * done);
  if (elapsed > 0 && done > 0) {
    line += fmt::format("  {:.3g} ms simulated a second, {} left", 1e3 * as_seconds(now) / elapsed,
                        short_time(elapsed / done - elapsed));
  }
  const std::size_t width = line.size();
  if (width < width_) line.append(width_ - width, ' ');
  width_ = width;
  write_all(STDERR_FILENO, "\r" + line);
}

void Progress::erase() {
  if (width_ == 0) return;
  write_all(STDERR_FILENO, "\r" + std::string(width_, ' ') + "\r");
  width_ = 0;
}

}  // namespace sim
