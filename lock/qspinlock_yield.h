// What a waiter of the powerpc queued spinlock does about vCPUs that are not running.
//
// One object is one attempt of one CPU to take one lock; the loops are in qspinlock.h. A turn of a
// loop reads, decides, and ends by relaxing or by a confer. All calls here are made between
// spin_begin and spin_end and return so; hcalls happen outside, at medium priority.
//
// Two judgements of "preempted" live side by side and must not be merged. Whom to confer to is
// decided by the raw yield count, odd while not dispatched, so a CPU that idles in H_CEDE counts as
// well; what to pass down the queue is decided by vcpu_is_preempted.
//
// Budgets: a turn that stored, conferred or read a clock asks for one turn only, since the next
// will do something else; a turn that only read may ask for all up to the loop's next act.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>

#include "lock/platform.h"
#include "lock/qspinlock_core.h"

namespace lock {

template <Platform P>
class QSpinlockWaiter {
 public:
  using Core = QSpinlockCore<P>;
  using Node = typename Core::Node;

  QSpinlockWaiter(P& p, Core& lock)
      : p_(p),
        lock_(lock),
        knobs_(lock.knobs()),
        me_(p.processor_id()),
        paravirt_(lock.has(Stage::yield_owner) && p.is_shared_processor()) {}

 protected:
  struct Turn {
    bool preempted;       // the owner was not dispatched
    std::uint64_t turns;  // how many turns of the loop have passed
  };

  static constexpr auto kRelaxed = std::memory_order_relaxed;

  void spin_begin() {
    if (lock_.has(Stage::spin_begin)) p_.spin_begin();
  }
  void spin_end() {
    if (lock_.has(Stage::spin_begin)) p_.spin_end();
  }

  // Every turn of a wait starts here.
  void begin_turn() { acted_ = false; }

  // Confers to the owner in `val` if it is preempted. With SLEEPY in use the first sighting of a
  // hold marks the word, so the word differs from `val` and only the second sighting confers. A new
  // tail or MUST_Q cancels a confer likewise: the whole word must be as it was.
  Turn yield_to_owner(std::uint32_t val, bool allow_steal, std::uint64_t budget) {
    assert(qword::is_locked(val));
    if (!paravirt_ || !knobs_.pv_yield_owner) return relax(budget);
    const CpuId owner = qword::owner_of(val);
    const std::uint32_t count = p_.yield_count_of(owner);
    if (is_dispatched(count)) return relax(budget);

    spin_end();
    acted_ = true;
    seen_sleepy_owner(val);
    p_.fence(std::memory_order_acquire);  // the count was read before the word is read again
    if (lock_.load(p_) != val) {
      spin_begin();
      p_.relax(1);
      return {true, 1};
    }
    if (allow_steal) lock_.clear_must_queue(p_);
    p_.yield_to_preempted(owner, count);
    if (allow_steal) lock_.set_must_queue(p_);
    spin_begin();
    return {true, 1};
  }

  // One turn of waiting behind CPU `prev`; `published` is the word that publish_tail returned.
  // Returns whether somebody preempted was seen.
  bool yield_to_prev(Node& node, CpuId prev, std::uint32_t published) {
    if (!paravirt_ || !lock_.has(Stage::yield_prev)) {
      relax(kNoBudget);
      return false;
    }
    if (lock_.has(Stage::current)) {
      if (yield_to_sleepy_owner(node, prev)) return true;
      return confer_to_prev(node, prev, published);
    }
    bool seen = false;
    if (lock_.has(Stage::propagate_owner) && knobs_.pv_yield_propagate_owner) {
      if (confer_to_propagated(node, published, seen)) return true;
    }
    return confer_to_prev(node, prev, published) || seen;
  }

  // The head tells its successor, so that the news travels down without everybody polling the word.
  void propagate(Node& node, std::uint32_t val) {
    if (!paravirt_) return;
    if (lock_.has(Stage::current)) {
      if (knobs_.pv_yield_sleepy_owner) propagate_sleepy(node, qword::owner_of(val));
    } else if (lock_.has(Stage::propagate_owner) && knobs_.pv_yield_propagate_owner) {
      propagate_yield_cpu(node, qword::owner_of(val));
    }
  }

