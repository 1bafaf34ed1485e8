// Virtual processors and what the dispatcher schedules them as.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hv/hypervisor_config.h"
#include "hv/vpa.h"
#include "sim/machine/execution.h"

namespace hv {

struct Partition;
struct Unit;
struct Seat;

enum class VcpuState : std::uint8_t {
  ready,      // wants a physical CPU
  running,    // dispatched
  ceded,      // until prodded or interrupted
  conferred,  // until its target was dispatched, or a prod, or an interrupt with EE = 1
};

struct Vcpu {
  Vcpu(sim::Machine& machine, Partition& p, std::uint32_t global_id, std::uint32_t cpu_number)
      : execution(machine), partition(&p), id(global_id), cpu(cpu_number) {}

  sim::Execution execution;
  Partition* partition;
  Unit* unit = nullptr;
  Vpa* vpa = nullptr;      // in guest memory
  std::uint32_t id;        // among all vCPUs
  std::uint32_t cpu;       // the guest's CPU number
  std::uint32_t node = 0;  // the guest's NUMA node: the socket it first runs on
  std::uint32_t thread_in_unit = 0;
  VcpuState state = VcpuState::ready;
  bool prodded = false;            // H_PROD's memory
  bool interrupts_enabled = true;  // MSR[EE], kept by the guest
  bool interrupt_pending = false;  // kept by the guest
  bool conferred_to_all = false;
  // H_CONFER: how many vCPUs' dispatch this one still waits for, and who waits for this one's. An
  // entry of an earlier confer of the waiter (another number) is void.
  struct Conferrer {
    Vcpu* vcpu;
    std::uint64_t confer;
  };
  std::uint32_t confer_waits = 0;
  std::uint64_t confer_number = 0;
  std::vector<Conferrer> conferrers;
  sim::Time ready_since{};
};

struct Partition {
  std::uint32_t id = 0;
  PartitionConfig config;
  double entitlement = 0;  // physical CPUs
  std::vector<Vcpu*> vcpus;
  std::vector<Unit*> units;
};

// What is dispatched as one: a vCPU, or (granularity core) the vCPUs of one virtual core.
struct Unit {
  std::uint32_t id = 0;  // among all units
  Partition* partition = nullptr;
  std::vector<Vcpu*> vcpus;
  Seat* seat = nullptr;       // while dispatched, or being switched to
  Seat* last_seat = nullptr;  // where its caches are warm; at first, its home
  Seat* pinned = nullptr;     // may run only there
  bool queued = false;        // known to the policy as waiting for a seat

  bool runnable() const {
    for (const Vcpu* v : vcpus)
      if (v->state == VcpuState::ready || v->state == VcpuState::running) return true;
    return false;
  }
  bool may_run_on(const Seat& s) const { return pinned == nullptr || pinned == &s; }
};

// A physical CPU as the dispatcher sees it: a hardware thread, or (granularity core) a core.
struct Seat {
  enum class State : std::uint8_t {
    idle,
    switching,  // to `unit`, until the timer
    running,    // `unit`, until the timer (end of its slice)
    taken,      // by background load
  };
  std::uint32_t id = 0;
  std::uint32_t first_thread = 0;  // its hardware threads
  std::uint32_t threads = 1;
  State state = State::idle;
  Unit* unit = nullptr;
  Unit* last_unit = nullptr;
  sim::Time dispatched_at{};  // running: since when
  sim::Time slice{};          // what it got
  sim::Time slice_end{};
  sim::Slot timer = sim::kNoSlot;
};

}  // namespace hv
