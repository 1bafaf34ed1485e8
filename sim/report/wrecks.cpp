#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "sim/report/format.h"
#include "sim/report/sections.h"

namespace sim {
namespace {

constexpr std::size_t kLinksMax = 5;
constexpr std::size_t kWaitersWidth = 36;  // keeps a row within 100 columns

// " 4 5 7 9 ...": those who waited when the stall began, as far as they are known and fit.
std::string waiters_of(const WreckLink& link) {
  std::string text;
  std::size_t shown = 0;
  for (const std::uint32_t waiter : link.waiters) {
    const std::string entry = fmt::format(" {}", waiter);
    if (text.size() + entry.size() > kWaitersWidth) break;
    text += entry;
    ++shown;
  }
  if (shown < link.depth) text += " ...";
  return text;
}

void write_chain(std::ostream& out, const Wreck& wreck) {
  put_line(out, fmt::format("{:>12} {:>10} {:>10}  {:<8} {:<6} {:>8}  {}", "since", "for", "cost",
                            "missing", "cause", "waiting", "vCPUs behind it"));
  const std::size_t shown = std::min(wreck.chain.size(), kLinksMax);
  for (std::size_t i = 0; i < shown; ++i) {
    const WreckLink& link = wreck.chain[i];
    const std::string since = fmt::format("+{}", human_time(link.start - wreck.start));
    put_line(out, fmt::format("{:>12} {:>10} {:>10}  vCPU {:<3} {:<6} {:>8} {}", aligned(since),
                              aligned(human_time(link.length)), aligned(human_time(link.cost)),
                              link.vcpu, kCauseNames[static_cast<std::size_t>(link.cause)],
                              link.depth, waiters_of(link)));
  }
  if (wreck.stalls > shown) {
    const std::uint64_t more = wreck.stalls - shown;
    put_line(out,
             fmt::format("{:>12} and {} more {}", "...", more, more == 1 ? "stall" : "stalls"));
  }
}

}  // namespace

void write_wrecks(std::ostream& out, const LockResult& lock) {
  if (lock.wrecks == 0) {
    put_line(out, "train wrecks   none");
    return;
  }
  put_line(out, fmt::format("train wrecks   {}: longest {}, deepest {}, longest chain {} stalls, "
                            "cost {}",
                            lock.wrecks, human_time(lock.wreck_longest), lock.wreck_deepest,
                            lock.wreck_longest_chain, human_time(lock.wreck_cost)));
  if (lock.worst.empty()) return;
  const Wreck& worst = lock.worst.front();
  put_line(out,
           fmt::format("  costliest    at {:.6f} s for {}, {} stalls, {} deep, cost {}",
                       static_cast<double>(worst.start.count()) / 1e12, human_time(worst.length),
                       worst.stalls, worst.depth, human_time(worst.cost)));
  write_chain(out, worst);
}

}  // namespace sim