  // Before `current` a waiter left the CPU that it had been told in its node.
  void drop_stale_yield_cpu(Node& node) {
    if (lock_.has(Stage::current) || !lock_.has(Stage::propagate_owner)) return;
    if (!paravirt_ || !knobs_.pv_yield_propagate_owner) return;
    if (p_.load(node.yield_cpu, kRelaxed) != kNobody) store(node.yield_cpu, kNobody);
  }

  // Learns from `val`, and with the sticky knob marks a hold that nobody has marked yet. Updates
  // `val` when it did.
  void mark_sleepy(std::uint32_t& val) {
    if (!uses_sleepy()) return;
    if (!sleepy_) {
      if (qword::is_sleepy(val)) {
        remember_sleepy();
        sleepy_ = true;
      } else if (recently_sleepy()) {
        sleepy_ = true;
      }
    }
    if (!will_stick(val)) return;
    acted_ = true;
    if (lock_.try_set_sleepy(p_, val)) val |= qword::kSleepy;
  }

  // Whether this turn, after its relax, does more than count when `val` is what it read.
  bool will_act_on(std::uint32_t val) const {
    if (!uses_sleepy()) return false;
    const bool clock = !sleepy_ && knobs_.pv_sleepy_lock_interval_ns != 0 &&
                       (qword::is_sleepy(val) || lock_.area(me_).sleepy_seen_ns != 0);
    return clock || will_stick(val);
  }

  // Whether the spins of this attempt are scaled once a turn that read `val` is over.
  bool sleepy_after(std::uint32_t val) const {
    return sleepy_ || (uses_sleepy() && qword::is_sleepy(val));
  }

  std::uint64_t scaled(std::uint64_t spins, bool sleepy) const {
    return paravirt_ && sleepy && lock_.has(Stage::sleepy) ? spins * knobs_.pv_sleepy_lock_factor
                                                           : spins;
  }

  // What a turn adds to the loop's count.
  std::uint64_t counted(const Turn& turn) const {
    const bool free =
        turn.preempted && lock_.has(Stage::spin_on_preempted) && knobs_.pv_spin_on_preempted_owner;
    return free ? 0 : turn.turns;
  }

  P& p_;
  Core& lock_;
  const QSpinlockKnobs& knobs_;
  const CpuId me_;
  const bool paravirt_;
  bool sleepy_ = false;          // within one loop: preemption seen, spin longer
  bool seen_preempted_ = false;  // within one loop; the head inherits it from its wait in the queue

 private:
  static constexpr std::int16_t kNobody = -1;

  static bool is_dispatched(std::uint32_t yield_count) { return (yield_count & 1) == 0; }

  Turn relax(std::uint64_t budget) { return {false, p_.relax(acted_ ? 1 : budget)}; }

  template <class A, class T>
  void store(A& field, T value) {
    acted_ = true;
    p_.store(field, value, kRelaxed);
  }

  bool uses_sleepy() const {
    return paravirt_ && lock_.has(Stage::sleepy) && knobs_.pv_sleepy_lock;
  }

  // The kernel asks for this also when `val` is free, because a thief has just lost to another, and
  // trips over its own assertion. An unlocked word has no hold to mark; it is left alone.
  bool will_stick(std::uint32_t val) const {
    return knobs_.pv_sleepy_lock_sticky && seen_preempted_ && qword::is_locked(val) &&
           !qword::is_sleepy(val);
  }

  void remember_sleepy() {
    if (knobs_.pv_sleepy_lock_interval_ns == 0) return;
    acted_ = true;
    lock_.area(me_).sleepy_seen_ns = p_.clock();
  }

  bool recently_sleepy() {
    std::uint64_t& seen = lock_.area(me_).sleepy_seen_ns;
    if (knobs_.pv_sleepy_lock_interval_ns == 0 || seen == 0) return false;
    if (p_.clock_before(seen + knobs_.pv_sleepy_lock_interval_ns)) return true;
    seen = 0;
    return false;
  }

  void seen_sleepy_owner(std::uint32_t val) {
    if (!uses_sleepy()) return;
    remember_sleepy();
    if (!qword::is_sleepy(val)) lock_.try_set_sleepy(p_, val);
  }

