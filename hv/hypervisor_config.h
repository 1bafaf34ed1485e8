// What a config says of the hypervisor and its partitions. Plain data, validated by the reader.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/engine/distribution.h"
#include "sim/engine/time.h"

namespace hv {

enum class PolicyKind : std::uint8_t { dispatch_wheel, fair, round_robin, gang, replay };

// What a physical CPU is to the dispatcher: a hardware thread that runs one vCPU, or a whole core
// that runs one virtual core (as many vCPUs as the core has threads).
enum class Granularity : std::uint8_t { thread, core };

// When a remembered H_PROD is forgotten: LoPAR clears the prod bit at every dispatch, KVM only when
// H_CEDE consumes it.
enum class ProdMemory : std::uint8_t { until_dispatch, until_cede };

// vcpu_is_preempted: the rules of Linux 5.9 (odd count), 5.11 (a sibling of the caller's core is
// not preempted), 6.7 (idle flag and siblings).
enum class PreemptedRule : std::uint8_t { odd_count, not_same_core, idle_aware };

// A physical CPU taken away by somebody else: `share` of the time, in pieces of `mean` length
// (exponential), at random times.
struct Background {
  double share = 0;  // 0 <= share < 1
  sim::Time mean = sim::milliseconds(1);
};

struct HypervisorConfig {
  PolicyKind policy = PolicyKind::dispatch_wheel;
  Granularity granularity = Granularity::thread;
  sim::Time timeslice = sim::milliseconds(10);  // dispatch_wheel: the rotation period
  Background background;
  ProdMemory prod_memory = ProdMemory::until_dispatch;
  PreemptedRule preempted_rule = PreemptedRule::idle_aware;
  bool confer_all_waits_for_ceded = false;  // LoPAR's narrative and its normative text disagree
  // fair: lead that lets a waking vCPU preempt
  sim::Time wakeup_granularity = sim::milliseconds(1);
  std::string replay;  // policy replay: path of the recorded schedule (see hv/policy/replay.h)
  std::uint64_t replay_digest = 0;  // of that file, so that another schedule is another config
};

struct PartitionConfig {
  std::string name;
  std::uint32_t vcpus = 1;
  // Physical CPUs (granularity). The reader gives an equal share of what others leave by default.
  std::optional<double> entitlement;
  std::uint32_t weight = 128;  // 0..255, share of spare capacity
  bool capped = false;
  // pin: vCPU i runs only on physical CPU pin[i % size]; empty: anywhere.
  std::vector<std::uint32_t> pin;
};

}  // namespace hv
