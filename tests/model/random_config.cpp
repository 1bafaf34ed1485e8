#include "tests/model/random_config.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "hv/dispatch_policy.h"
#include "lock/algorithms.h"
#include "sim/config/effective.h"
#include "sim/config/reader.h"
#include "sim/engine/random.h"

namespace sim {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t number) : random_(number, "random config") {}

  std::uint32_t between(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random_.below(high - low + 1));
  }
  bool one_in(std::uint32_t n) { return random_.below(n) == 0; }
  // Small and large values alike: evenly spread over the orders of magnitude.
  Time spread(Time low, Time high) {
    std::int64_t steps = 0;
    for (std::int64_t t = low.count(); t < high.count(); t *= 2) ++steps;
    const Time base = low * (std::int64_t{1} << random_.below(static_cast<std::uint64_t>(steps)));
    return std::min(high, base + Time{static_cast<std::int64_t>(
                                     random_.below(static_cast<std::uint64_t>(base.count())))});
  }
  template <class Range>
  const auto& of(const Range& range) {
    return range[random_.below(range.size())];
  }

 private:
  Random random_;
};

Distribution distribution(Draw& draw, Time low, Time high) {
  using Kind = Distribution::Kind;
  Distribution d = Distribution::constant(draw.spread(low, high));
  switch (draw.between(0, 7)) {
    case 0:
      d.kind = Kind::exponential;
      break;
    case 1:
      d = {.kind = Kind::uniform, .low = d.mean, .high = 2 * d.mean};
      break;
    case 2:
      d.kind = Kind::lognormal;
      d.shape = 0.5;
      break;
    case 3:
      d.kind = Kind::pareto;
      d.shape = 1.5;
      break;
    case 4:
      d = {.kind = Kind::empirical, .values = {d.mean, 2 * d.mean, 3 * d.mean}};
      break;
    case 5:
      // Round times make ties.
      d.mean = std::max(nanoseconds(1), nanoseconds(to_ns(d.mean) / 100 * 100));
      break;
    default:
      break;
  }
  return d;
}

Profile profile(Draw& draw) {
  Profile result = *find_profile(draw.of(profile_names()));
  if (draw.one_in(2)) return result;
  // Round figures, so that vCPUs meet at the same instant.
  for (const Figure& figure : figures()) {
    if (figure.key == "line_bytes" || draw.one_in(3)) continue;
    std::int64_t value = draw.between(0, 3);
    if (std::holds_alternative<Time Profile::*>(figure.member)) {
      value = nanoseconds(draw.between(0, 4) * 10).count();
    } else if (figure.key.starts_with("capacity")) {
      value = 500 * draw.between(1, 6);
    }
    set_figure(result, figure, std::clamp(value, figure.min, figure.max));
  }
  return result;
}

hv::HypervisorConfig hypervisor(Draw& draw) {
  std::vector<hv::PolicyKind> kinds;
  for (const auto& policy : hv::policy_descriptions()) {
    hv::HypervisorConfig config;
    config.policy = policy.kind;
    try {
      if (hv::make_policy(config) != nullptr) kinds.push_back(policy.kind);
    } catch (const std::exception&) {
      // Needs more than its name (a recorded schedule), or does not exist yet.
    }
  }
  hv::HypervisorConfig config;
  config.policy = draw.of(kinds);
  config.granularity = draw.one_in(3) ? hv::Granularity::core : hv::Granularity::thread;
  config.timeslice = draw.spread(microseconds(5), microseconds(500));
  const bool lone = config.policy == hv::PolicyKind::gang;
  if (draw.one_in(4) && !lone)
    config.background = {0.1 * draw.between(1, 6), draw.spread(microseconds(1), microseconds(100))};
  config.prod_memory = draw.one_in(2) ? hv::ProdMemory::until_cede : hv::ProdMemory::until_dispatch;
  config.preempted_rule = static_cast<hv::PreemptedRule>(draw.between(0, 2));
  config.confer_all_waits_for_ceded = draw.one_in(4);
  config.wakeup_granularity = draw.spread(microseconds(1), microseconds(500));
  return config;
}

