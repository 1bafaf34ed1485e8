// The powerpc queued spinlock: a word with owner, tail and two flags, and a queue of per-CPU nodes.
//
// lock() tries once, then tries to steal for a while, then queues (MCS-like: each waiter polls its
// own node). The head of the queue polls the word, competes with thieves, and after head_spins
// turns forbids them (MUST_Q). Waiters confer their time to vCPUs that are not dispatched. The new
// head is released as soon as the old one has the lock, not at unlock, so it polls during the whole
// hold.
//
//   not reentrant; unlock by the CPU that locked; up to four contexts of a CPU may queue at once
//   (task, softirq, hardirq, NMI), a fifth spins without queueing.
//
// Stage picks the rung of the 2022 patch series (qspinlock_knobs.h), `current` being mainline's
// form. Source: Linux arch/powerpc/lib/qspinlock.c (N. Piggin, 2022, with the fixes to Aug 2024);
// the queue is J. Mellor-Crummey and M. Scott, "Algorithms for Scalable Synchronization on
// Shared-Memory Multiprocessors", ACM TOCS 9(1), 1991.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <span>

#include "lock/platform.h"
#include "lock/qspinlock_core.h"
#include "lock/qspinlock_yield.h"

namespace lock {

// One trip through the slow path.
template <Platform P>
class QSpinlockSlowPath : private QSpinlockWaiter<P> {
  using Base = QSpinlockWaiter<P>;
  using Base::counted;
  using Base::knobs_;
  using Base::kRelaxed;
  using Base::lock_;
  using Base::me_;
  using Base::p_;
  using Base::paravirt_;
  using Base::scaled;
  using Base::seen_preempted_;
  using Base::sleepy_;
  using typename Base::Node;
  using typename Base::Turn;

 public:
  using Base::Base;

  Path run() {
    if (!lock_.has(Stage::mcs_queue)) return spin_on_trylock();
    if (try_to_steal()) return Path::steal;
    return queue();
  }

 private:
  // Also the way out when all nodes of this CPU are in use. A failed trylock stores nothing.
  Path spin_on_trylock() {
    while (!lock_.try_lock(p_)) p_.relax(kNoBudget);
    return Path::steal;
  }

  bool try_to_steal() {
    if (!lock_.has(Stage::steal) || knobs_.steal_spins == 0) return false;
    std::uint64_t iters = 0;
    std::uint32_t val = 0;
    this->spin_begin();
    do {
      this->begin_turn();
      Turn turn{false, 1};
      val = lock_.load(p_);
      if (lock_.has(Stage::must_queue) && qword::must_queue(val)) break;
      if (qword::is_locked(val)) {
        turn = this->yield_to_owner(val, false, steal_budget(val, iters));
      } else {
        this->spin_end();
        if (lock_.try_lock_steal(p_)) return true;
        this->spin_begin();
      }
      this->mark_sleepy(val);
      if (turn.preempted) seen_preempted_ = sleepy_ = true;
      iters += counted(turn);
    } while (iters < steal_limit(val, sleepy_));
    this->spin_end();
    return false;
  }

  // The owner field of a free word reads 0, so then the distance to CPU 0 decides.
  std::uint64_t steal_limit(std::uint32_t val, bool sleepy) const {
    const std::uint64_t limit = scaled(knobs_.steal_spins, sleepy);
    if (!lock_.has(Stage::remote_steal)) return limit;
    const std::uint64_t remote = scaled(knobs_.remote_steal_spins, sleepy);
    if (remote >= limit) return limit;
    return p_.node_of(me_) != p_.node_of(qword::owner_of(val)) ? remote : limit;
  }

  std::uint64_t steal_budget(std::uint32_t val, std::uint64_t iters) const {
    if (this->will_act_on(val)) return 1;
    return left(steal_limit(val, this->sleepy_after(val)), iters);
  }

  // A limit may shrink below what was already spent; the loop sees that after one more turn.
  static std::uint64_t left(std::uint64_t limit, std::uint64_t iters) {
    return limit > iters ? limit - iters : 1;
  }

  Path queue() {
    auto& area = lock_.area(me_);
    const std::uint32_t index = p_.load(area.count, kRelaxed);
    if (index >= kMaxNesting) return spin_on_trylock();
    p_.store(area.count, index + 1, kRelaxed);
    // An interrupt of this CPU from here on must not use this node.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    Node& node = area.nodes[index];
    prepare(node);
    const Path path = wait_in_queue(node);
    wait_as_head_and_take(node);
    release(node, index);
    return path;
  }

  void prepare(Node& node) {
    p_.store(node.next, static_cast<Node*>(nullptr), kRelaxed);
    p_.store(node.lock, static_cast<const void*>(&lock_), kRelaxed);
    if (lock_.has(Stage::prod_head)) p_.store(node.cpu, me_, kRelaxed);
    if (lock_.has(Stage::current)) {
      p_.store(node.sleepy, std::uint8_t{0}, kRelaxed);
    } else if (lock_.has(Stage::propagate_owner)) {
      p_.store(node.yield_cpu, std::int16_t{-1}, kRelaxed);
    }
    p_.store(node.locked, std::uint8_t{0}, kRelaxed);
  }

