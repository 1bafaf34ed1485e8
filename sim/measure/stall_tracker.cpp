#include "sim/measure/stall_tracker.h"

#include <algorithm>

namespace sim {

void StallTracker::begin_stall(Time now, std::uint32_t waiting, const Culprit& culprit, Time spun) {
  open_ = true;
  link_ = {culprit.cause, culprit.vcpu, now - origin_, Time{0}, waiting, Time{0}, {}};
  spun_at_start_ = spun;
}

void StallTracker::end_stall(Time now, Time spun) {
  open_ = false;
  link_.length = now - origin_ - link_.start;
  link_.cost = spun - spun_at_start_;
  ++stalls_;
  ++by_cause_[static_cast<std::size_t>(link_.cause)];
  total_ += link_.length;
  cost_ += link_.cost;

  if (run_.stalls == 0) run_ = {link_.start, Time{0}, 0, 0, Time{0}, {}};
  ++run_.stalls;
  run_.length = link_.start + link_.length - run_.start;
  run_.depth = std::max(run_.depth, link_.depth);
  run_.cost += link_.cost;
  if (run_.chain.size() < kLinksKept) run_.chain.push_back(link_);
}

void StallTracker::end_run() {
  if (run_.stalls >= 2) {
    ++wrecks_;
    wreck_longest_ = std::max(wreck_longest_, run_.length);
    wreck_deepest_ = std::max(wreck_deepest_, run_.depth);
    wreck_longest_chain_ = std::max(wreck_longest_chain_, run_.stalls);
    wreck_cost_ += run_.cost;
    // Costliest first; of equal cost the earlier one.
    const auto at =
        std::upper_bound(worst_.begin(), worst_.end(), run_,
                         [](const Wreck& a, const Wreck& b) { return a.cost > b.cost; });
    if (at != worst_.end() || worst_.size() < kWorstWrecks) {
      worst_.insert(at, std::move(run_));
      if (worst_.size() > kWorstWrecks) worst_.pop_back();
    }
  }
  run_.stalls = 0;
  run_.chain.clear();
}

void StallTracker::restart(Time now, Time spun) {
  const bool open = open_;
  const WreckLink link = link_;
  *this = {};
  origin_ = now;
  open_ = open;
  link_ = link;
  link_.start = Time{0};
  spun_at_start_ = spun;
}

void StallTracker::finish(Time now, Time spun, LockResult& result) {
  if (open_) end_stall(now, spun);
  end_run();
  result.stalls = stalls_;
  result.stalls_by_cause = by_cause_;
  result.stall_total = total_;
  result.stall_cost = cost_;
  result.wrecks = wrecks_;
  result.wreck_longest = wreck_longest_;
  result.wreck_deepest = wreck_deepest_;
  result.wreck_longest_chain = wreck_longest_chain_;
  result.wreck_cost = wreck_cost_;
  result.worst = std::move(worst_);
}

}  // namespace sim
