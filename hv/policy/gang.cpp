#include "hv/policy/gang.h"

#include <algorithm>

#include "hv/hypervisor.h"

namespace hv {

Gang::Gang(sim::Time frame) : frame_(frame), timer_([this] { next_frame(); }) {}

sim::Time Gang::now() const {
  return hypervisor_->machine().engine().now();
}

void Gang::start(Hypervisor& hypervisor) {
  hypervisor_ = &hypervisor;
  slot_ = hypervisor.machine().engine().add_slot(timer_);
  places_.resize(hypervisor.units().size());
  for (Partition& partition : hypervisor.partitions()) seat_units(partition);
  last_row_ = rows_.size() - 1;
}

void Gang::seat_units(Partition& partition) {
  const std::size_t first = rows_.size();
  for (const bool pinned : {true, false})
    for (Unit* unit : partition.units) {
      if ((unit->pinned != nullptr) != pinned) continue;
      std::size_t row = first;
      while (row < rows_.size() && !try_place(*unit, row)) ++row;
      if (row < rows_.size()) continue;
      rows_.emplace_back(hypervisor_->seats().size(), nullptr);
      try_place(*unit, row);
    }
}

bool Gang::try_place(Unit& unit, std::size_t row) {
  for (Seat& seat : hypervisor_->seats()) {
    Unit*& place = rows_[row][seat.id];
    if (place != nullptr || !unit.may_run_on(seat)) continue;
    place = &unit;
    places_[unit.id] = {row, &seat};
    return true;
  }
  return false;
}

bool Gang::wants_to_run(std::size_t row) const {
  return std::any_of(rows_[row].begin(), rows_[row].end(), [](const Unit* unit) {
    return unit != nullptr && (unit->queued || unit->seat != nullptr);
  });
}

void Gang::enqueue(Unit&, Reason) {
  // Nobody's frame is on: one begins when this event is over.
  if (!current_ || !wants_to_run(*current_)) hypervisor_->machine().engine().schedule(slot_, now());
}

DispatchPolicy::Choice Gang::pick(Seat& seat, const Partition*) {
  if (!current_) return {};
  if (!wants_to_run(*current_)) {
    hypervisor_->machine().engine().schedule(slot_, now());
    return {};
  }
  Unit* unit = rows_[*current_][seat.id];
  if (unit == nullptr || !unit->queued) return {};
  const sim::Time left = frame_end_ - now();
  const sim::Time worth_it = std::min(hypervisor_->machine().profile().switch_cost, frame_ / 2);
  if (seat.unit != unit && left <= worth_it) return {};
  // The frame's end ends the slice; a slice that ended by itself would only get in the way.
  return {unit, left + frame_};
}

void Gang::next_frame() {
  std::size_t row = last_row_;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    row = (row + 1) % rows_.size();
    if (wants_to_run(row)) break;
  }
  if (!wants_to_run(row)) {
    current_.reset();
    return;
  }
  current_ = last_row_ = row;
  frame_end_ = now() + frame_;
  hypervisor_->machine().engine().schedule(slot_, frame_end_);
  for (Seat& seat : hypervisor_->seats()) {
    if (seat.unit == nullptr) continue;
    if (seat.unit != rows_[row][seat.id] && seat.state == Seat::State::switching) {
      hypervisor_->vacate(seat);
    } else {
      hypervisor_->reschedule(seat);
    }
  }
  hypervisor_->fill_idle_seats();
}

}  // namespace hv
