// An SMT core: how its threads share it.
//
// A thread's speed is its share of the core's capacity for that many busy threads, weighted by its
// hardware priority; no thread is faster than it would be alone, and what one can't use the others
// get. Rates are integers, in 1/65536 of one thread alone, so re-rating is exact.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/machine/profile.h"

namespace sim {

class Execution;

using Rate = std::int64_t;
inline constexpr Rate kFullRate = 65536;

// `relaxed`: in a wait loop at medium priority that pauses (or dips low and medium) every turn. The
// loop's average weight stands for the dips, so a turn causes no event.
enum class Priority : std::uint8_t { medium, low, relaxed };
inline constexpr std::size_t kPriorities = 3;

// Rates by how many threads of each priority are busy; one table serves all cores of a machine.
class RateTable {
 public:
  RateTable(const Profile& profile, std::uint32_t threads);
  using Busy = std::array<std::uint8_t, kPriorities>;
  // The rate of a thread of each priority.
  const std::array<Rate, kPriorities>& rates(const Busy& busy) const {
    return table_[(busy[0] * side_ + busy[1]) * side_ + busy[2]];
  }

 private:
  std::size_t side_;
  std::vector<std::array<Rate, kPriorities>> table_;
};

class SmtCore {
 public:
  explicit SmtCore(const RateTable& rates) : rates_(&rates) {}

  // A vCPU's execution starts or stops on one of the core's threads, or changes its priority.
  // Everybody on the core is re-rated at once.
  void add(Execution& execution, Priority priority);
  void remove(Execution& execution, Priority priority);
  void change(Priority from, Priority to);

 private:
  void rerate();

  const RateTable* rates_;
  RateTable::Busy busy_{};
  std::vector<Execution*> running_;
};

}  // namespace sim
