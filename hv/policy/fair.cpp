#include "hv/policy/fair.h"

#include <algorithm>

#include "hv/hypervisor.h"

namespace hv {
namespace {

constexpr std::int64_t kUnitWeight = 128;
constexpr std::int64_t kSlicesBetweenBalances = 4;

}  // namespace

Fair::Fair(sim::Time slice, sim::Time wakeup_granularity)
    : slice_(slice), wakeup_granularity_(wakeup_granularity), timer_([this] { balance(); }) {}

void Fair::start(Hypervisor& hypervisor) {
  hypervisor_ = &hypervisor;
  queues_.resize(hypervisor.seats().size());
  for (const Unit& unit : hypervisor.units())
    entities_.push_back({.weight = std::max<std::int64_t>(1, unit.partition->config.weight),
                         .queue = unit.last_seat->id});
  slot_ = hypervisor.machine().engine().add_slot(timer_);
}

// --- Virtual time -------------------------------------------------------------------------------

std::int64_t Fair::scaled(const Entity& e, sim::Time time) const {
  return time.count() * kUnitWeight / e.weight;
}

void Fair::advance_min(std::uint32_t queue, const Unit* running) {
  Queue& q = queues_[queue];
  const bool waits = !q.waiting.empty();
  if (running == nullptr && !waits) return;
  std::int64_t least = waits ? q.waiting.begin()->first : entities_[running->id].vruntime;
  if (running != nullptr) least = std::min(least, entities_[running->id].vruntime);
  q.min = std::max(q.min, least);
}

void Fair::ran(Unit& unit, Seat& seat, sim::Time time) {
  Entity& e = entities_[unit.id];
  if (e.queue != seat.id) move(unit.id, seat.id);  // came by a directed confer
  e.vruntime += scaled(e, time);
  advance_min(seat.id, &unit);
}

// --- Queues -------------------------------------------------------------------------------------

void Fair::insert(std::uint32_t unit) {
  const Entity& e = entities_[unit];
  queues_[e.queue].waiting.emplace(e.vruntime, unit);
  ++waiting_;
}

void Fair::remove(std::uint32_t unit) {
  const Entity& e = entities_[unit];
  queues_[e.queue].waiting.erase({e.vruntime, unit});
  --waiting_;
}

// Of a unit that isn't in a queue.
void Fair::move(std::uint32_t unit, std::uint32_t queue) {
  Entity& e = entities_[unit];
  e.vruntime += queues_[queue].min - queues_[e.queue].min;
  e.queue = queue;
}

void Fair::enqueue(Unit& unit, Reason reason) {
  Entity& e = entities_[unit.id];
  if (reason == Reason::woken)
    e.vruntime = std::max(e.vruntime, queues_[e.queue].min - slice_.count() / 2);
  insert(unit.id);
  sim::Engine& engine = hypervisor_->machine().engine();
  if (!engine.scheduled(slot_))
    engine.schedule(slot_, engine.now() + slice_ * kSlicesBetweenBalances);
}

void Fair::dequeue(Unit& unit) {
  remove(unit.id);
}

Unit* Fair::first_for(const Queue& queue, const Seat& seat) const {
  for (const auto& [vruntime, id] : queue.waiting) {
    Unit& unit = hypervisor_->units()[id];
    if (unit.may_run_on(seat)) return &unit;
  }
  return nullptr;
}

// --- Decisions ----------------------------------------------------------------------------------

DispatchPolicy::Choice Fair::pick(Seat& seat, const Partition*) {
  Unit* unit = first_for(queues_[seat.id], seat);
  if (unit == nullptr) unit = pull(seat);
  if (unit == nullptr) return {};
  remove(unit->id);
  return {unit, slice_};
}

// Moves a unit of the longest queue that has one for the seat into the seat's own.
Unit* Fair::pull(Seat& seat) {
  Unit* best = nullptr;
  std::size_t longest = 0;
  for (const Queue& queue : queues_) {
    if (queue.waiting.size() <= longest) continue;
    Unit* unit = first_for(queue, seat);
    if (unit == nullptr) continue;
    best = unit;
    longest = queue.waiting.size();
  }
  if (best == nullptr) return nullptr;
  remove(best->id);
  move(best->id, seat.id);
  insert(best->id);
  return best;
}

Seat* Fair::place(Unit& unit) {
  Seat* seat = &hypervisor_->seats()[entities_[unit.id].queue];
  if (seat->state == Seat::State::idle || unit.pinned != nullptr) return seat;
  for (Seat& other : hypervisor_->seats()) {
    if (other.state != Seat::State::idle) continue;
    remove(unit.id);
    move(unit.id, other.id);
    insert(unit.id);
    return &other;
  }
  return seat;
}

Seat* Fair::victim(Unit& unit) {
  const Entity& e = entities_[unit.id];
  Seat& seat = hypervisor_->seats()[e.queue];
  if (seat.state != Seat::State::running) return nullptr;
  const Entity& runs = entities_[seat.unit->id];
  const sim::Time so_far = hypervisor_->machine().engine().now() - seat.dispatched_at;
  const std::int64_t lead = runs.vruntime + scaled(runs, so_far) - e.vruntime;
  return lead > wakeup_granularity_.count() ? &seat : nullptr;
}

// --- Balancing ----------------------------------------------------------------------------------

bool Fair::balance_once(bool strictly) {
  Queue* busiest = nullptr;
  Queue* idlest = nullptr;
  Seat* target = nullptr;
  for (Seat& seat : hypervisor_->seats()) {
    Queue& queue = queues_[seat.id];
    if (seat.state != Seat::State::taken && (idlest == nullptr || queue.load < idlest->load)) {
      idlest = &queue;
      target = &seat;
    }
  }
  if (idlest == nullptr) return false;
  for (Queue& queue : queues_)
    if ((busiest == nullptr || queue.load > busiest->load) && first_for(queue, *target) != nullptr)
      busiest = &queue;
  if (busiest == nullptr || busiest == idlest) return false;
  Unit& unit = *first_for(*busiest, *target);
  Entity& e = entities_[unit.id];
  const std::int64_t difference = busiest->load - idlest->load;
  if (strictly ? difference <= e.weight : difference < e.weight) return false;
  remove(unit.id);
  move(unit.id, target->id);
  insert(unit.id);
  busiest->load -= e.weight;
  idlest->load += e.weight;
  return true;
}

void Fair::balance() {
  if (waiting_ == 0) return;  // enqueue() starts the timer again
  for (const Seat& seat : hypervisor_->seats()) {
    Queue& queue = queues_[seat.id];
    queue.load = seat.unit == nullptr ? 0 : entities_[seat.unit->id].weight;
    for (const auto& [vruntime, id] : queue.waiting) queue.load += entities_[id].weight;
  }
  // Each move brings two loads closer, so this ends; the bound is for the reader.
  for (std::size_t i = 0; i < entities_.size() && balance_once(true); ++i) {
  }
  balance_once(false);
  sim::Engine& engine = hypervisor_->machine().engine();
  engine.schedule(slot_, engine.now() + slice_ * kSlicesBetweenBalances);
  hypervisor_->fill_idle_seats();
}

}  // namespace hv
