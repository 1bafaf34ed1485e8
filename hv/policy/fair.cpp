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

Unit* Fair::first_movable(const Queue& queue) const {
  for (const auto& [vruntime, id] : queue.waiting)
    if (hypervisor_->units()[id].pinned == nullptr) return &hypervisor_->units()[id];
  return nullptr;
}

Fair::Move Fair::best_move() const {
  const std::size_t queues = queues_.size();
  std::size_t from = queues;
  for (std::size_t i = 0; i < queues; ++i)
    if ((from == queues || queues_[i].load > queues_[from].load) &&
        first_movable(queues_[i]) != nullptr)
      from = i;
  if (from == queues) return {};
  // The search begins behind the busiest one, so that what goes round goes round all of them.
  std::size_t to = queues;
  for (std::size_t i = 1; i < queues; ++i) {
    const std::size_t candidate = (from + i) % queues;
    if (hypervisor_->seats()[candidate].state != Seat::State::taken &&
        (to == queues || queues_[candidate].load < queues_[to].load))
      to = candidate;
  }
  if (to == queues) return {};
  const Unit* unit = first_movable(queues_[from]);
  const std::int64_t gain = queues_[from].load - queues_[to].load - entities_[unit->id].weight;
  return {unit, static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), gain};
}

void Fair::carry_out(const Move& m) {
  const std::int64_t weight = entities_[m.unit->id].weight;
  queues_[m.from].load -= weight;
  queues_[m.to].load += weight;
  remove(m.unit->id);
  move(m.unit->id, m.to);
  insert(m.unit->id);
}

void Fair::balance() {
  if (waiting_ == 0) return;  // enqueue() starts the timer again
  for (const Seat& seat : hypervisor_->seats()) {
    Queue& queue = queues_[seat.id];
    queue.load = seat.unit == nullptr ? 0 : entities_[seat.unit->id].weight;
    for (const auto& [vruntime, id] : queue.waiting) queue.load += entities_[id].weight;
  }
  // Each such move brings two loads closer, so this ends.
  Move next = best_move();
  for (; next.unit != nullptr && next.gain > 0; next = best_move()) carry_out(next);
  std::int64_t slices = kSlicesBetweenBalances;
  if (next.unit != nullptr && next.gain == 0) {
    // A difference of one unit remains. If the one that moved last happens to wait again, another
    // one will in a slice's time; or it would have the worse half for ever.
    if (last_rotated_ == next.unit->id) {
      last_rotated_.reset();
      slices = 1;
    } else {
      last_rotated_ = next.unit->id;
      carry_out(next);
    }
  }
  sim::Engine& engine = hypervisor_->machine().engine();
  engine.schedule(slot_, engine.now() + slice_ * slices);
  hypervisor_->fill_idle_seats();
}

}  // namespace hv
