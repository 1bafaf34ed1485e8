#include "sim/measure/lock_monitor.h"

#include <algorithm>
#include <limits>

#include "sim/measure/guest_failure.h"

namespace sim {

LockMonitor::LockMonitor(std::string name, std::string algorithm, std::string partition,
                         std::uint32_t cpus, bool strict_fifo, bool queues)
    : name_(std::move(name)),
      algorithm_(std::move(algorithm)),
      partition_(std::move(partition)),
      strict_fifo_(strict_fifo),
      queues_(queues),
      cpus_(cpus) {}

// --- Waiting ------------------------------------------------------------------------------------

void LockMonitor::wait_begins(std::uint32_t cpu, Time now) {
  Cpu& c = cpus_[cpu];
  c.waiting = c.uses = true;
  c.dispatched = true;
  c.since = now;
  c.acquisitions_before = acquisitions_ever_;
  c.ahead = waiting_;
  c.earlier = last_;
  c.later = kNobody;
  (last_ == kNobody ? first_ : cpus_[last_].later) = cpu;
  last_ = cpu;
  if (waiting_++ == 0) last_progress_ = std::max(last_progress_, now);
  set_spins(c, true, now);
  update_stall(now);
}

std::vector<std::uint32_t> LockMonitor::waiters() const {
  std::vector<std::uint32_t> result;
  for (std::uint32_t cpu = first_; cpu != kNobody; cpu = cpus_[cpu].later) result.push_back(cpu);
  return result;
}

void LockMonitor::leave_queue(std::uint32_t cpu) {
  Cpu& c = cpus_[cpu];
  if (!c.queued) return;
  c.queued = false;
  std::uint32_t* link = &queue_head_;
  std::uint32_t before = kNobody;
  while (*link != cpu) {
    before = *link;
    link = &cpus_[*link].queue_next;
  }
  *link = c.queue_next;
  if (queue_tail_ == cpu) queue_tail_ = before;
}

// --- Points of the lock -------------------------------------------------------------------------

void LockMonitor::note(std::uint32_t cpu, lock::Note note, Time now) {
  Cpu& c = cpus_[cpu];
  switch (note) {
    case lock::Note::queued:
      c.queued = true;
      c.lost_as_head = false;
      c.queue_next = kNobody;
      (queue_tail_ == kNobody ? queue_head_ : cpus_[queue_tail_].queue_next) = cpu;
      queue_tail_ = cpu;
      break;
    case lock::Note::head:
      break;
    case lock::Note::must_queue:
      must_queue_ = true;
      break;
    case lock::Note::may_steal:
      must_queue_ = false;
      break;
    case lock::Note::acquired:
      acquired(cpu, now);
      break;
    case lock::Note::released:
      released(cpu, now);
      break;
  }
  update_stall(now);
}

void LockMonitor::acquired(std::uint32_t cpu, Time now) {
  if (owner_ != kNobody)
    throw GuestFailure(GuestFailure::Kind::broken_exclusion,
                       "lock \"" + name_ + "\": vCPU " + std::to_string(cpu) +
                           " acquired it while vCPU " + std::to_string(owner_) + " owned it");
  Cpu& c = cpus_[cpu];
  c.uses = true;
  owner_ = cpu;
  acquired_at_ = last_progress_ = now;
  must_queue_ = false;
  c.waited = Time{0};
  if (c.waiting) {
    c.waited = now - c.since;
    // Of those that acquired since this one arrived, the ones that had come later overtook it.
    std::uint32_t still_ahead = 0;
    for (std::uint32_t i = c.earlier; i != kNobody; i = cpus_[i].earlier) ++still_ahead;
    const std::uint64_t bypass =
        acquisitions_ever_ - c.acquisitions_before - (c.ahead - still_ahead);
    counted_.longest_bypass = std::max(counted_.longest_bypass, bypass);
    (c.earlier == kNobody ? first_ : cpus_[c.earlier].later) = c.later;
    (c.later == kNobody ? last_ : cpus_[c.later].earlier) = c.earlier;
    c.waiting = false;
    --waiting_;
    set_spins(c, false, now);
    leave_queue(cpu);
  }
  ++acquisitions_ever_;
  if (handing_over_) {
    counted_.handover.record(now - released_at_);
    handing_over_ = false;
  }
}

void LockMonitor::released(std::uint32_t cpu, Time now) {
  if (owner_ != cpu)
    throw GuestFailure(
        GuestFailure::Kind::broken_exclusion,
        "lock \"" + name_ + "\": vCPU " + std::to_string(cpu) + " released it, but " +
            (owner_ == kNobody ? "nobody" : "vCPU " + std::to_string(owner_)) + " owned it");
  Cpu& c = cpus_[cpu];
  owner_ = kNobody;
  releasing_ = false;
  released_at_ = last_progress_ = now;
  handing_over_ = waiting_ > 0;
  ++c.acquisitions;
  ++counted_.acquisitions;
  ++counted_.paths[static_cast<std::size_t>(c.path)];
  counted_.wait.record(c.waited);
  counted_.hold.record(now - acquired_at_);
}

// --- Dispatch, spinning and stalls --------------------------------------------------------------

void LockMonitor::dispatch_changed(std::uint32_t cpu, bool dispatched, bool spins, bool preempted,
                                   Time now) {
  Cpu& c = cpus_[cpu];
  if (c.dispatched && !dispatched) {
    if (preempted && owner_ == cpu) ++counted_.holder_preemptions;
    if (preempted && c.waiting && (c.queued || !queues_)) ++counted_.waiter_preemptions;
    c.lost_as_head = queue_head_ == cpu;
  }
  c.dispatched = dispatched;
  set_spins(c, c.waiting && spins, now);
  if (owner_ == cpu || c.waiting) update_stall(now);
}

void LockMonitor::count_spinning(Time now) {
  spun_ += (now - spun_until_) * static_cast<std::int64_t>(spinning_);
  spun_until_ = now;
}

void LockMonitor::set_spins(Cpu& cpu, bool spins, Time now) {
  if (cpu.spins == spins) return;
  count_spinning(now);
  cpu.spins = spins;
  spins ? ++spinning_ : --spinning_;
}

std::uint32_t LockMonitor::turn() const {
  if (owner_ != kNobody) return owner_;
  return strict() ? queue_head_ : kNobody;
}

void LockMonitor::update_stall(Time now) {
  const std::uint32_t turn_cpu = turn();
  std::optional<StallTracker::Culprit> culprit;
  if (turn_cpu != kNobody && !cpus_[turn_cpu].dispatched) {
    const StallCause cause = turn_cpu == owner_             ? StallCause::holder
                             : cpus_[turn_cpu].lost_as_head ? StallCause::head
                                                            : StallCause::waiter;
    culprit = {cause, turn_cpu};
  }
  count_spinning(now);
  stalls_.update(now, waiting_, culprit, spun_, [&](std::vector<std::uint32_t>& out) {
    for (std::uint32_t cpu = first_; cpu != kNobody && out.size() < StallTracker::kWaitersKept;
         cpu = cpus_[cpu].later)
      if (cpu != turn_cpu) out.push_back(cpu);
  });
}

// --- Results ------------------------------------------------------------------------------------

void LockMonitor::restart(Time now) {
  count_spinning(now);
  counted_ = {};
  for (Cpu& c : cpus_) c.acquisitions = 0;
  stalls_.restart(now, spun_);
}

LockResult LockMonitor::finish(Time now) {
  count_spinning(now);
  LockResult result = counted_;
  result.name = name_;
  result.algorithm = algorithm_;
  result.partition = partition_;
  stalls_.finish(now, spun_, result);

  double sum = 0, squares = 0;
  std::uint64_t most = 0, least = std::numeric_limits<std::uint64_t>::max(), users = 0;
  for (const Cpu& c : cpus_) {
    result.acquisitions_by_vcpu.push_back(c.acquisitions);
    if (!c.uses) continue;
    ++users;
    most = std::max(most, c.acquisitions);
    least = std::min(least, c.acquisitions);
    const auto x = static_cast<double>(c.acquisitions);
    sum += x;
    squares += x * x;
  }
  if (users > 0 && most > 0) {
    result.max_min_ratio = least == 0 ? std::numeric_limits<double>::infinity()
                                      : static_cast<double>(most) / static_cast<double>(least);
    result.jain = sum * sum / (static_cast<double>(users) * squares);
  }
  return result;
}

}  // namespace sim