LockConfig lock_config(Draw& draw, std::size_t index, std::uint32_t sockets) {
  LockConfig config;
  config.name = "lock" + std::to_string(index);
  // Most of the machinery is qspinlock's.
  const lock::Algorithm& algorithm =
      draw.one_in(2) ? *lock::find_algorithm("qspinlock") : draw.of(lock::algorithms());
  config.algorithm = algorithm.name;
  if (!algorithm.stages.empty() && draw.one_in(2)) config.stage = draw.of(algorithm.stages);
  config.node = draw.between(0, sockets - 1);
  for (const lock::Knob& knob : algorithm.knobs) {
    if (!draw.one_in(3)) continue;
    if (knob.type == lock::Knob::Type::boolean) {
      config.knobs[std::string(knob.name)] = draw.one_in(2);
    } else {
      const std::int64_t value = draw.one_in(4) ? draw.between(0, 200'000) : draw.between(0, 20);
      config.knobs[std::string(knob.name)] = std::clamp(value, knob.min, knob.max);
    }
  }
  return config;
}

WorkloadConfig workload(Draw& draw, const Config& config, const std::string& partition,
                        std::uint32_t vcpus, std::vector<std::string> locks) {
  WorkloadConfig work;
  work.partition = partition;
  work.locks = std::move(locks);
  work.critical_section = distribution(draw, nanoseconds(1), microseconds(20));
  work.think = draw.one_in(3) ? Distribution::constant(Time{0})
                              : distribution(draw, nanoseconds(10), microseconds(50));
  if (draw.one_in(3)) work.block = distribution(draw, microseconds(1), microseconds(200));
  work.block_every = draw.between(1, 8);
  if (draw.one_in(3)) work.tasks = draw.between(1, 2 * vcpus);
  work.guest_slice = draw.spread(microseconds(2), microseconds(200));
  if (draw.one_in(6)) {
    work.kind = WorkloadKind::compute;
    work.locks.clear();
    work.think = distribution(draw, microseconds(1), microseconds(50));
  }
  if (draw.one_in(4)) work.vcpus = {draw.between(0, vcpus - 1)};
  (void)config;
  return work;
}

void add_guest(Draw& draw, Config& config, std::uint32_t physical) {
  const std::size_t id = config.partitions.size();
  const bool cores = config.hypervisor.granularity == hv::Granularity::core;
  const std::uint32_t unit = cores ? config.topology.threads : 1;
  hv::PartitionConfig partition;
  partition.name = "guest" + std::to_string(id);
  // From half as many as there are physical CPUs up to three times as many.
  partition.vcpus = unit * draw.between(1, std::min(12u, 3 * physical));
  partition.weight = draw.between(0, 255);
  partition.capped = draw.one_in(6);
  if (draw.one_in(5))
    for (std::uint32_t i = 0; i < physical; i += draw.between(1, 2)) partition.pin.push_back(i);
  std::vector<std::string> names;
  for (std::uint32_t i = draw.between(1, 3); i > 0; --i) {
    config.locks.push_back(lock_config(draw, config.locks.size(), config.topology.sockets));
    names.push_back(config.locks.back().name);
  }
  config.workloads.push_back(workload(draw, config, partition.name, partition.vcpus, names));
  if (draw.one_in(3))
    config.workloads.push_back(
        workload(draw, config, partition.name, partition.vcpus, {names.front()}));
  for (std::uint32_t i = draw.between(0, 3); i-- > 0;) {
    InterruptConfig interrupt;
    interrupt.partition = partition.name;
    interrupt.level = static_cast<InterruptLevel>(draw.between(1, 3));
    interrupt.interval = Distribution::constant(draw.spread(microseconds(10), microseconds(500)));
    if (draw.one_in(2)) interrupt.interval.kind = Distribution::Kind::exponential;
    interrupt.duration = distribution(draw, nanoseconds(10), microseconds(5));
    // An NMI that takes a lock would find its own CPU holding it.
    const bool takes = interrupt.level != InterruptLevel::nmi && draw.one_in(2);
    if (takes) interrupt.lock = draw.of(names);
    if (draw.one_in(2)) interrupt.vcpus = {draw.between(0, partition.vcpus - 1)};
    config.interrupts.push_back(interrupt);
  }
  config.partitions.push_back(std::move(partition));
}

}  // namespace

Config random_config(std::uint64_t number) {
  Draw draw(number);
  Config config;
  config.seed = number;
  config.duration = draw.spread(microseconds(100), microseconds(1000));
  if (draw.one_in(3)) config.run.warmup = draw.spread(microseconds(10), microseconds(200));
  config.topology = {.sockets = draw.between(1, 2),
                     .chips = draw.between(1, 2),
                     .cores = draw.between(1, 3),
                     .threads = 1u << draw.between(0, 3)};
  config.profile = profile(draw);
  config.hypervisor = hypervisor(draw);
  if (!draw.one_in(3)) config.profile.switch_cost = draw.spread(nanoseconds(10), microseconds(5));
  const bool cores = config.hypervisor.granularity == hv::Granularity::core;
  const std::uint32_t physical =
      cores ? config.topology.total_cores() : config.topology.total_threads();
  for (std::uint32_t guests = draw.one_in(4) ? 2 : 1; guests > 0; --guests)
    add_guest(draw, config, physical);
  // What the reader makes of it: defaults are filled in, and nothing is simulated that no config
  // could ask for.
  return parse_config(effective_toml(config), "random.toml");
}

}  // namespace sim
