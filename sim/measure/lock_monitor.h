// What is measured of one lock: who wants it, who has it, whose turn it is, and what that costs.
//
// The monitor follows the lock from outside: its guest reports waits, the lock reports the points
// of lock::Note at the instants at which they take effect, the hypervisor reports dispatches. It
// changes nothing. CPUs are numbers of the lock's partition.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lock/platform.h"
#include "sim/engine/time.h"
#include "sim/measure/result.h"
#include "sim/measure/stall_tracker.h"

namespace sim {

class GuestMonitor;

inline constexpr std::uint32_t kNobody = ~std::uint32_t{0};

class LockMonitor {
 public:
  // `strict_fifo`: nobody ever overtakes a queued waiter. `queues`: the lock has a queue at all.
  LockMonitor(std::string name, std::string algorithm, std::string partition, std::uint32_t cpus,
              bool strict_fifo, bool queues);

  // The CPU starts to want the lock, and is dispatched.
  void wait_begins(std::uint32_t cpu, Time now);
  // Point `note` takes effect. Throws GuestFailure when two CPUs own the lock, or one releases what
  // it doesn't own.
  void note(std::uint32_t cpu, lock::Note note, Time now);
  // How the acquisition that just succeeded came about.
  void path(std::uint32_t cpu, lock::Path path) { cpus_[cpu].path = path; }

  // The owner has begun to unlock; the store that does it may still be on its way.
  void release_issued() { releasing_ = true; }
  bool releasing() const { return releasing_; }
  // A store-conditional of the lock's code failed.
  void reservation_lost() { ++counted_.reservations_lost; }

  // Dispatch of a CPU that waits for or owns this lock has changed. `spins`: it is dispatched, not
  // in an hcall, and this lock is what it spins on.
  void dispatch_changed(std::uint32_t cpu, bool dispatched, bool spins, bool preempted, Time now);

  const std::string& name() const { return name_; }
  std::uint32_t owner() const { return owner_; }
  bool waits(std::uint32_t cpu) const { return cpus_[cpu].waiting; }
  std::uint32_t waiting() const { return waiting_; }
  Time last_progress() const { return last_progress_; }
  Time owner_since() const { return acquired_at_; }
  Time wait_since(std::uint32_t cpu) const { return cpus_[cpu].since; }
  // The waiters in order of arrival.
  std::vector<std::uint32_t> waiters() const;
  // The CPU whose turn it is: the owner; if free and strictly FIFO the first in the queue.
  std::uint32_t turn() const;

  void restart(Time now);
  LockResult finish(Time now);

 private:
  struct Cpu {
    bool waiting = false;
    bool dispatched = false;
    bool spins = false;
    bool queued = false;
    bool lost_as_head = false;  // was at the front of the queue when it lost its physical CPU
    lock::Path path = lock::Path::fast;
    Time since{};
    std::uint64_t acquisitions_before = 0;  // of the lock when the wait began
    std::uint32_t ahead = 0;                // waiters that had arrived earlier
    // Neighbours in order of arrival, and in the queue.
    std::uint32_t earlier = kNobody, later = kNobody;
    std::uint32_t queue_next = kNobody;
    Time waited{};  // the wait that led to the acquisition in progress
    std::uint64_t acquisitions = 0;
    bool uses = false;
  };

  void acquired(std::uint32_t cpu, Time now);
  void released(std::uint32_t cpu, Time now);
  void leave_queue(std::uint32_t cpu);
  void count_spinning(Time now);
  void set_spins(Cpu& cpu, bool spins, Time now);
  void update_stall(Time now);
  bool strict() const { return strict_fifo_ || must_queue_; }

  std::string name_;
  std::string algorithm_;
  std::string partition_;
  bool strict_fifo_;
  bool queues_;
  std::vector<Cpu> cpus_;

  std::uint32_t owner_ = kNobody;
  bool must_queue_ = false;
  bool releasing_ = false;
  std::uint32_t waiting_ = 0;
  std::uint32_t first_ = kNobody, last_ = kNobody;  // arrivals
  std::uint32_t queue_head_ = kNobody, queue_tail_ = kNobody;
  std::uint64_t acquisitions_ever_ = 0;
  Time acquired_at_{};
  Time released_at_{};
  bool handing_over_ = false;
  Time last_progress_{};

  std::uint32_t spinning_ = 0;
  Time spun_{};
  Time spun_until_{};
  StallTracker stalls_;

  LockResult counted_;
};

}  // namespace sim
