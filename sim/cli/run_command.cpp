#include "sim/cli/run_command.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <system_error>

#include "sim/cli/arguments.h"
#include "sim/cli/atomic_file.h"
#include "sim/cli/output.h"
#include "sim/cli/progress.h"
#include "sim/config/duration.h"
#include "sim/config/effective.h"
#include "sim/config/reader.h"
#include "sim/guest/simulation.h"
#include "sim/report/report.h"

namespace sim {
namespace {

using Clock = std::chrono::steady_clock;
using Writer = void (*)(std::ostream&, const Config&, const Result&);

std::string render(Writer writer, const Config& config, const Result& result) {
  std::ostringstream text;
  writer(text, config, result);
  return std::move(text).str();
}

Writer writer_of(const std::string& format) {
  if (format == "json") return write_json;
  if (format == "csv") return write_csv;
  return write_table;
}

std::vector<Override> overrides_of(const RunOptions& options) {
  std::vector<Override> overrides;
  for (const std::string& set : options.set) overrides.push_back({.text = set});
  if (!options.seed.empty()) overrides.push_back({"seed=" + options.seed, "--seed"});
  if (!options.duration.empty())
    overrides.push_back({"duration=" + options.duration, "--duration"});
  return overrides;
}

// Everything that a run writes beside standard output, opened before it starts.
class Outputs {
 public:
  explicit Outputs(const RunOptions& options) {
    if (!options.out.empty()) {
      const std::filesystem::path directory = options.out;
      std::error_code error;
      std::filesystem::create_directories(directory, error);
      if (error || !std::filesystem::is_directory(directory)) {
        const std::string why = error ? error.message() : "it is not a directory";
        throw FileError(options.out + ": cannot be made: " + why);
      }
      config_.emplace(directory / "config.toml");
      table_.emplace(directory / "table.txt");
      out_hist_.emplace(directory / "result.hgrm");
      json_.emplace(directory / "result.json");
    }
    if (!options.hist.empty()) hist_.emplace(options.hist);
    if (!options.timing.empty()) timing_.emplace(options.timing);
  }

  void commit(const Config& config, const Result& result, const std::string& timing) {
    if (config_) config_->commit(effective_toml(config));
    if (table_) table_->commit(render(write_table, config, result));
    if (out_hist_) out_hist_->commit(render(write_hgrm, config, result));
    if (hist_) hist_->commit(render(write_hgrm, config, result));
    if (timing_) timing_->commit(timing);
    // Last: who finds a result finds the rest.
    if (json_) json_->commit(render(write_json, config, result));
  }

 private:
  std::optional<AtomicFile> config_;
  std::optional<AtomicFile> table_;
  std::optional<AtomicFile> out_hist_;
  std::optional<AtomicFile> json_;
  std::optional<AtomicFile> hist_;
  std::optional<AtomicFile> timing_;
};

double as_seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// Wall-clock figures stand apart from results, which must be the same on every machine.
std::string timing_json(const Result& result, double wall) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto events = static_cast<double>(result.engine.events);
  nlohmann::ordered_json json;
  json["schema"] = "trainwreck.timing/1";
  json["wall_s"] = wall;
  json["user_s"] = as_seconds(usage.ru_utime);
  json["system_s"] = as_seconds(usage.ru_stime);
  json["max_rss_kib"] = usage.ru_maxrss;
  json["virtual_ns"] = to_ns(result.virtual_time);
  json["events"] = result.engine.events;
  json["events_per_s"] = wall > 0 ? events / wall : 0.0;
  return json.dump(1) + "\n";
}

}  // namespace

int run_command(const RunOptions& options, const std::atomic<bool>& interrupted) {
  const std::vector<Override> overrides = overrides_of(options);
  Config config = read_config(options.config, overrides);
  config.fast_forward = options.fast_forward;
  Outputs outputs(options);
  spdlog::debug("effective config:\n{}", effective_toml(config));
  spdlog::info("{}: partitions: {}, locks: {}, to simulate: {}, seed: {}", options.config,
               config.partitions.size(), config.locks.size(), format_duration(config.duration),
               config.seed);

  Progress progress(options.progress);
  const auto start = Clock::now();
  const Result result =
      simulate(config, {.progress = [&](Time now, Time end) { progress.update(now, end); },
                        .interrupted = &interrupted});
  progress.erase();
  const double wall = std::chrono::duration<double>(Clock::now() - start).count();
  const bool early = interrupted.load() && result.virtual_time < config.duration;
  spdlog::info("simulated {} in {:.3f} s, {} events", format_duration(result.virtual_time), wall,
               result.engine.events);
  if (early) {
    spdlog::warn("interrupted: results cover the first {} of {}",
                 format_duration(result.virtual_time), format_duration(config.duration));
  }
  outputs.commit(config, result, timing_json(result, wall));
  print(render(writer_of(options.format), config, result));
  return early ? kInterrupted : kDone;
}

}  // namespace sim
