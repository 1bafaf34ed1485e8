// Stands in for the config layer until it is there: just enough for the report's tests.
#include <array>

#include "sim/config/duration.h"
#include "sim/config/effective.h"
#include "sim/config/error.h"
#include "sim/config/names.h"

namespace sim {
namespace {

constexpr std::array kPolicies{
    Named<hv::PolicyKind>{hv::PolicyKind::dispatch_wheel, "dispatch_wheel", ""},
    Named<hv::PolicyKind>{hv::PolicyKind::fair, "fair", ""},
    Named<hv::PolicyKind>{hv::PolicyKind::round_robin, "round_robin", ""},
    Named<hv::PolicyKind>{hv::PolicyKind::gang, "gang", ""},
    Named<hv::PolicyKind>{hv::PolicyKind::replay, "replay", ""},
};
constexpr std::array kGranularities{
    Named<hv::Granularity>{hv::Granularity::thread, "thread", ""},
    Named<hv::Granularity>{hv::Granularity::core, "core", ""},
};
constexpr std::array kWorkloadKinds{
    Named<WorkloadKind>{WorkloadKind::locktorture, "locktorture", ""},
    Named<WorkloadKind>{WorkloadKind::compute, "compute", ""},
};
constexpr std::array kInterruptLevels{
    Named<InterruptLevel>{InterruptLevel::softirq, "softirq", ""},
    Named<InterruptLevel>{InterruptLevel::hardirq, "hardirq", ""},
    Named<InterruptLevel>{InterruptLevel::nmi, "nmi", ""},
};
constexpr std::array kDistributionKinds{
    Named<Distribution::Kind>{Distribution::Kind::constant, "constant", ""},
    Named<Distribution::Kind>{Distribution::Kind::exponential, "exponential", ""},
    Named<Distribution::Kind>{Distribution::Kind::uniform, "uniform", ""},
    Named<Distribution::Kind>{Distribution::Kind::lognormal, "lognormal", ""},
    Named<Distribution::Kind>{Distribution::Kind::pareto, "pareto", ""},
    Named<Distribution::Kind>{Distribution::Kind::empirical, "empirical", ""},
};

}  // namespace

std::span<const Named<hv::PolicyKind>> policies() {
  return kPolicies;
}
std::span<const Named<hv::Granularity>> granularities() {
  return kGranularities;
}
std::span<const Named<WorkloadKind>> workload_kinds() {
  return kWorkloadKinds;
}
std::span<const Named<InterruptLevel>> interrupt_levels() {
  return kInterruptLevels;
}
std::span<const Named<Distribution::Kind>> distribution_kinds() {
  return kDistributionKinds;
}

std::string format_duration(Time time) {
  std::int64_t n = time.count();
  const std::array<const char*, 5> units{"ps", "ns", "us", "ms", "s"};
  std::size_t unit = 0;
  if (n == 0) return "0s";
  while (unit < 4 && n % 1000 == 0) {
    n /= 1000;
    ++unit;
  }
  return std::to_string(n) + units[unit];
}

std::string one_line(const std::string& text) {
  std::string line;
  for (const char c : text) line += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return line;
}

nlohmann::ordered_json effective_json(const Config& config) {
  nlohmann::ordered_json json;
  json["duration"] = format_duration(config.duration);
  json["seed"] = config.seed;
  return json;
}

}  // namespace sim