  // The first form also tried to mark the lock, on the strength of a word read before this waiter
  // had queued: its own tail made that fail nearly always, which is why it went. A word that no
  // longer says "owned" is not tried.
  void seen_sleepy_node(std::uint32_t published) {
    if (!uses_sleepy()) return;
    remember_sleepy();
    if (lock_.has(Stage::current)) return;
    if (qword::is_locked(published) && !qword::is_sleepy(published)) {
      lock_.try_set_sleepy(p_, published);
    }
  }

  // Told that the owner is preempted, or with the teller preempted itself, this waiter looks at the
  // word, passes the news on and confers. Not told, it stays off the word. True: it did confer or
  // see the owner preempted; false: the predecessor's turn, in the same turn of the loop.
  bool yield_to_sleepy_owner(Node& node, CpuId prev) {
    if (!knobs_.pv_yield_sleepy_owner) return false;
    if (p_.load(node.sleepy, kRelaxed) == 0 && !p_.vcpu_is_preempted(prev)) return false;
    const std::uint32_t val = lock_.load(p_);
    if (qword::is_locked(val)) {
      propagate_sleepy(node, qword::owner_of(val));
      // The flag is cleared below, so the turn acts even when the owner turns out to run.
      if (yield_to_owner(val, false, 1).preempted) return true;
    }
    store(node.sleepy, std::uint8_t{0});
    return false;
  }

  void propagate_sleepy(Node& node, CpuId owner) {
    Node* const next = p_.load(node.next, kRelaxed);
    if (next == nullptr || p_.load(next->sleepy, kRelaxed) != 0) return;
    if (p_.vcpu_is_preempted(owner)) store(next->sleepy, std::uint8_t{1});
  }

  void propagate_yield_cpu(Node& node, CpuId owner) {
    const auto cpu = static_cast<std::int16_t>(owner);
    if (propagated_ == cpu) return;
    Node* const next = p_.load(node.next, kRelaxed);
    if (next == nullptr) return;
    if (!p_.vcpu_is_preempted(owner) && propagated_ == kNobody) return;
    store(next->yield_cpu, cpu);
    propagated_ = cpu;
  }

  // True: it conferred. `seen` becomes true when the propagated CPU was off.
  bool confer_to_propagated(Node& node, std::uint32_t published, bool& seen) {
    const std::int16_t cpu = p_.load(node.yield_cpu, kRelaxed);
    if (cpu == kNobody) {
      pass_on(node, cpu);
      return false;
    }
    const std::uint32_t count = p_.yield_count_of(static_cast<CpuId>(cpu));
    if (is_dispatched(count)) return false;

    spin_end();
    acted_ = true;
    seen = true;
    seen_sleepy_node(published);
    p_.fence(std::memory_order_acquire);
    // Nobody looks whether that CPU still owns the lock: the flaw that `current` mends.
    const bool confer = p_.load(node.yield_cpu, kRelaxed) == cpu;
    if (confer) {
      pass_on(node, cpu);
      p_.yield_to_preempted(static_cast<CpuId>(cpu), count);
    }
    spin_begin();
    return confer;
  }

  void pass_on(Node& node, std::int16_t cpu) {
    Node* const next = p_.load(node.next, kRelaxed);
    if (next != nullptr && p_.load(next->yield_cpu, kRelaxed) != cpu) store(next->yield_cpu, cpu);
  }

  bool confer_to_prev(Node& node, CpuId prev, std::uint32_t published) {
    const bool asks = knobs_.pv_yield_prev;
    const std::uint32_t count = asks ? p_.yield_count_of(prev) : 0;
    if (is_dispatched(count)) {
      relax(kNoBudget);
      return false;
    }
    spin_end();
    seen_sleepy_node(published);
    p_.fence(std::memory_order_acquire);  // the count was read before the flag is read again
    const bool confer = p_.load(node.locked, kRelaxed) == 0;
    if (confer) p_.yield_to_preempted(prev, count);
    spin_begin();
    if (!confer) p_.relax(1);
    return true;
  }

  bool acted_ = false;                 // this turn stored or read a clock
  std::int16_t propagated_ = kNobody;  // as head: what it last told its successor
};

}  // namespace lock
