#include "sim/guest/guest_cpu.h"

#include <algorithm>

namespace sim {

GuestCpu::GuestCpu(hv::Hypervisor& hypervisor, hv::Vcpu& vcpu, GuestMonitor& monitor,
                   const SimPlatform::Locks& locks, bool shared)
    : hypervisor_(hypervisor),
      vcpu_(vcpu),
      monitor_(monitor),
      platform_(hypervisor, vcpu, monitor, locks, shared),
      timer_([this] {
        timer_armed_ = false;
        timer_pending_ = true;
        raise();
      }),
      timer_slot_(hypervisor.machine().engine().add_slot(timer_)) {}

void GuestCpu::add_interrupt(const InterruptLine& source) {
  InterruptLine& line = lines_.emplace_back(source);
  const std::size_t index = lines_.size() - 1;
  line_timers_.emplace_back([this, &line, index] {
    line.pending = true;
    const Time interval = std::max(Time{1}, line.config->interval.sample(line.interval));
    hypervisor_.machine().engine().schedule(line_slots_[index], now() + interval);
    raise();
  });
  line_slots_.push_back(hypervisor_.machine().engine().add_slot(line_timers_.back()));
}

void GuestCpu::start() {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    // CPUs don't tick in step: the first interval is cut at a random point.
    InterruptLine& line = lines_[i];
    const Time first = line.config->interval.sample(line.interval);
    const auto cut =
        line.interval.below(static_cast<std::uint64_t>(std::max(Time{1}, first).count()));
    hypervisor_.machine().engine().schedule(line_slots_[i], Time{static_cast<std::int64_t>(cut)});
  }
  vcpu_.execution.set_attention_handler(this);
  vcpu_.execution.set_body([this] { main(); });
}

// --- Tasks --------------------------------------------------------------------------------------

void GuestCpu::main() {
  for (;;) {
    Task* task = next_task();
    if (task == nullptr) {
      idle();
    } else {
      run_task(*task);
    }
  }
}

Task* GuestCpu::next_task() {
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    // The task that ran goes on while its slice lasts; else the next runnable one has its turn.
    const std::size_t at = (current_ + i + (now() < slice_end_ ? 0 : 1)) % tasks_.size();
    Task& task = tasks_[at];
    if (task.wakes_at > now()) continue;
    if (at != current_ || now() >= slice_end_) slice_end_ = now() + task.config->guest_slice;
    current_ = at;
    return &task;
  }
  return nullptr;
}

void GuestCpu::idle() {
  Execution& execution = vcpu_.execution;
  auto& flag = vcpu_.vpa->idle;
  execution.set_use(CpuUse::idle);
  execution.store(&flag, 1, 1);
  arm_timer();
  execution.sync();
  const auto asleep = [this](const Task& task) { return task.wakes_at > now(); };
  while (std::all_of(tasks_.begin(), tasks_.end(), asleep)) {
    hypervisor_.h_cede(vcpu_);
    execution.sync();  // takes the interrupt that ended it
  }
  execution.store(&flag, 1, 0);
  execution.set_use(CpuUse::useful);
}

void GuestCpu::arm_timer() {
  Time first = kNever;
  for (const Task& task : tasks_)
    if (task.wakes_at > now()) first = std::min(first, task.wakes_at);
  timer_armed_ = first != kNever;
  if (timer_armed_) hypervisor_.machine().engine().schedule(timer_slot_, first);
}

void GuestCpu::run_task(Task& task) {
  if (!think(task)) return;
  if (task.config->kind == WorkloadKind::locktorture) {
    const std::size_t which = task.locks.size() == 1 ? 0 : task.choice.below(task.locks.size());
    critical_section(*task.locks[which], task.config->critical_section.sample(task.critical));
  }
  ++task.cycles;
  sleep(task);
}

// Whether it came to an end; false: the task was switched out.
bool GuestCpu::think(Task& task) {
  if (task.think_left < Time{0}) task.think_left = task.config->think.sample(task.think);
  while (task.think_left > Time{0}) {
    if (tasks_.size() > 1 && now() >= slice_end_) return false;
    const Time piece =
        tasks_.size() > 1 ? std::min(task.think_left, slice_end_ - now()) : task.think_left;
    vcpu_.execution.compute(piece);
    task.think_left -= piece;
  }
  task.think_left = Time{-1};
  return true;
}

