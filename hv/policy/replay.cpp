#include "hv/policy/replay.h"

#include <stdexcept>

#include "hv/hypervisor.h"

namespace hv {

Replay::Replay(const std::string& path, sim::Time slice)
    : path_(path), slice_(slice), steps_(read_replay(path)), timer_([this] { step(); }) {}

void Replay::start(Hypervisor& hypervisor) {
  hypervisor_ = &hypervisor;
  unit_on_.resize(hypervisor.seats().size());
  seat_of_.resize(hypervisor.units().size());
  for (const ReplayStep& step : steps_) {
    const auto fail = [&](const std::string& what) {
      throw std::invalid_argument(path_ + ":" + std::to_string(step.line) + ": " + what);
    };
    if (step.pcpu >= unit_on_.size())
      fail("pcpu is " + std::to_string(step.pcpu) + "; allowed: 0 to " +
           std::to_string(unit_on_.size() - 1));
    if (!step.vcpu) continue;
    if (*step.vcpu >= seat_of_.size())
      fail("vcpu is " + std::to_string(*step.vcpu) + "; allowed: 0 to " +
           std::to_string(seat_of_.size() - 1) + ", or -");
    const Unit& unit = hypervisor.units()[*step.vcpu];
    if (!unit.may_run_on(hypervisor.seats()[step.pcpu]))
      fail("vcpu " + std::to_string(*step.vcpu) + " is pinned to pcpu " +
           std::to_string(unit.pinned->id));
  }
  sim::Engine& engine = hypervisor.machine().engine();
  slot_ = engine.add_slot(timer_);
  engine.schedule(slot_, steps_.front().at);
}

void Replay::assign(const ReplayStep& step) {
  Unit*& unit = unit_on_[step.pcpu];
  if (unit != nullptr) seat_of_[unit->id] = nullptr;
  unit = step.vcpu ? &hypervisor_->units()[*step.vcpu] : nullptr;
  if (unit == nullptr) return;
  Seat*& seat = seat_of_[unit->id];
  if (seat != nullptr) unit_on_[seat->id] = nullptr;
  seat = &hypervisor_->seats()[step.pcpu];
}

void Replay::step() {
  sim::Engine& engine = hypervisor_->machine().engine();
  while (next_ < steps_.size() && steps_[next_].at <= engine.now()) assign(steps_[next_++]);
  if (next_ < steps_.size()) engine.schedule(slot_, steps_[next_].at);
  // First everybody leaves, so that whoever moves is free to.
  for (Seat& seat : hypervisor_->seats())
    if (seat.unit != nullptr && seat.unit != unit_on_[seat.id]) hypervisor_->vacate(seat);
  hypervisor_->fill_idle_seats();
}

DispatchPolicy::Choice Replay::pick(Seat& seat, const Partition*) {
  Unit* unit = unit_on_[seat.id];
  // At the very time of a step a unit may still be on the seat that it is about to leave.
  if (unit == nullptr || !unit->queued) return {};
  return {unit, slice_};
}

}  // namespace hv
