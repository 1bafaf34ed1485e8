// The fake hypervisor: dispatches vCPUs over physical CPUs and answers H_CEDE, H_PROD, H_CONFER.
//
// Hcall semantics: LoPAR, chapter "Logical Partitioning Option"; each rule is a test in
// tests/conformance/hcall_*_test.cpp. What LoPAR leaves open is a key of HypervisorConfig.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "hv/dispatch_policy.h"
#include "hv/hypervisor_config.h"
#include "hv/vcpu.h"
#include "sim/engine/random.h"
#include "sim/machine/machine.h"

namespace hv {

// LoPAR return codes that these calls give.
enum class HcallStatus : std::int64_t { success = 0, parameter = -4 };

inline constexpr std::int32_t kAllProcessors = -1;

// Told of every change of a vCPU's dispatch; called at the instant of the change.
class VcpuObserver {
 public:
  enum class Left : std::uint8_t { preempted, ceded, conferred };
  virtual void dispatched(Vcpu&) {}
  virtual void undispatched(Vcpu&, Left) {}
  // The vCPU is dispatched but executes a hypervisor call.
  virtual void hcall_begins(Vcpu&) {}
  virtual void hcall_ends(Vcpu&) {}

 protected:
  ~VcpuObserver() = default;
};

struct HypervisorCounters {
  std::uint64_t dispatches = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t confer_directed = 0;    // that made the caller wait for one target
  std::uint64_t confer_undirected = 0;  // target -1
  std::uint64_t confer_stale = 0;       // returned at once
  std::uint64_t prod = 0;
  std::uint64_t cede = 0;
  sim::Time steal{};  // ready but not dispatched, summed over vCPUs, up to now
};

class Hypervisor {
 public:
  // Makes partitions, vCPUs and their VPAs (in the machine's guest memory). `seed` feeds the phases
  // of slices and the background load.
  Hypervisor(sim::Machine& machine, const HypervisorConfig& config,
             const std::vector<PartitionConfig>& partitions, std::uint64_t seed);
  ~Hypervisor();
  Hypervisor(const Hypervisor&) = delete;
  Hypervisor& operator=(const Hypervisor&) = delete;

  void set_observer(VcpuObserver* observer) { observer_ = observer; }
  // All vCPUs become ready; call once, before Engine::run.
  void start();

  std::deque<Partition>& partitions() { return partitions_; }
  std::deque<Vcpu>& vcpus() { return vcpus_; }
  std::deque<Unit>& units() { return units_; }
  std::deque<Seat>& seats() { return seats_; }
  const HypervisorConfig& config() const { return config_; }
  sim::Machine& machine() { return machine_; }
  std::uint64_t seed() const { return seed_; }

  // --- Hcalls, on the calling vCPU's fiber. They take the profile's time and may block. ---------
  HcallStatus h_cede(Vcpu& caller);
  // `target`: a CPU number of the caller's partition.
  HcallStatus h_prod(Vcpu& caller, std::int32_t target);
  // `target`: a CPU number, or kAllProcessors. `dispatch`: the yield count that the caller saw.
  HcallStatus h_confer(Vcpu& caller, std::int32_t target, std::uint32_t dispatch);

  // An interrupt has become pending for the vCPU (the guest has set interrupt_pending): a ceded
  // one, or one that has conferred with interrupts enabled, becomes ready.
  void interrupt(Vcpu& vcpu);

  // --- For policies -----------------------------------------------------------------------------
  // Ends the unit's slice on the seat now and picks again.
  void reschedule(Seat& seat);
  // Offers every idle seat to the policy.
  void fill_idle_seats();
  // Preempts whatever runs on the seat and leaves it idle.
  void vacate(Seat& seat);

  // Counters since the last restart; steal includes the waits in progress.
  HypervisorCounters counters() const;
  void restart_counters();

 private:
  struct Background;

  void make_seats();
  void make_partition(const PartitionConfig& config);
  void make_unit(Partition& partition, std::uint32_t first_cpu, std::uint32_t cpus);

  // Seats.
  void seat_timer(Seat& seat);
  void dispatch(Seat& seat, Unit& unit, sim::Time slice);
  void begin_slice(Seat& seat);
  void end_slice(Seat& seat);
  void set_idle(Seat& seat);
  void use_threads(const Seat& seat, sim::CpuUse use);
  // Gives the seat to the policy's choice. A unit of partition `prefer`, whose vCPU has just given
  // the seat up, inherits what is left of its slice.
  void pick_for(Seat& seat, const Partition* prefer, sim::Time inherited);
  // Takes the seat's unit off it; the unit waits for a seat again.
  void preempt(Seat& seat, DispatchPolicy::Reason reason);
  void take_off(Seat& seat);
  Seat* idle_seat_for(const Unit& unit);

  // vCPUs.
  void run(Vcpu& vcpu);
  void stop(Vcpu& vcpu, VcpuObserver::Left why);
  void make_ready(Vcpu& vcpu, DispatchPolicy::Reason reason);
  // A waiting unit's way to a seat: an idle one, or else one that the policy preempts for it.
  void place(Unit& unit);
  void take_idle_seat(Unit& unit);
  void bump_yield_count(Vcpu& vcpu, sim::CoreId core);

  // Hcalls (hcall.cpp).
  void begin_hcall(Vcpu& caller, sim::Time time);
  void end_hcall(Vcpu& caller, sim::CpuUse use);
  // The caller stops in `state`; its seat goes to `target` if that waits for one, else to its
  // partition first. Returns when the caller is dispatched again.
  void block(Vcpu& caller, VcpuState state, Vcpu* target);
  void wait_for_dispatch_of(Vcpu& target, Vcpu& waiter);
  void release_conferrers(Vcpu& target);
  void end_confer(Vcpu& vcpu, DispatchPolicy::Reason reason);
  bool confer_to_all(Vcpu& caller);

  sim::Time now() const { return machine_.engine().now(); }

  sim::Machine& machine_;
  HypervisorConfig config_;
  std::uint64_t seed_;
  std::unique_ptr<DispatchPolicy> policy_;
  VcpuObserver* observer_;
  std::deque<Seat> seats_;
  std::deque<Partition> partitions_;
  std::deque<Vcpu> vcpus_;
  std::deque<Unit> units_;
  std::vector<Seat*>
      seat_order_;  // one of each core first: where units start, and idle ones are found
  std::deque<sim::Timer> timers_;
  std::vector<std::unique_ptr<Background>> background_;
  sim::Random phase_;
  HypervisorCounters counters_;
  sim::Time counted_since_{};
};

}  // namespace hv
