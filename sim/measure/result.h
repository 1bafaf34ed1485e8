// The outcome of one run. Plain data; sim/report writes it in the formats that people read.
//
// Virtual times are `Time` (picoseconds) unless a name says otherwise. Everything here is a pure
// function of config and seed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/time.h"
#include "sim/measure/histogram.h"

namespace sim {

// A stall: a maximal interval in which somebody wants the lock and the one whose turn it is has no
// physical CPU.
enum class StallCause : std::uint8_t {
  holder,  // the owner was preempted (or gave its CPU up) while it held the lock
  head,    // free, strictly FIFO: the queue head lost its CPU as head
  waiter,  // free, strictly FIFO: the one whose turn came had lost its CPU further back in the
           // queue
};
inline constexpr std::size_t kStallCauses = 3;

// One stall in the chain of a train wreck: who was missing, since when, and who stood behind it.
struct WreckLink {
  StallCause cause;
  std::uint32_t vcpu;  // number within the lock's partition
  Time start;          // since the start of the measured window
  Time length;
  std::uint32_t depth;  // most vCPUs waiting in it
  Time cost;            // dispatched spinning burnt in it, summed over waiters
  std::vector<std::uint32_t>
      waiters;  // who waited for it when it began, in order of arrival (first few)
};

// A train wreck: a run of at least two stalls on one lock between which the queue never drained.
struct Wreck {
  Time start;
  Time length;          // from the first stall's start to the last one's end
  std::uint32_t depth;  // of its deepest stall
  std::uint64_t stalls;
  Time cost;
  std::vector<WreckLink> chain;  // the first links; `stalls` says how many there were
};

struct LockResult {
  std::string name;
  std::string algorithm;
  std::string partition;
  std::uint64_t acquisitions = 0;        // critical sections completed in the window
  std::array<std::uint64_t, 4> paths{};  // by lock::Path
  Histogram wait;
  Histogram hold;
  Histogram handover;  // from a release with somebody waiting to the next acquisition
  std::vector<std::uint64_t> acquisitions_by_vcpu;
  double max_min_ratio =
      0;            // fastest over slowest vCPU that uses the lock; infinity when one got none
  double jain = 0;  // Jain's fairness index
  std::uint64_t longest_bypass = 0;  // most later arrivals that overtook one waiter
  std::uint64_t holder_preemptions = 0;
  std::uint64_t waiter_preemptions = 0;
  std::uint64_t stalls = 0;
  Time stall_total{};
  Time stall_cost{};
  std::array<std::uint64_t, kStallCauses> stalls_by_cause{};
  std::uint64_t wrecks = 0;
  Time wreck_longest{};
  std::uint32_t wreck_deepest = 0;
  std::uint64_t wreck_longest_chain = 0;  // most stalls in one wreck
  Time wreck_cost{};
  std::vector<Wreck> worst;             // costliest first, at most kWorstWrecks
  std::uint64_t reservations_lost = 0;  // store-conditionals of the lock's code that failed
};
inline constexpr std::size_t kWorstWrecks = 5;

// Where the hardware threads' time went; `useful + spin + hypervisor + idle` is all of it.
struct CpuBudget {
  Time useful{};
  Time spin{};        // a dispatched vCPU waiting for a lock
  Time hypervisor{};  // switches, hcalls, and CPUs taken away by background load
  Time idle{};        // nobody dispatched, or the vCPU has ceded
};

struct HypervisorResult {
  std::uint64_t dispatches = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t confer_directed = 0;
  std::uint64_t confer_undirected = 0;
  std::uint64_t confer_stale =
      0;  // returned at once: count stale or even, or target conferred to all
  std::uint64_t prod = 0;
  std::uint64_t cede = 0;
  Time steal{};       // vCPUs ready to run but not dispatched, summed
  Time background{};  // part of the budget's hypervisor share
};

struct EngineResult {
  std::uint64_t events = 0;
  std::uint64_t switches = 0;        // fiber switches
  std::uint64_t iterations = 0;      // turns of spin loops, simulated or skipped
  std::uint64_t fast_forwarded = 0;  // of those, skipped
};

struct Result {
  Time virtual_time{};  // the measured window
  std::uint64_t seed = 0;
  std::vector<LockResult> locks;
  CpuBudget cpu;
  HypervisorResult hypervisor;
  EngineResult engine;
};

}  // namespace sim
