#include "sim/machine/smt_core.h"

#include <algorithm>
#include <cassert>

#include "sim/machine/execution.h"

namespace sim {
namespace {

// Capacity for `busy` threads in 1/1000, linear between the figures of the profile.
std::int64_t capacity(const Profile& p, std::int64_t busy) {
  const auto between = [&](std::int64_t n0, std::int64_t c0, std::int64_t n1, std::int64_t c1) {
    return c0 + (c1 - c0) * (busy - n0) / (n1 - n0);
  };
  if (busy <= 1) return p.capacity_1;
  if (busy <= 2) return p.capacity_2;
  if (busy <= 4) return between(2, p.capacity_2, 4, p.capacity_4);
  if (busy <= 8) return between(4, p.capacity_4, 8, p.capacity_8);
  return p.capacity_8;
}

// Shares `capacity` by weight; nobody gets more than kFullRate, the excess is shared again.
std::array<Rate, kPriorities> share(Rate capacity, const RateTable::Busy& busy,
                                    const std::array<std::int64_t, kPriorities>& weights) {
  std::array<Rate, kPriorities> rate{};
  std::array<bool, kPriorities> full{};
  for (std::size_t round = 0; round < kPriorities; ++round) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < kPriorities; ++i)
      if (!full[i]) sum += weights[i] * busy[i];
    if (sum == 0) break;
    bool changed = false;
    Rate left = capacity;
    for (std::size_t i = 0; i < kPriorities; ++i) {
      if (full[i] || busy[i] == 0) continue;
      rate[i] = std::max<Rate>(1, capacity * weights[i] / sum);
      if (rate[i] >= kFullRate) {
        rate[i] = kFullRate;
        full[i] = changed = true;
        left -= kFullRate * busy[i];
      }
    }
    if (!changed) break;
    capacity = std::max<Rate>(left, 0);
  }
  return rate;
}

}  // namespace

RateTable::RateTable(const Profile& profile, std::uint32_t threads) : side_(threads + 1) {
  table_.resize(side_ * side_ * side_);
  const std::array<std::int64_t, kPriorities> weights{profile.weight_medium, profile.weight_low,
                                                      profile.weight_relax};
  for (std::size_t m = 0; m < side_; ++m)
    for (std::size_t l = 0; m + l < side_; ++l)
      for (std::size_t r = 0; m + l + r < side_; ++r) {
        const Rate total =
            capacity(profile, static_cast<std::int64_t>(m + l + r)) * kFullRate / 1000;
        const Busy busy{static_cast<std::uint8_t>(m), static_cast<std::uint8_t>(l),
                        static_cast<std::uint8_t>(r)};
        table_[(m * side_ + l) * side_ + r] = share(total, busy, weights);
      }
}

void SmtCore::add(Execution& execution, Priority priority) {
  running_.push_back(&execution);
  ++busy_[static_cast<std::size_t>(priority)];
  rerate();
}

void SmtCore::remove(Execution& execution, Priority priority) {
  const auto it = std::find(running_.begin(), running_.end(), &execution);
  assert(it != running_.end());
  running_.erase(it);
  --busy_[static_cast<std::size_t>(priority)];
  execution.set_rate(0);
  rerate();
}

void SmtCore::change(Priority from, Priority to) {
  --busy_[static_cast<std::size_t>(from)];
  ++busy_[static_cast<std::size_t>(to)];
  rerate();
}

void SmtCore::rerate() {
  const auto& rates = rates_->rates(busy_);
  for (Execution* execution : running_)
    execution->set_rate(rates[static_cast<std::size_t>(execution->priority())]);
}

}  // namespace sim
