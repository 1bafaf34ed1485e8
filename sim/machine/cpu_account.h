// Where each hardware thread's time goes, to the picosecond.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/engine/time.h"

namespace sim {

enum class CpuUse : std::uint8_t { idle, useful, spin, hypervisor, background };
inline constexpr std::size_t kCpuUses = 5;

class CpuAccount {
 public:
  explicit CpuAccount(std::uint32_t threads) : threads_(threads) {}

  // From `now` on the thread does this.
  void set(std::uint32_t thread, CpuUse use, Time now) {
    Thread& t = threads_[thread];
    totals_[static_cast<std::size_t>(t.use)] += now - t.since;
    t = {now, use};
  }
  // Closes all open intervals at `now`; the totals then cover every thread up to it.
  void settle(Time now) {
    for (std::uint32_t i = 0; i < threads_.size(); ++i) set(i, threads_[i].use, now);
  }
  // Forgets what was counted; intervals go on from `now`.
  void restart(Time now) {
    settle(now);
    totals_ = {};
  }
  Time total(CpuUse use) const { return totals_[static_cast<std::size_t>(use)]; }

 private:
  struct Thread {
    Time since{};
    CpuUse use = CpuUse::idle;
  };
  std::vector<Thread> threads_;
  std::array<Time, kCpuUses> totals_{};
};

}  // namespace sim
