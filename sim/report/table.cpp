#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "sim/config/error.h"
#include "sim/report/format.h"
#include "sim/report/report.h"
#include "sim/report/sections.h"

namespace sim {
namespace {

constexpr std::size_t kLabel = 12;
constexpr std::size_t kColumn = 10;

// A row of the label and right-aligned cells, each followed by its mark: ' ' or '*'.
class Row {
 public:
  explicit Row(std::string_view label) : text_(fmt::format("{:<{}}", label, kLabel)) {}
  Row& add(std::string_view cell, char mark = ' ') {
    text_ += fmt::format("{:>{}}{}", cell, kColumn - 1, mark);
    return *this;
  }
  void put(std::ostream& out) const { put_line(out, text_); }

 private:
  std::string text_;
};

std::string plain(std::uint64_t count) {
  return fmt::format("{}", count);
}

// How much of `whole` a part is; it may be more than all of it.
std::string share_of(Time part, Time whole) {
  if (whole <= Time{0}) return "-";
  return fmt::format("{:.1f} %",
                     100 * static_cast<double>(part.count()) / static_cast<double>(whole.count()));
}

void write_acquisitions(std::ostream& out, const LockResult& lock) {
  Row header("acquired");
  Row counts("  count");
  Row shares("  share");
  header.add("all");
  counts.add(plain(lock.acquisitions));
  shares.add("");
  std::vector<double> parts;
  for (const std::uint64_t count : lock.paths) parts.push_back(static_cast<double>(count));
  const std::vector<int> tenths = per_mille(parts);
  for (std::size_t i = 0; i < kPathNames.size(); ++i) {
    header.add(kPathNames[i]);
    counts.add(plain(lock.paths[i]));
    shares.add(percent(tenths[i]));
  }
  header.put(out);
  counts.put(out);
  shares.put(out);
}

void write_latencies(std::ostream& out, const LockResult& lock) {
  // A percentile with fewer samples than this beyond it says little.
  constexpr double kBeyondMin = 10;
  Row header("latency");
  header.add("count").add("mean");
  for (const Quantile& quantile : kQuantiles) header.add(quantile.title);
  header.add("max").put(out);
  bool marked = false;
  for (const Measure& measure : kMeasures) {
    const Histogram& histogram = lock.*measure.histogram;
    Row row(fmt::format("  {}", measure.name));
    row.add(plain(histogram.count()));
    if (histogram.count() == 0) {
      for (std::size_t i = 0; i < kQuantiles.size() + 2; ++i) row.add("-");
      row.put(out);
      continue;
    }
    row.add(aligned(human_time(histogram.mean_ns())));
    for (const Quantile& quantile : kQuantiles) {
      // Whole numbers of hundredths: 0.01 % of 100,000 must be 10 exactly.
      const double beyond =
          std::round((100 - quantile.percentile) * 100) * static_cast<double>(histogram.count());
      const bool weak = beyond < kBeyondMin * 10'000;
      marked = marked || weak;
      const Time value = nanoseconds(histogram.percentile_ns(quantile.percentile));
      row.add(aligned(human_time(value)), weak ? '*' : ' ');
    }
    row.add(aligned(human_time(nanoseconds(histogram.max_ns())))).put(out);
  }
  if (marked) put_line(out, "  * fewer than 10 samples lie beyond it");
}

void write_fairness(std::ostream& out, const LockResult& lock) {
  const bool starved = std::isinf(lock.max_min_ratio);
  put_line(out, fmt::format("fairness       max/min {}, Jain {}, longest bypass {}",
                            starved ? "inf (a vCPU got none)" : human_number(lock.max_min_ratio),
                            std::isnan(lock.jain) ? "-" : fmt::format("{:.3f}", lock.jain),
                            lock.longest_bypass));
}

void write_stalls(std::ostream& out, const LockResult& lock, Time window) {
  put_line(out,
           fmt::format("preempted      {} holding, {} queued; store-conditionals lost {}",
                       lock.holder_preemptions, lock.waiter_preemptions, lock.reservations_lost));
  Row header("stalls");
  Row counts("");
  header.add("all");
  counts.add(plain(lock.stalls));
  for (std::size_t i = 0; i < kCauseNames.size(); ++i) {
    header.add(kCauseNames[i]);
    counts.add(plain(lock.stalls_by_cause[i]));
  }
  header.add("total").add("of run").add("cost").put(out);
  counts.add(aligned(human_time(lock.stall_total)));
  counts.add(share_of(lock.stall_total, window)).add(aligned(human_time(lock.stall_cost))).put(out);
}

void write_lock(std::ostream& out, const LockResult& lock, Time window) {
  put_line(out, fmt::format("lock {}: {}, partition {}", one_line(lock.name),
                            one_line(lock.algorithm), one_line(lock.partition)));
  put_line(out, fmt::format("throughput     {} acquisitions/s",
                            human_number(per_second(lock.acquisitions, window))));
  write_acquisitions(out, lock);
  write_latencies(out, lock);
  write_fairness(out, lock);
  write_stalls(out, lock, window);
  write_wrecks(out, lock);
  write_log2_histogram(out, "wait", lock.wait);
  put_line(out, "");
}

void write_cpu(std::ostream& out, const CpuBudget& budget) {
  std::vector<double> parts;
  double whole = 0;
  for (const BudgetShare& share : kBudget) {
    parts.push_back(static_cast<double>((budget.*share.time).count()));
    whole += parts.back();
  }
  const std::vector<int> tenths = per_mille(parts);
  for (std::size_t i = 0; i < kBudget.size(); ++i) {
    put_line(out, fmt::format("{:<4}{:<10}{:>8} {:>9}  {}", i == 0 ? "cpu" : "", kBudget[i].name,
                              percent(tenths[i]), aligned(human_time(budget.*kBudget[i].time)),
                              bar(parts[i], whole)));
  }
}

void write_hypervisor(std::ostream& out, const HypervisorResult& hypervisor) {
  put_line(out, fmt::format("hypervisor     dispatches {}, preemptions {}", hypervisor.dispatches,
                            hypervisor.preemptions));
  put_line(out, fmt::format("               confer {} directed, {} undirected, {} stale; prod {}, "
                            "cede {}",
                            hypervisor.confer_directed, hypervisor.confer_undirected,
                            hypervisor.confer_stale, hypervisor.prod, hypervisor.cede));
  put_line(out, fmt::format("               steal {}, background {}", human_time(hypervisor.steal),
                            human_time(hypervisor.background)));
}

void write_engine(std::ostream& out, const EngineResult& engine) {
  const auto turns = static_cast<double>(engine.iterations);
  const auto skipped = static_cast<double>(engine.fast_forwarded);
  const std::vector<int> tenths = per_mille({skipped, turns - skipped});
  put_line(out,
           fmt::format("engine         events {}, fiber switches {}, spin turns {} ({} skipped)",
                       engine.events, engine.switches, engine.iterations, percent(tenths[0])));
}

}  // namespace

void write_table(std::ostream& out, const Config& config, const Result& result) {
  write_echo(out, config, result);
  put_line(out, "");
  for (const LockResult& lock : result.locks) write_lock(out, lock, result.virtual_time);
  write_cpu(out, result.cpu);
  write_hypervisor(out, result.hypervisor);
  write_engine(out, result.engine);
}

}  // namespace sim
