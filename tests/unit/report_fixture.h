// A small made-up run for the tests of the report's writers: ten acquisitions in one second.
#pragma once

#include <sstream>
#include <string>

#include "sim/report/report.h"

namespace sim {

inline Config small_config() {
  Config config;
  config.duration = seconds(1);
  config.profile.name = "power9";
  config.topology = {.sockets = 1, .chips = 1, .cores = 2, .threads = 1};
  config.hypervisor.policy = hv::PolicyKind::round_robin;
  hv::PartitionConfig partition;
  partition.name = "guest";
  partition.vcpus = 4;
  config.partitions = {partition};
  LockConfig lock;
  lock.name = "hot";
  lock.algorithm = "qspinlock";
  lock.knobs = {{"steal_spins", std::int64_t{32}}, {"pv_yield_owner", true}};
  config.locks = {lock};
  WorkloadConfig workload;
  workload.partition = "guest";
  workload.think = Distribution{.kind = Distribution::Kind::exponential, .mean = microseconds(2)};
  config.workloads = {workload};
  return config;
}

inline LockResult small_lock() {
  LockResult lock;
  lock.name = "hot";
  lock.algorithm = "qspinlock";
  lock.partition = "guest";
  lock.acquisitions = 10;
  lock.paths = {6, 0, 1, 3};
  for (int i = 0; i < 8; ++i) lock.wait.record(nanoseconds(100));
  lock.wait.record(nanoseconds(1000));
  lock.wait.record(milliseconds(3));
  for (int i = 0; i < 10; ++i) lock.hold.record(nanoseconds(500));
  lock.handover.record(nanoseconds(40));
  lock.handover.record(nanoseconds(41));
  lock.acquisitions_by_vcpu = {4, 3, 2, 1};
  lock.max_min_ratio = 4;
  lock.jain = 0.8333;
  lock.longest_bypass = 2;
  lock.holder_preemptions = 1;
  lock.waiter_preemptions = 5;
  lock.stalls = 3;
  lock.stall_total = milliseconds(60);
  lock.stall_cost = microseconds(80'500);
  lock.stalls_by_cause = {1, 0, 2};
  lock.wrecks = 1;
  lock.wreck_longest = milliseconds(45);
  lock.wreck_deepest = 3;
  lock.wreck_longest_chain = 3;
  lock.wreck_cost = milliseconds(70);
  lock.reservations_lost = 7;
  Wreck wreck;
  wreck.start = microseconds(250'004);
  wreck.length = milliseconds(45);
  wreck.depth = 3;
  wreck.stalls = 3;
  wreck.cost = milliseconds(70);
  wreck.chain = {
      {.cause = StallCause::holder,
       .vcpu = 2,
       .start = wreck.start,
       .length = milliseconds(20),
       .depth = 3,
       .cost = milliseconds(40),
       .waiters = {3, 0}},
      {.cause = StallCause::waiter,
       .vcpu = 3,
       .start = wreck.start + microseconds(20'001),
       .length = milliseconds(10),
       .depth = 2,
       .cost = milliseconds(30),
       .waiters = {0, 1}},
  };
  lock.worst = {wreck};
  return lock;
}

inline Result small_result() {
  Result result;
  result.virtual_time = seconds(1);
  result.seed = 42;
  result.locks = {small_lock()};
  // Of two seconds of CPU: thirds do not add up to 100.0 when each is rounded by itself.
  result.cpu = {.useful = picoseconds(666'666'666'667),
                .spin = picoseconds(666'666'666'667),
                .hypervisor = picoseconds(0),
                .idle = picoseconds(666'666'666'666)};
  result.hypervisor = {.dispatches = 100,
                       .preemptions = 40,
                       .confer_directed = 9,
                       .confer_undirected = 8,
                       .confer_stale = 7,
                       .prod = 6,
                       .cede = 5,
                       .steal = seconds(2),
                       .background = microseconds(1)};
  result.engine = {.events = 1000, .switches = 200, .iterations = 800, .fast_forwarded = 700};
  return result;
}

using Writer = void (*)(std::ostream&, const Config&, const Result&);

inline std::string written(Writer writer, const Config& config, const Result& result) {
  std::ostringstream out;
  writer(out, config, result);
  return out.str();
}

}  // namespace sim
