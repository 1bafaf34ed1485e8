#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>

#include "sim/config/error.h"
#include "sim/config/names.h"
#include "sim/report/format.h"
#include "sim/report/report.h"

namespace sim {
namespace {

constexpr double kTicksPerHalfDistance = 5;

// The next percentile to report. Each time the distance to 100 has halved the steps halve, so that
// five go to every half. A step is ten over a power of two, so no rounding can differ.
double next_percentile(double percentile) {
  double ticks = 2 * kTicksPerHalfDistance;
  for (double left = 100 - percentile; left * 2 <= 100; left *= 2) ticks *= 2;
  return percentile + 100 / ticks;
}

double deviation_ns(const Histogram& histogram) {
  if (histogram.count() == 0) return 0;
  const double mean = histogram.mean_ns();
  double squares = 0;
  for (std::size_t i = 0; i < histogram.buckets(); ++i) {
    if (histogram.count_at(i) == 0) continue;
    const std::int64_t low = Histogram::lowest_equivalent_ns(i);
    const std::int64_t middle = low + (Histogram::highest_equivalent_ns(i) - low + 1) / 2;
    const double distance = static_cast<double>(middle) - mean;
    squares += distance * distance * static_cast<double>(histogram.count_at(i));
  }
  return std::sqrt(squares / static_cast<double>(histogram.count()));
}

void write_rows(std::ostream& out, const Histogram& histogram) {
  const auto total = static_cast<double>(histogram.count());
  std::uint64_t below = 0;
  double percentile = 0;
  for (std::size_t i = 0; i < histogram.buckets(); ++i) {
    const std::uint64_t count = histogram.count_at(i);
    if (count == 0) continue;
    below += count;
    const auto value =
        static_cast<double>(std::min(Histogram::highest_equivalent_ns(i), histogram.max_ns()));
    const double reached = 100 * static_cast<double>(below) / total;
    while (reached >= percentile && percentile < 100) {
      fmt::print(out, "{:12.3f} {:2.12f} {:10} {:14.2f}\n", value, percentile / 100, below,
                 1 / (1 - percentile / 100));
      percentile = next_percentile(percentile);
      // The last counter reaches every percentile; one row of it is enough.
      if (below == histogram.count()) break;
    }
  }
  if (histogram.count() == 0) return;
  fmt::print(out, "{:12.3f} {:2.12f} {:10}\n", static_cast<double>(histogram.max_ns()), 1.0, below);
}

}  // namespace

void write_hgrm_block(std::ostream& out, std::string_view title, const Histogram& histogram) {
  fmt::print(out, "# {}, unit ns\n", one_line(std::string(title)));
  fmt::print(out, "{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount",
             "1/(1-Percentile)");
  write_rows(out, histogram);
  fmt::print(out, "#[Mean    = {:12.3f}, StdDeviation   = {:12.3f}]\n", histogram.mean_ns(),
             deviation_ns(histogram));
  fmt::print(out, "#[Max     = {:12.3f}, Total count    = {:12}]\n",
             static_cast<double>(histogram.max_ns()), histogram.count());
  fmt::print(out, "#[Buckets = {:12}, SubBuckets     = {:12}]\n", Histogram::kBuckets,
             Histogram::kSubBuckets);
}

void write_hgrm(std::ostream& out, const Config& config, const Result& result) {
  bool first = true;
  for (const LockResult& lock : result.locks) {
    for (const Measure& measure : kMeasures) {
      if (!first) out << '\n';
      first = false;
      write_hgrm_block(
          out,
          fmt::format("lock {}, algorithm {}, partition {}, policy {}, seed {}: {}", lock.name,
                      lock.algorithm, lock.partition, name_of(policies(), config.hypervisor.policy),
                      result.seed, measure.name),
          lock.*measure.histogram);
    }
  }
}

}  // namespace sim
