#include "hv/policy/round_robin.h"

#include <algorithm>

namespace hv {

void RoundRobin::dequeue(Unit& unit) {
  queue_.erase(std::find(queue_.begin(), queue_.end(), &unit));
}

DispatchPolicy::Choice RoundRobin::pick(Seat& seat, const Partition* prefer) {
  auto chosen = queue_.end();
  for (auto it = queue_.begin(); it != queue_.end(); ++it) {
    if (!(*it)->may_run_on(seat)) continue;
    if (chosen == queue_.end()) chosen = it;
    if (prefer == nullptr) break;
    if ((*it)->partition == prefer) {
      chosen = it;
      break;
    }
  }
  if (chosen == queue_.end()) return {};
  Unit* unit = *chosen;
  queue_.erase(chosen);
  return {unit, slice_};
}

}  // namespace hv
