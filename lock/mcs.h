// The classic MCS queue lock: a list of waiters, each polling its own node.
//
// The word is a pointer to the last node. A node belongs to its lock from lock() to unlock(), so a
// CPU holds one for every lock that it holds or waits for, kMcsNodes at most: one more throws
// std::logic_error and leaves the lock as it was. Locks may be released in any order. Strictly
// FIFO, no yields: a preempted waiter stops all behind it. Not reentrant; unlock by the CPU that
// locked. Source: J. Mellor-Crummey and M. Scott, "Algorithms for Scalable Synchronization on
// Shared-Memory Multiprocessors", ACM TOCS 9(1), 1991, section 2.4.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>

#include "lock/knobs.h"
#include "lock/platform.h"

namespace lock {

inline constexpr std::size_t kMcsNodes = 16;

template <Platform P>
struct McsNode {
  typename P::template Atomic<McsNode*> next;
  typename P::template Atomic<std::uint32_t> locked;
  const void* lock = nullptr;  // which lock uses it; read and written by its own CPU only
};

template <Platform P>
struct alignas(kLineAlign) McsCpuArea {
  std::array<McsNode<P>, kMcsNodes> nodes;
};

template <Platform P>
class McsSpinlock {
 public:
  using Knobs = NoKnobs;
  using Node = McsNode<P>;
  using CpuArea = McsCpuArea<P>;

  static constexpr bool kStrictFifo = true;

  // `cpus` has an element for every CPU of the guest and outlives the lock.
  McsSpinlock(const Knobs&, std::span<CpuArea> cpus) : cpus_(cpus) {}

  Path lock(P& p) {
    Node& node = take_node(p);
    // The node is complete before anybody can find it.
    p.fence(std::memory_order_release);
    p.note_at_next_store(this, Note::queued);
    Node* const prev = p.update(
                            tail_, [&node](Node*) -> std::optional<Node*> { return &node; },
                            std::memory_order_acquire, Hint::none)
                           .old;
    if (prev != nullptr) {
      p.store(prev->next, &node, std::memory_order_release);
      while (p.load(node.locked, std::memory_order_acquire) == 0) p.relax(kNoBudget);
    }
    p.note(this, Note::acquired);
    return prev == nullptr ? Path::fast : Path::queued;
  }

  bool try_lock(P& p) {
    Node& node = take_node(p);
    p.fence(std::memory_order_release);
    p.note_at_next_store(this, Note::acquired);
    const bool taken = p.update(
                            tail_,
                            [&node](Node* tail) -> std::optional<Node*> {
                              if (tail != nullptr) return std::nullopt;
                              return &node;
                            },
                            std::memory_order_acquire, Hint::none)
                           .stored;
    if (!taken) node.lock = nullptr;
    return taken;
  }

  void unlock(P& p) {
    Node& node = my_node(p, this, "an MCS lock is released by a CPU that does not hold it");
    Node* next = p.load(node.next, std::memory_order_acquire);
    if (next == nullptr) {
      p.note_at_next_store(this, Note::released);
      Node* const seen = p.compare_exchange(tail_, &node, static_cast<Node*>(nullptr),
                                            std::memory_order_release, Hint::none);
      if (seen == &node) {
        node.lock = nullptr;
        return;
      }
      // Somebody has joined the tail and is about to link itself.
      while ((next = p.load(node.next, std::memory_order_acquire)) == nullptr) p.relax(kNoBudget);
    }
    p.note_at_next_store(this, Note::released);
    p.store(next->locked, std::uint32_t{1}, std::memory_order_release);
    node.lock = nullptr;
  }

  bool is_locked(P& p) const { return p.load(tail_, std::memory_order_relaxed) != nullptr; }
  bool strict_fifo() const { return true; }

 private:
  Node& my_node(P& p, const void* lock, const char* complaint) {
    for (Node& node : cpus_[p.processor_id()].nodes) {
      if (node.lock == lock) return node;
    }
    throw std::logic_error(complaint);
  }

  Node& take_node(P& p) {
    Node& node = my_node(p, nullptr, "a CPU holds more MCS locks at once than it has nodes (16)");
    node.lock = this;
    p.store(node.next, static_cast<Node*>(nullptr), std::memory_order_relaxed);
    p.store(node.locked, std::uint32_t{0}, std::memory_order_relaxed);
    return node;
  }

  typename P::template Atomic<Node*> tail_{};  // first: the word's address is the lock's
  std::span<CpuArea> cpus_;
};

}  // namespace lock
