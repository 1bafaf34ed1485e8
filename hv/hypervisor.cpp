#include "hv/hypervisor.h"

#include <algorithm>
#include <cassert>

#include "hv/background.h"

namespace hv {
namespace {

class NullObserver final : public VcpuObserver {};
NullObserver null_observer;

}  // namespace

Hypervisor::Hypervisor(sim::Machine& machine, const HypervisorConfig& config,
                       const std::vector<PartitionConfig>& partitions, std::uint64_t seed)
    : machine_(machine),
      config_(config),
      seed_(seed),
      policy_(make_policy(config)),
      observer_(&null_observer),
      phase_(seed, "slice phase") {
  make_seats();
  for (const auto& partition : partitions) make_partition(partition);
  for (auto& vcpu : vcpus_) vcpu.execution.add_store_buffer_slot();
}

Hypervisor::~Hypervisor() = default;

void Hypervisor::make_seats() {
  const sim::Topology& topology = machine_.topology();
  const bool whole_cores = config_.granularity == Granularity::core;
  const std::uint32_t per_seat = whole_cores ? topology.threads : 1;
  for (std::uint32_t thread = 0; thread < topology.total_threads(); thread += per_seat) {
    Seat& seat = seats_.emplace_back();
    seat.id = thread / per_seat;
    seat.first_thread = thread;
    seat.threads = per_seat;
    timers_.emplace_back([this, &seat] { seat_timer(seat); });
    seat.timer = machine_.engine().add_slot(timers_.back());
  }
  const std::uint32_t per_core = topology.threads / per_seat;
  for (std::uint32_t i = 0; i < per_core; ++i)
    for (std::uint32_t core = 0; core < topology.total_cores(); ++core)
      seat_order_.push_back(&seats_[core * per_core + i]);
  if (config_.background.share > 0)
    for (Seat& seat : seats_) background_.push_back(std::make_unique<Background>(*this, seat));
}

void Hypervisor::make_partition(const PartitionConfig& config) {
  Partition& partition = partitions_.emplace_back();
  partition.id = static_cast<std::uint32_t>(partitions_.size() - 1);
  partition.config = config;
  const std::uint32_t per_unit =
      config_.granularity == Granularity::core ? machine_.topology().threads : 1;
  for (std::uint32_t cpu = 0; cpu < config.vcpus; cpu += per_unit)
    make_unit(partition, cpu, std::min(per_unit, config.vcpus - cpu));
}

void Hypervisor::make_unit(Partition& partition, std::uint32_t first_cpu, std::uint32_t cpus) {
  Unit& unit = units_.emplace_back();
  unit.id = static_cast<std::uint32_t>(units_.size() - 1);
  unit.partition = &partition;
  const auto& pin = partition.config.pin;
  const std::size_t index = partition.units.size();
  if (!pin.empty()) unit.pinned = &seats_[pin[index % pin.size()]];
  unit.last_seat = unit.pinned != nullptr ? unit.pinned : seat_order_[unit.id % seat_order_.size()];
  const sim::Topology& topology = machine_.topology();
  const std::uint32_t node =
      topology.socket_of_core(topology.core_of_thread(unit.last_seat->first_thread));
  for (std::uint32_t i = 0; i < cpus; ++i) {
    const auto id = static_cast<std::uint32_t>(vcpus_.size());
    Vcpu& vcpu = vcpus_.emplace_back(machine_, partition, id, first_cpu + i);
    vcpu.unit = &unit;
    vcpu.thread_in_unit = i;
    vcpu.node = node;
    vcpu.vpa = machine_.memory().make<Vpa>(node);
    vcpu.vpa->yield_count = 1;  // not dispatched yet
    unit.vcpus.push_back(&vcpu);
    partition.vcpus.push_back(&vcpu);
  }
  partition.units.push_back(&unit);
}

void Hypervisor::start() {
  double unclaimed = static_cast<double>(seats_.size());
  std::size_t unset = 0;
  for (const Partition& p : partitions_) {
    unclaimed -= p.config.entitlement.value_or(0);
    if (!p.config.entitlement) ++unset;
  }
  for (Partition& p : partitions_) {
    const double share = unset == 0 ? 0 : std::max(0.0, unclaimed) / static_cast<double>(unset);
    p.entitlement =
        p.config.entitlement.value_or(std::min(share, static_cast<double>(p.units.size())));
  }
  policy_->start(*this);
  for (Unit& unit : units_) {
    unit.queued = true;
    policy_->enqueue(unit, DispatchPolicy::Reason::woken);
  }
  for (auto& background : background_) background->start();
  // Dispatch is an event like any other: it happens when the run has begun.
  timers_.emplace_back([this] { fill_idle_seats(); });
  machine_.engine().schedule(machine_.engine().add_slot(timers_.back()), sim::Time{0});
}

// --- Seats --------------------------------------------------------------------------------------

void Hypervisor::seat_timer(Seat& seat) {
  if (seat.state == Seat::State::switching) {
    begin_slice(seat);
  } else {
    end_slice(seat);
  }
}

void Hypervisor::dispatch(Seat& seat, Unit& unit, sim::Time slice) {
  assert(seat.unit == nullptr && unit.seat == nullptr && unit.may_run_on(seat));
  // Slices of different physical CPUs don't end together: the first one is of random length.
  if (seat.last_unit == nullptr && policy_->staggers())
    slice = sim::Time{static_cast<std::int64_t>(
                phase_.below(static_cast<std::uint64_t>(slice.count())))} +
            sim::Time{1};
  const sim::Profile& profile = machine_.profile();
  const sim::Time cost = seat.last_unit == &unit ? profile.hcall : profile.switch_cost;
  unit.queued = false;
  unit.seat = &seat;
  unit.last_seat = &seat;
  seat.unit = seat.last_unit = &unit;
  seat.slice = slice;
  seat.state = Seat::State::switching;
  use_threads(seat, sim::CpuUse::hypervisor);
  machine_.engine().schedule(seat.timer, now() + cost);
}

void Hypervisor::begin_slice(Seat& seat) {
  seat.state = Seat::State::running;
  seat.dispatched_at = now();
  seat.slice_end = now() + seat.slice;
  machine_.engine().schedule(seat.timer, seat.slice_end);
  use_threads(seat, sim::CpuUse::idle);
  for (Vcpu* vcpu : seat.unit->vcpus)
    if (vcpu->state == VcpuState::ready) run(*vcpu);
}

void Hypervisor::end_slice(Seat& seat) {
  Unit& unit = *seat.unit;
  policy_->ran(unit, seat, now() - seat.dispatched_at);
  seat.dispatched_at = now();
  unit.queued = true;
  policy_->enqueue(unit, DispatchPolicy::Reason::slice_end);
  const DispatchPolicy::Choice choice = policy_->pick(seat, nullptr);
  if (choice.unit == &unit) {
    unit.queued = false;
    seat.slice = choice.slice;
    seat.slice_end = now() + choice.slice;
    machine_.engine().schedule(seat.timer, seat.slice_end);
    return;
  }
  take_off(seat);
  if (choice.unit != nullptr) {
    dispatch(seat, *choice.unit, choice.slice);
  } else {
    set_idle(seat);
  }
  // The seat may have gone to a unit that fits no other, while another one is idle.
  if (unit.queued) take_idle_seat(unit);
}

void Hypervisor::set_idle(Seat& seat) {
  seat.state = Seat::State::idle;
  machine_.engine().cancel(seat.timer);
  use_threads(seat, sim::CpuUse::idle);
}

void Hypervisor::use_threads(const Seat& seat, sim::CpuUse use) {
  for (std::uint32_t i = 0; i < seat.threads; ++i)
    machine_.account().set(seat.first_thread + i, use, now());
}

void Hypervisor::pick_for(Seat& seat, const Partition* prefer, sim::Time inherited) {
  const DispatchPolicy::Choice choice = policy_->pick(seat, prefer);
  if (choice.unit == nullptr) {
    set_idle(seat);
    return;
  }
  const bool inherits =
      prefer != nullptr && choice.unit->partition == prefer && inherited > sim::Time{0};
  dispatch(seat, *choice.unit, inherits ? inherited : choice.slice);
}

void Hypervisor::take_off(Seat& seat) {
  Unit& unit = *seat.unit;
  for (Vcpu* vcpu : unit.vcpus) {
    if (vcpu->state != VcpuState::running) continue;
    vcpu->state = VcpuState::ready;
    vcpu->ready_since = now();
    ++counters_.preemptions;
    stop(*vcpu, VcpuObserver::Left::preempted);
  }
  unit.seat = nullptr;
  seat.unit = nullptr;
}

void Hypervisor::preempt(Seat& seat, DispatchPolicy::Reason reason) {
  Unit& unit = *seat.unit;
  if (seat.state == Seat::State::running) policy_->ran(unit, seat, now() - seat.dispatched_at);
  take_off(seat);
  unit.queued = true;
  policy_->enqueue(unit, reason);
}

void Hypervisor::reschedule(Seat& seat) {
  if (seat.state == Seat::State::running) end_slice(seat);
}

void Hypervisor::vacate(Seat& seat) {
  if (seat.unit == nullptr) return;
  preempt(seat, DispatchPolicy::Reason::preempted);
  set_idle(seat);
}

void Hypervisor::fill_idle_seats() {
  for (Seat* seat : seat_order_)
    if (seat->state == Seat::State::idle) pick_for(*seat, nullptr, sim::Time{0});
}

Seat* Hypervisor::idle_seat_for(const Unit& unit) {
  const auto fits = [&](const Seat* seat) {
    return seat->state == Seat::State::idle && unit.may_run_on(*seat);
  };
  if (unit.last_seat != nullptr && fits(unit.last_seat)) return unit.last_seat;
  const auto it = std::find_if(seat_order_.begin(), seat_order_.end(), fits);
  return it == seat_order_.end() ? nullptr : *it;
}

// --- vCPUs --------------------------------------------------------------------------------------

void Hypervisor::bump_yield_count(Vcpu& vcpu, sim::CoreId core) {
  ++vcpu.vpa->yield_count;
  machine_.directory().write_by_hypervisor(machine_.memory().line_of(&vcpu.vpa->yield_count), core);
}

void Hypervisor::run(Vcpu& vcpu) {
  Seat& seat = *vcpu.unit->seat;
  const std::uint32_t thread = seat.first_thread + vcpu.thread_in_unit;
  vcpu.state = VcpuState::running;
  counters_.steal += now() - std::max(vcpu.ready_since, counted_since_);
  ++counters_.dispatches;
  if (config_.prod_memory == ProdMemory::until_dispatch) vcpu.prodded = false;
  bump_yield_count(vcpu, machine_.topology().core_of_thread(thread));
  vcpu.execution.attach(thread);
  observer_->dispatched(vcpu);
  release_conferrers(vcpu);
}

void Hypervisor::stop(Vcpu& vcpu, VcpuObserver::Left why) {
  const std::uint32_t thread = vcpu.execution.thread();
  bump_yield_count(vcpu, vcpu.execution.core());
  vcpu.execution.detach();
  machine_.account().set(thread, sim::CpuUse::idle, now());
  observer_->undispatched(vcpu, why);
}

void Hypervisor::make_ready(Vcpu& vcpu, DispatchPolicy::Reason reason) {
  vcpu.state = VcpuState::ready;
  vcpu.ready_since = now();
  Unit& unit = *vcpu.unit;
  if (unit.seat != nullptr) {
    // Its virtual core is on a physical one, or about to be: it takes its thread there.
    if (unit.seat->state == Seat::State::running) run(vcpu);
    return;
  }
  if (unit.queued) return;
  unit.queued = true;
  policy_->enqueue(unit, reason);
  if (reason == DispatchPolicy::Reason::woken) {
    place(unit);
  } else {
    take_idle_seat(unit);
  }
}

void Hypervisor::take_idle_seat(Unit& unit) {
  Seat* seat = policy_->place(unit);
  if (seat == nullptr) seat = idle_seat_for(unit);
  if (seat != nullptr && seat->state == Seat::State::idle) pick_for(*seat, nullptr, sim::Time{0});
}

void Hypervisor::place(Unit& unit) {
  take_idle_seat(unit);
  if (!unit.queued) return;
  Seat* seat = policy_->victim(unit);
  if (seat == nullptr || seat->state != Seat::State::running) return;
  Unit& victim = *seat->unit;
  preempt(*seat, DispatchPolicy::Reason::preempted);
  pick_for(*seat, nullptr, sim::Time{0});
  if (victim.queued) take_idle_seat(victim);
}

void Hypervisor::interrupt(Vcpu& vcpu) {
  if (vcpu.state == VcpuState::ceded) {
    make_ready(vcpu, DispatchPolicy::Reason::woken);
  } else if (vcpu.state == VcpuState::conferred && vcpu.interrupts_enabled) {
    end_confer(vcpu, DispatchPolicy::Reason::woken);
  }
}

HypervisorCounters Hypervisor::counters() const {
  HypervisorCounters result = counters_;
  for (const Vcpu& vcpu : vcpus_)
    if (vcpu.state == VcpuState::ready)
      result.steal += now() - std::max(vcpu.ready_since, counted_since_);
  return result;
}

void Hypervisor::restart_counters() {
  counters_ = {};
  counted_since_ = now();
}

}  // namespace hv
