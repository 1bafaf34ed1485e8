#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/names.h"
#include "sim/report/format.h"
#include "sim/report/report.h"

namespace sim {
namespace {

// One record: column names beside their values, so that header and records cannot part.
class Record {
 public:
  void add(std::string_view column, std::string_view text) {
    columns_.emplace_back(column);
    fields_.push_back(quoted(text));
  }
  void add(std::string_view column, std::uint64_t value) { add(column, fmt::format("{}", value)); }
  void add(std::string_view column, Time value) { add(column, fmt::format("{}", to_ns(value))); }
  void add(std::string_view column, double value) {
    add(column, std::isnan(value) ? std::string() : fmt::format("{}", value));
  }

  void write_header(std::ostream& out) const { write(out, columns_); }
  void write(std::ostream& out) const { write(out, fields_); }

 private:
  static std::string quoted(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string field = "\"";
    for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
    return field + '"';
  }

  static void write(std::ostream& out, const std::vector<std::string>& fields) {
    const char* separator = "";
    for (const std::string& field : fields) out << std::exchange(separator, ",") << field;
    out << "\r\n";
  }

  std::vector<std::string> columns_;
  std::vector<std::string> fields_;
};

void add_histogram(Record& record, const Measure& measure, const Histogram& histogram) {
  const auto column = [&](std::string_view what) {
    return fmt::format("{}_{}", measure.name, what);
  };
  const auto nanoseconds_of = [](std::int64_t ns) { return static_cast<std::uint64_t>(ns); };
  record.add(column("count"), histogram.count());
  record.add(column("mean_ns"), histogram.mean_ns());
  for (const Quantile& quantile : kQuantiles) {
    record.add(column(fmt::format("{}_ns", quantile.key)),
               nanoseconds_of(histogram.percentile_ns(quantile.percentile)));
  }
  record.add(column("max_ns"), nanoseconds_of(histogram.max_ns()));
}

Record record_of(const Config& config, const Result& result, const LockResult& lock) {
  Record record;
  record.add("lock", lock.name);
  record.add("algorithm", lock.algorithm);
  record.add("partition", lock.partition);
  record.add("profile", config.profile.name);
  record.add("policy", name_of(policies(), config.hypervisor.policy));
  record.add("seed", result.seed);
  record.add("virtual_ns", result.virtual_time);
  record.add("acquisitions", lock.acquisitions);
  record.add("throughput_per_s", per_second(lock.acquisitions, result.virtual_time));
  for (std::size_t i = 0; i < kPathNames.size(); ++i) {
    record.add(fmt::format("path_{}", kPathNames[i]), lock.paths[i]);
  }
  for (const Measure& measure : kMeasures) {
    add_histogram(record, measure, lock.*measure.histogram);
  }
  record.add("max_min_ratio", lock.max_min_ratio);
  record.add("jain", lock.jain);
  record.add("longest_bypass", lock.longest_bypass);
  record.add("holder_preemptions", lock.holder_preemptions);
  record.add("waiter_preemptions", lock.waiter_preemptions);
  record.add("stalls", lock.stalls);
  record.add("stall_total_ns", lock.stall_total);
  record.add("stall_cost_ns", lock.stall_cost);
  for (std::size_t i = 0; i < kCauseNames.size(); ++i) {
    record.add(fmt::format("stalls_{}", kCauseNames[i]), lock.stalls_by_cause[i]);
  }
  record.add("wrecks", lock.wrecks);
  record.add("wreck_longest_ns", lock.wreck_longest);
  record.add("wreck_deepest", std::uint64_t{lock.wreck_deepest});
  record.add("wreck_longest_chain", lock.wreck_longest_chain);
  record.add("wreck_cost_ns", lock.wreck_cost);
  record.add("reservations_lost", lock.reservations_lost);
  const auto fractions = budget_fractions(result.cpu);
  for (std::size_t i = 0; i < kBudget.size(); ++i) {
    record.add(fmt::format("cpu_{}", kBudget[i].name), fractions[i]);
  }
  return record;
}

}  // namespace

void write_csv(std::ostream& out, const Config& config, const Result& result) {
  record_of(config, result, LockResult{}).write_header(out);
  for (const LockResult& lock : result.locks) record_of(config, result, lock).write(out);
}

}  // namespace sim
