#include "sim/measure/guest_monitor.h"

#include <fmt/format.h>

#include <algorithm>

namespace sim {
namespace {

std::string at(Time t) {
  return fmt::format("{:.6f} s", static_cast<double>(t.count()) / 1e12);
}

}  // namespace

GuestMonitor::GuestMonitor(hv::Hypervisor& hypervisor)
    : hypervisor_(hypervisor), views_(hypervisor.vcpus().size()) {}

LockMonitor& GuestMonitor::add_lock(hv::Partition& partition, const std::string& name,
                                    const std::string& algorithm, bool strict_fifo, bool queues) {
  return locks_
      .emplace_back(
          Lock{LockMonitor(name, algorithm, partition.config.name,
                           static_cast<std::uint32_t>(partition.vcpus.size()), strict_fifo, queues),
               &partition})
      .monitor;
}

LockMonitor* GuestMonitor::waits_for(const hv::Vcpu& vcpu) const {
  const auto& waits = views_[vcpu.id].waits;
  return waits.empty() ? nullptr : waits.back();
}

void GuestMonitor::wait_begins(hv::Vcpu& vcpu, LockMonitor& lock) {
  View& view = views_[vcpu.id];
  view.waits.push_back(&lock);
  lock.wait_begins(vcpu.cpu, now());
  // What it spun on before, it no longer does.
  if (view.waits.size() > 1) report(vcpu, false);
  check_cycle(vcpu);
}

void GuestMonitor::interrupt_begins(hv::Vcpu& vcpu) {
  views_[vcpu.id].waits.push_back(nullptr);
  report(vcpu, false);
}

void GuestMonitor::interrupt_ends(hv::Vcpu& vcpu) {
  views_[vcpu.id].waits.pop_back();
  report(vcpu, false);
}

void GuestMonitor::note(hv::Vcpu& vcpu, LockMonitor& lock, lock::Note note) {
  View& view = views_[vcpu.id];
  if (note == lock::Note::acquired) {
    const bool waited = lock.waits(vcpu.cpu);
    lock.note(vcpu.cpu, note, now());
    if (waited) std::erase(view.waits, &lock);
    view.owns.push_back(&lock);
    // It may have lost its physical CPU before the store that made it the owner arrived.
    report(vcpu, false);
    if (waits_for(vcpu) != nullptr) check_cycle(vcpu);
  } else {
    if (note == lock::Note::released) std::erase(view.owns, &lock);
    lock.note(vcpu.cpu, note, now());
  }
}

void GuestMonitor::report(hv::Vcpu& vcpu, bool preempted) {
  const View& view = views_[vcpu.id];
  const bool executes = view.dispatched && !view.in_hcall;
  for (LockMonitor* lock : view.waits)
    if (lock != nullptr)
      lock->dispatch_changed(vcpu.cpu, view.dispatched, executes && lock == view.waits.back(),
                             preempted, now());
  for (LockMonitor* lock : view.owns)
    lock->dispatch_changed(vcpu.cpu, view.dispatched, false, preempted, now());
}

void GuestMonitor::dispatched(hv::Vcpu& vcpu) {
  views_[vcpu.id].dispatched = true;
  views_[vcpu.id].changed = now();
  report(vcpu, false);
}

void GuestMonitor::undispatched(hv::Vcpu& vcpu, Left why) {
  views_[vcpu.id].dispatched = false;
  views_[vcpu.id].changed = now();
  report(vcpu, why == Left::preempted);
}

void GuestMonitor::hcall_begins(hv::Vcpu& vcpu) {
  views_[vcpu.id].in_hcall = true;
  report(vcpu, false);
}

void GuestMonitor::hcall_ends(hv::Vcpu& vcpu) {
  views_[vcpu.id].in_hcall = false;
  report(vcpu, false);
}

hv::Vcpu* GuestMonitor::owner_of(LockMonitor& lock) const {
  if (lock.owner() == kNobody) return nullptr;
  const auto it = std::find_if(locks_.begin(), locks_.end(),
                               [&](const Lock& l) { return &l.monitor == &lock; });
  return it->partition->vcpus[lock.owner()];
}

void GuestMonitor::check_cycle(hv::Vcpu& vcpu) {
  std::string chain;
  hv::Vcpu* waiter = &vcpu;
  for (std::size_t steps = 0; steps <= views_.size(); ++steps) {
    LockMonitor* lock = waits_for(*waiter);
    hv::Vcpu* owner = lock == nullptr ? nullptr : owner_of(*lock);
    if (owner == nullptr || lock->releasing()) return;
    chain += fmt::format("  vCPU {} waits for \"{}\", which vCPU {} owns\n", waiter->cpu,
                         lock->name(), owner->cpu);
    if (owner == &vcpu)
      throw GuestFailure(
          GuestFailure::Kind::deadlock,
          fmt::format("deadlock at {}: each waits for the next\n{}{}", at(now()), chain, story()));
    waiter = owner;
  }
}

void GuestMonitor::check_progress(Time limit, bool dead) {
  if (dead && std::any_of(locks_.begin(), locks_.end(),
                          [](const Lock& l) { return l.monitor.waiting() > 0; }))
    throw GuestFailure(
        GuestFailure::Kind::deadlock,
        fmt::format("deadlock at {}: no vCPU runs, and none ever will\n{}", at(now()), story()));
  for (Lock& lock : locks_) {
    if (lock.monitor.waiting() == 0 || now() - lock.monitor.last_progress() < limit) continue;
    const hv::Vcpu* owner = owner_of(lock.monitor);
    if (owner != nullptr) {
      const View& view = views_[owner->id];
      // A long critical section is no livelock, and neither is an owner that waits for another
      // lock (that one is judged itself) or lost its physical CPU a short while ago.
      if (waits_for(*owner) != nullptr || view.dispatched || now() - view.changed < limit) continue;
    }
    throw GuestFailure(
        GuestFailure::Kind::livelock,
        fmt::format("livelock at {}: lock \"{}\" has not changed hands for {}\n{}", at(now()),
                    lock.monitor.name(), at(now() - lock.monitor.last_progress()), story()));
  }
}

std::string GuestMonitor::where(const hv::Vcpu& vcpu) const {
  switch (vcpu.state) {
    case hv::VcpuState::running:
      return views_[vcpu.id].in_hcall ? "in an hcall" : "dispatched";
    case hv::VcpuState::ready:
      return "ready, not dispatched";
    case hv::VcpuState::ceded:
      return "ceded";
    case hv::VcpuState::conferred:
      return "conferred";
  }
  return "";
}

std::string GuestMonitor::describe(const Lock& lock) const {
  const LockMonitor& monitor = lock.monitor;
  std::string text = fmt::format("  lock \"{}\": ", monitor.name());
  if (monitor.owner() == kNobody) {
    text += "free";
  } else {
    const hv::Vcpu& owner = *lock.partition->vcpus[monitor.owner()];
    text += fmt::format("held by vCPU {} since {} ({} since {})", owner.cpu,
                        at(monitor.owner_since()), where(owner), at(views_[owner.id].changed));
  }
  constexpr std::size_t kShown = 16;
  const auto waiters = monitor.waiters();
  for (std::size_t i = 0; i < std::min(kShown, waiters.size()); ++i) {
    const hv::Vcpu& vcpu = *lock.partition->vcpus[waiters[i]];
    text += fmt::format("\n    vCPU {} waits since {} ({})", vcpu.cpu,
                        at(monitor.wait_since(vcpu.cpu)), where(vcpu));
  }
  if (waiters.size() > kShown) text += fmt::format("\n    and {} more", waiters.size() - kShown);
  return text + "\n";
}

std::string GuestMonitor::story() const {
  std::string text;
  for (const Lock& lock : locks_)
    if (lock.monitor.waiting() > 0 || lock.monitor.owner() != kNobody) text += describe(lock);
  return text;
}

void GuestMonitor::restart(Time now) {
  for (Lock& lock : locks_) lock.monitor.restart(now);
}

std::vector<LockResult> GuestMonitor::finish(Time now) {
  std::vector<LockResult> results;
  for (Lock& lock : locks_) results.push_back(lock.monitor.finish(now));
  return results;
}

}  // namespace sim
