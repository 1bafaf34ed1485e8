// One CPU of a guest operating system: its tasks, its interrupts, and what it does when idle.
//
// The CPU runs its tasks in turn. A task that thinks may be switched out by the guest at the end of
// its slice, or go to sleep; one that spins on or holds a lock is not. Interrupts are taken between
// operations (long computing is cut short), nest by level, and may take locks. A CPU with nothing
// to do sets the VPA's idle flag and cedes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "sim/engine/random.h"
#include "sim/guest/guest_lock.h"
#include "sim/guest/sim_platform.h"
#include "sim/guest/workload_config.h"

namespace sim {

// A task of a workload, bound to one CPU.
struct Task {
  Task(std::uint64_t seed, std::uint64_t id, const WorkloadConfig& work,
       std::vector<GuestLock*> task_locks)
      : config(&work),
        locks(std::move(task_locks)),
        think(seed, "think", id),
        critical(seed, "critical section", id),
        block(seed, "block", id),
        choice(seed, "lock choice", id) {}

  const WorkloadConfig* config;
  std::vector<GuestLock*> locks;
  Random think, critical, block, choice;
  Time think_left{-1};  // of a think that was cut by a task switch; < 0: none
  std::uint64_t cycles = 0;
  Time wakes_at{};  // asleep until then
};

// One source of interrupts on one CPU.
struct InterruptLine {
  InterruptLine(std::uint64_t seed, std::uint64_t id, const InterruptConfig& source,
                GuestLock* handler_lock)
      : config(&source),
        lock(handler_lock),
        interval(seed, "interrupt", id),
        duration(seed, "interrupt duration", id) {}

  const InterruptConfig* config;
  GuestLock* lock;
  Random interval, duration;
  bool pending = false;
};

class GuestCpu final : private AttentionHandler {
 public:
  GuestCpu(hv::Hypervisor& hypervisor, hv::Vcpu& vcpu, GuestMonitor& monitor,
           const SimPlatform::Locks& locks, bool shared);

  // Before the run.
  void add_task(Task task) { tasks_.push_back(std::move(task)); }
  void add_interrupt(const InterruptLine& source);
  void start();

  // Whether anything is armed that could ever make this CPU act again while it is ceded.
  bool armed() const { return !lines_.empty() || timer_armed_; }

 private:
  static constexpr std::uint8_t kTaskLevel = 0;
  static constexpr std::uint8_t kTimerLevel = static_cast<std::uint8_t>(InterruptLevel::hardirq);

  void main();
  Task* next_task();
  void idle();
  // Runs the task up to a switch, a sleep, or the end of a cycle.
  void run_task(Task& task);
  bool think(Task& task);
  void sleep(Task& task);
  void critical_section(GuestLock& which, Time length);
  void lock(GuestLock& which);
  void unlock(GuestLock& which);
  void arm_timer();

  void attend() override;
  void interrupt(InterruptLine& line);
  InterruptLine* deliverable();
  bool may_deliver(std::uint8_t level) const;
  void enter(std::uint8_t level, const std::function<void()>& handler);
  void update_attention();
  void raise();
  Time now() const { return hypervisor_.machine().engine().now(); }

  hv::Hypervisor& hypervisor_;
  hv::Vcpu& vcpu_;
  GuestMonitor& monitor_;
  SimPlatform platform_;
  std::vector<Task> tasks_;
  std::size_t current_ = 0;  // task that runs, or ran last
  Time slice_end_{};

  std::deque<InterruptLine> lines_;
  std::deque<Timer> line_timers_;
  std::vector<Slot> line_slots_;
  Timer timer_;  // wakes sleeping tasks
  Slot timer_slot_;
  bool timer_armed_ = false;
  bool timer_pending_ = false;
  std::uint8_t level_ = kTaskLevel;  // of the context that runs
  std::uint32_t interrupts_off_ = 0;
};

}  // namespace sim
