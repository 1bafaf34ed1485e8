#include "hv/policy/dispatch_wheel.h"

#include <algorithm>

#include "hv/hypervisor.h"

namespace hv {
namespace {

constexpr sim::Time kSparePiece = sim::milliseconds(1);
constexpr std::int64_t kAffinityLead = 20;  // the part of a period that cache affinity may cost

sim::Time fraction(sim::Time time, double of) {
  return sim::Time{static_cast<std::int64_t>(static_cast<double>(time.count()) * of)};
}

}  // namespace

sim::Time DispatchWheel::now() const {
  return hypervisor_->machine().engine().now();
}

void DispatchWheel::start(Hypervisor& hypervisor) {
  hypervisor_ = &hypervisor;
  for (const Partition& partition : hypervisor.partitions())
    competitors_.emplace_back().weight = partition.config.capped ? 0 : partition.config.weight;
  for (Unit& unit : hypervisor.units()) {
    Share& s = shares_.emplace_back(*this, unit);
    s.slot = hypervisor.machine().engine().add_slot(s.timer);
    const Partition& partition = *unit.partition;
    const double part = partition.entitlement / static_cast<double>(partition.units.size());
    s.quota = fraction(period_, std::min(1.0, part));
    sim::Random random(hypervisor.seed(), "wheel phase", unit.id);
    s.window_end = sim::Time{1} + sim::Time{static_cast<std::int64_t>(
                                      random.below(static_cast<std::uint64_t>(period_.count())))};
    // The first window is cut short, and so is what it holds.
    s.budget = fraction(
        s.quota, static_cast<double>(s.window_end.count()) / static_cast<double>(period_.count()));
  }
}

// --- Windows and budgets ------------------------------------------------------------------------

void DispatchWheel::open_window(Share& s, bool asleep) {
  if (s.window_end > now()) return;
  const sim::Time window_start = s.window_end - period_;
  if (s.entitled) s.waited += s.window_end - std::max(s.queued_at, window_start);
  const sim::Time owed =
      asleep ? sim::Time{0} : std::max(sim::Time{0}, std::min({s.budget, s.waited, s.quota}));
  const std::int64_t windows = (now() - s.window_end) / period_ + 1;
  const sim::Time overdrawn = std::min(s.budget, sim::Time{0});
  s.budget = std::min(overdrawn + s.quota * windows, s.quota) + owed;
  s.window_end += period_ * windows;
  s.waited = sim::Time{0};
}

void DispatchWheel::window_ends(Share& s) {
  Unit& unit = s.unit;
  const bool runs = unit.seat != nullptr;
  // A sleeping unit's windows are opened when it wakes, so that a sleeping machine has no events.
  if (!unit.queued && !runs) return;
  if (runs && unit.seat->state == Seat::State::running) {
    const sim::Time time = now() - unit.seat->dispatched_at - s.settled;
    charge(s, time);
    s.settled += time;
  }
  open_window(s, false);
  hypervisor_->machine().engine().schedule(s.slot, s.window_end);
  if (runs) {
    if (s.budget > sim::Time{0}) s.on_spare = false;
    return;
  }
  if (s.entitled || s.budget <= sim::Time{0}) return;
  Queue& queue = competitor(s).exhausted;
  take(queue, std::find(queue.begin(), queue.end(), &s));
  put(s);
  hypervisor_->fill_idle_seats();
  if (!unit.queued) return;
  if (Seat* seat = victim(unit)) hypervisor_->reschedule(*seat);
}

// What the partition's sleeping units have left of their budgets, up to `wanted`.
sim::Time DispatchWheel::lent_by_siblings(const Partition& partition, sim::Time wanted,
                                          bool take_it) {
  sim::Time lent{0};
  for (const Unit* unit : partition.units) {
    if (unit->queued || unit->seat != nullptr) continue;
    Share& sibling = share(*unit);
    open_window(sibling, true);
    const sim::Time part = std::clamp(sibling.budget, sim::Time{0}, wanted - lent);
    if (take_it) sibling.budget -= part;
    lent += part;
  }
  return lent;
}

void DispatchWheel::charge(Share& s, sim::Time time) {
  if (s.on_spare) {
    Competitor& c = competitor(s);
    c.used += time.count() / std::max<std::int64_t>(1, c.weight) - std::exchange(s.advance, 0);
    return;
  }
  s.budget -= time;
  if (s.budget < sim::Time{0}) s.budget += lent_by_siblings(*s.unit.partition, -s.budget, true);
}

void DispatchWheel::ran(Unit& unit, Seat&, sim::Time time) {
  Share& s = share(unit);
  charge(s, time - std::exchange(s.settled, sim::Time{0}));
}

// --- Queues -------------------------------------------------------------------------------------

void DispatchWheel::enqueue(Unit& unit, Reason reason) {
  Share& s = share(unit);
  const bool woken = reason == Reason::woken;
  // Waiting that came before a sleep is forgiven: the unit had its chance.
  if (woken) s.waited = sim::Time{0};
  open_window(s, woken);
  hypervisor_->machine().engine().schedule(s.slot, s.window_end);
  put(s);
}

void DispatchWheel::put(Share& s) {
  s.queued_at = now();
  s.on_spare = false;
  s.entitled = s.budget > sim::Time{0};
  if (s.entitled) {
    entitled_.push_back(&s);
    return;
  }
  Competitor& c = competitor(s);
  // Time in which it didn't compete gives no claim.
  if (c.exhausted.empty()) c.used = std::max(c.used, spare_clock_);
  c.exhausted.push_back(&s);
}

void DispatchWheel::take(Queue& queue, Queue::iterator at) {
  Share& s = **at;
  queue.erase(at);
  if (!s.entitled) return;
  s.entitled = false;
  s.waited += now() - std::max(s.queued_at, s.window_end - period_);
}

void DispatchWheel::dequeue(Unit& unit) {
  Share& s = share(unit);
  Queue& queue = s.entitled ? entitled_ : competitor(s).exhausted;
  take(queue, std::find(queue.begin(), queue.end(), &s));
}

DispatchWheel::Queue::iterator DispatchWheel::find(Queue& queue, const Seat& seat,
                                                   const Partition* only) {
  auto first = queue.end();
  for (auto it = queue.begin(); it != queue.end(); ++it) {
    const Share& s = **it;
    if (!s.unit.may_run_on(seat) || (only != nullptr && s.unit.partition != only)) continue;
    if (first == queue.end()) first = it;
    if (s.queued_at > (*first)->queued_at + period_ / kAffinityLead) break;
    if (s.unit.last_seat == &seat) return it;
  }
  return first;
}

// --- Decisions ----------------------------------------------------------------------------------

DispatchPolicy::Choice DispatchWheel::run_entitled(Queue::iterator at) {
  Share& s = **at;
  take(entitled_, at);
  return {&s.unit, s.budget};
}

DispatchPolicy::Choice DispatchWheel::run_spare(Competitor& c, Queue::iterator at) {
  Share& s = **at;
  take(c.exhausted, at);
  sim::Time piece = std::min(kSparePiece, s.window_end - now());
  if (piece <= sim::Time{0}) piece = kSparePiece;  // its window ends at this very time
  s.on_spare = true;
  // Charged at once, or several seats that look at the same time would all choose it.
  spare_clock_ = std::max(spare_clock_, c.used);
  s.advance = piece.count() / c.weight;
  c.used += s.advance;
  return {&s.unit, piece};
}

DispatchPolicy::Choice DispatchWheel::pick(Seat& seat, const Partition* prefer) {
  if (prefer != nullptr) {
    const auto own = find(entitled_, seat, prefer);
    if (own != entitled_.end()) return run_entitled(own);
    Queue& exhausted = competitors_[prefer->id].exhausted;
    const auto it = find(exhausted, seat, prefer);
    if (it != exhausted.end()) {
      const sim::Time lent = lent_by_siblings(*prefer, period_, false);
      if (lent > sim::Time{0}) {
        Unit& unit = (*it)->unit;
        take(exhausted, it);
        return {&unit, lent};
      }
    }
  }
  const auto entitled = find(entitled_, seat, nullptr);
  if (entitled != entitled_.end()) return run_entitled(entitled);

  Competitor* best = nullptr;
  Queue::iterator best_at;
  for (Competitor& c : competitors_) {
    if (c.weight == 0 || (best != nullptr && best->used <= c.used)) continue;
    const auto it = find(c.exhausted, seat, nullptr);
    if (it == c.exhausted.end()) continue;
    best = &c;
    best_at = it;
    if ((*it)->unit.partition == prefer) break;
  }
  return best == nullptr ? Choice{} : run_spare(*best, best_at);
}

Seat* DispatchWheel::victim(Unit& unit) {
  if (!share(unit).entitled) return nullptr;
  Seat* best = nullptr;
  for (Seat& seat : hypervisor_->seats()) {
    if (seat.state != Seat::State::running || !share(*seat.unit).on_spare || !unit.may_run_on(seat))
      continue;
    if (&seat == unit.last_seat) return &seat;
    // Whoever has had most of the spare time gives it up first.
    if (best == nullptr || competitor(share(*seat.unit)).used > competitor(share(*best->unit)).used)
      best = &seat;
  }
  return best;
}

}  // namespace hv