void GuestCpu::sleep(Task& task) {
  if (task.cycles % task.config->block_every != 0) return;
  const Time length = task.config->block.sample(task.block);
  if (length == Time{0}) return;
  task.wakes_at = now() + length;
  arm_timer();
}

void GuestCpu::critical_section(GuestLock& which, Time length) {
  if (which.taken_in_interrupts) ++interrupts_off_;
  vcpu_.interrupts_enabled = interrupts_off_ == 0;
  lock(which);
  vcpu_.execution.compute(length);
  unlock(which);
  if (which.taken_in_interrupts) {
    --interrupts_off_;
    vcpu_.interrupts_enabled = interrupts_off_ == 0;
    update_attention();
  }
}

void GuestCpu::lock(GuestLock& which) {
  Execution& execution = vcpu_.execution;
  execution.sync();
  const CpuUse use = execution.use();
  monitor_.wait_begins(vcpu_, *which.monitor);
  execution.set_use(CpuUse::spin);
  LockMonitor* const outer = platform_.enter(which.monitor);
  which.monitor->path(vcpu_.cpu, which.lock(platform_));
  platform_.enter(outer);
  execution.set_use(use);
}

void GuestCpu::unlock(GuestLock& which) {
  LockMonitor* const outer = platform_.enter(which.monitor);
  which.monitor->release_issued();
  which.unlock(platform_);
  platform_.enter(outer);
}

// --- Interrupts ---------------------------------------------------------------------------------

bool GuestCpu::may_deliver(std::uint8_t level) const {
  if (level <= level_) return false;
  return interrupts_off_ == 0 || level == static_cast<std::uint8_t>(InterruptLevel::nmi);
}

InterruptLine* GuestCpu::deliverable() {
  InterruptLine* best = nullptr;
  for (InterruptLine& line : lines_) {
    if (!line.pending || !may_deliver(static_cast<std::uint8_t>(line.config->level))) continue;
    if (best == nullptr || line.config->level > best->config->level) best = &line;
  }
  return best;
}

// An interrupt has become pending.
void GuestCpu::raise() {
  vcpu_.interrupt_pending = true;
  update_attention();
  hypervisor_.interrupt(vcpu_);
}

void GuestCpu::update_attention() {
  const bool any = timer_pending_ || std::any_of(lines_.begin(), lines_.end(),
                                                 [](const auto& line) { return line.pending; });
  vcpu_.interrupt_pending = any;
  if (any && ((timer_pending_ && may_deliver(kTimerLevel)) || deliverable() != nullptr)) {
    vcpu_.execution.raise_attention();
  } else {
    vcpu_.execution.lower_attention();
  }
}

void GuestCpu::attend() {
  for (;;) {
    if (timer_pending_ && may_deliver(kTimerLevel)) {
      timer_pending_ = false;
      enter(kTimerLevel, [this] { arm_timer(); });
    } else if (InterruptLine* line = deliverable()) {
      line->pending = false;
      enter(static_cast<std::uint8_t>(line->config->level), [this, line] { interrupt(*line); });
    } else {
      break;
    }
  }
  update_attention();
}

void GuestCpu::enter(std::uint8_t level, const std::function<void()>& handler) {
  Execution& execution = vcpu_.execution;
  const std::uint8_t interrupted = std::exchange(level_, level);
  const CpuUse use = execution.use();
  const Priority priority = execution.priority();
  // Softirqs run with interrupts enabled; everything above does not.
  const bool masks = level > static_cast<std::uint8_t>(InterruptLevel::softirq);
  if (masks) ++interrupts_off_;
  vcpu_.interrupts_enabled = interrupts_off_ == 0;
  update_attention();
  monitor_.interrupt_begins(vcpu_);
  execution.set_use(CpuUse::useful);
  execution.set_priority(Priority::medium);
  execution.work(hypervisor_.machine().profile().interrupt);
  handler();
  execution.sync();
  monitor_.interrupt_ends(vcpu_);
  execution.set_priority(priority);
  execution.set_use(use);
  if (masks) --interrupts_off_;
  vcpu_.interrupts_enabled = interrupts_off_ == 0;
  level_ = interrupted;
}

void GuestCpu::interrupt(InterruptLine& line) {
  const Time duration = line.config->duration.sample(line.duration);
  if (line.lock != nullptr) {
    critical_section(*line.lock, duration);
  } else {
    vcpu_.execution.compute(duration);
  }
}

}  // namespace sim
