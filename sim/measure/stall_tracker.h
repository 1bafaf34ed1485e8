// Stalls and train wrecks of one lock, from the changes of who waits and whose turn it is.
//
// Stall: a maximal interval in which at least one vCPU wants the lock and the one whose turn it is
// has no physical CPU. Train wreck: a run of at least two stalls between which the queue never
// drained. A stall that changes its culprit on the way (the missing holder's release arrives, and
// the head is missing too) is one stall, with the cause it began with.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/engine/time.h"
#include "sim/measure/result.h"

namespace sim {

class StallTracker {
 public:
  struct Culprit {
    StallCause cause;
    std::uint32_t vcpu;
  };

  // The state of the lock after a change, at `now`. `waiting`: vCPUs that want the lock; `culprit`:
  // who is missing, if the one whose turn it is is; `spun`: dispatched spinning on this lock up to
  // now, summed over waiters. `waiters` is called for the order of arrival when a stall begins.
  template <class Waiters>
  void update(Time now, std::uint32_t waiting, std::optional<Culprit> culprit, Time spun,
              Waiters waiters) {
    if (open_) {
      link_.depth = std::max(link_.depth, waiting);
      if (!culprit || waiting == 0) end_stall(now, spun);
    } else if (culprit && waiting > 0) {
      begin_stall(now, waiting, *culprit, spun);
      waiters(link_.waiters);
    }
    if (waiting == 0) end_run();
  }

  // Forgets what was counted. A stall in progress goes on from `now`; the run is forgotten.
  void restart(Time now, Time spun);
  // Ends the stall and the run in progress and writes everything to the result.
  void finish(Time now, Time spun, LockResult& result);

  static constexpr std::size_t kWaitersKept = 8;
  static constexpr std::size_t kLinksKept = 32;

 private:
  void begin_stall(Time now, std::uint32_t waiting, const Culprit& culprit, Time spun);
  void end_stall(Time now, Time spun);
  void end_run();

  Time origin_{};  // start of the measured window
  bool open_ = false;
  WreckLink link_{};
  Time spun_at_start_{};
  Wreck run_{};  // the stalls since the queue last drained

  std::uint64_t stalls_ = 0;
  std::array<std::uint64_t, kStallCauses> by_cause_{};
  Time total_{};
  Time cost_{};
  std::uint64_t wrecks_ = 0;
  Time wreck_longest_{};
  std::uint32_t wreck_deepest_ = 0;
  std::uint64_t wreck_longest_chain_ = 0;
  Time wreck_cost_{};
  std::vector<Wreck> worst_;
};

}  // namespace sim