  // A node that still named its lock could be found in place of the right one while an interrupt
  // queues between the count and prepare(): the deadlock mended in August 2024.
  void release(Node& node, std::uint32_t index) {
    if (lock_.has(Stage::current)) {
      p_.store(node.lock, static_cast<const void*>(nullptr), kRelaxed);
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    p_.store(lock_.area(me_).count, index, kRelaxed);
  }

  Path wait_in_queue(Node& node) {
    seen_preempted_ = false;
    const std::uint32_t old = lock_.publish_tail(p_, qword::encode_tail(me_));
    if (!qword::has_tail(old)) {
      p_.note(&lock_, Note::head);
      return Path::head;
    }
    const CpuId prev = qword::tail_cpu(old);
    p_.fence(
        std::memory_order_acquire);  // pairs with the release of the predecessor's publish_tail
    p_.store(node_of(prev).next, &node, kRelaxed);

    this->spin_begin();
    while (p_.load(node.locked, kRelaxed) == 0) {
      this->begin_turn();
      if (this->yield_to_prev(node, prev, old)) seen_preempted_ = true;
    }
    this->spin_end();
    p_.fence(std::memory_order_acquire);
    p_.note(&lock_, Note::head);
    this->drop_stale_yield_cpu(node);
    return Path::queued;
  }

  // The tail has no room for the nesting level, so the node is searched for.
  Node& node_of(CpuId cpu) {
    auto& nodes = lock_.area(cpu).nodes;
    std::size_t index = 0;
    while (p_.load(nodes[index].lock, kRelaxed) != &lock_) {
      ++index;
      assert(index < nodes.size() && "a queued CPU has a node for the lock");
    }
    return nodes[index];
  }

  // Turns and MUST_Q survive being robbed: there is one budget and one MUST_Q an attempt. Neither
  // is passed on to the next head.
  void wait_as_head_and_take(Node& node) {
    const std::uint32_t tail = qword::encode_tail(me_);
    std::uint64_t iters = 0;
    bool must_queue = false;
    sleepy_ = false;
    std::uint32_t old = 0;
    do {
      this->spin_begin();
      for (std::uint32_t val; qword::is_locked(val = lock_.load(p_));) {
        head_turn(node, val, iters, must_queue);
      }
      this->spin_end();
      old = lock_.take_as_head(p_, tail);
    } while (lock_.has(Stage::steal) && qword::is_locked(old));
    if (qword::tail_of(old) != tail) hand_over(node);
  }

  void head_turn(Node& node, std::uint32_t val, std::uint64_t& iters, bool& must_queue) {
    this->begin_turn();
    const bool stealers = lock_.maybe_stealers();
    if (stealers) this->mark_sleepy(val);
    this->propagate(node, val);
    const bool counts = stealers && lock_.has(Stage::must_queue);
    const bool may_set = counts && !must_queue;
    const std::uint64_t budget = may_set ? left(head_limit(), iters) : kNoBudget;
    const Turn turn = this->yield_to_owner(val, allows_steal(val), budget);
    if (!counts) return;
    if (turn.preempted) seen_preempted_ = sleepy_ = true;
    iters += counted(turn);
    if (may_set && iters >= head_limit()) {
      must_queue = true;
      lock_.set_must_queue(p_);
    }
  }

  std::uint64_t head_limit() const { return scaled(knobs_.head_spins, sleepy_); }

  bool allows_steal(std::uint32_t val) const {
    return lock_.has(Stage::yield_allow_steal) && knobs_.pv_yield_allow_steal &&
           qword::must_queue(val);
  }

  // The lock is held from here on. A successor that has published its tail but not yet linked
  // itself may be preempted just there: the owner then waits for it, and no yield helps.
  void hand_over(Node& node) {
    Node* next = p_.load(node.next, kRelaxed);
    while (next == nullptr) {
      // A cpu_relax, which ends at medium priority even inside a low-priority section.
      p_.relax(kNoBudget);
      next = p_.load(node.next, kRelaxed);
    }
    // Relaxed: the new head touches the word only, and taking the word has a barrier after it.
    if (!paravirt_ || !lock_.has(Stage::prod_head) || !knobs_.pv_prod_head) {
      p_.store(next->locked, std::uint8_t{1}, kRelaxed);
      return;
    }
    // The node may be gone after the store.
    const CpuId cpu = p_.load(next->cpu, kRelaxed);
    p_.store(next->locked, std::uint8_t{1}, kRelaxed);
    if (p_.vcpu_is_preempted(cpu)) p_.prod(cpu);
  }
};

template <Platform P>
class QSpinlock : private QSpinlockCore<P> {
  using Core = QSpinlockCore<P>;

 public:
  using typename Core::CpuArea;
  using typename Core::Knobs;
  using typename Core::Node;

  // Thieves may pass the queue at most stages; strict_fifo() knows.
  static constexpr bool kStrictFifo = false;

  // `cpus` has an element for every CPU of the guest.
  QSpinlock(const Knobs& knobs, Stage stage, std::span<CpuArea> cpus) : Core(knobs, stage, cpus) {}

  Path lock(P& p) {
    if (Core::try_lock(p)) return Path::fast;
    return QSpinlockSlowPath<P>(p, *this).run();
  }

  bool try_lock(P& p) { return Core::try_lock(p); }
  void unlock(P& p) { Core::unlock(p); }

  // A tail alone counts as locked.
  bool is_locked(P& p) const { return Core::load(p) != 0; }
  bool is_contended(P& p) const { return qword::has_tail(Core::load(p)); }

  // Whether nobody ever overtakes a queued waiter, at this stage and with these knobs.
  bool strict_fifo() const { return Core::has(Stage::mcs_queue) && !Core::maybe_stealers(); }
};

}  // namespace lock
