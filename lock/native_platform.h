// The Platform on real threads of the host.
//
// A NativeMachine is one guest: its CPUs are threads, and it holds what they share, the yield
// counts and idle flags that a hypervisor would keep. Each thread makes its own NativePlatform over
// it. The machine outlives its platforms; nothing else is owned.
//
// Threads are always "dispatched" unless somebody says otherwise: `preempt` and `dispatch` flip a
// CPU's yield count, from any thread, so that the paravirtual paths run too. The thread itself goes
// on; the locks must be correct whatever the counts say. Yields are bounded: a confer ends when the
// target's count changes, at a prod, or after kConferYields turns of sched_yield.
//
// An acquiring update is followed by an acquire-release fence, not an acquire one: it stands for an
// lwsync/isync after the store-conditional, which also keeps later stores behind the update.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "lock/platform.h"

namespace lock {

class NativeMachine {
 public:
  // `nodes` gives each CPU's NUMA node; CPUs beyond it are on node 0.
  explicit NativeMachine(CpuId cpus, bool shared_processor = true,
                         std::span<const std::uint32_t> nodes = {});

  CpuId cpus() const { return static_cast<CpuId>(cpus_.size()); }
  bool shared_processor() const { return shared_processor_; }

  // Hooks for tests; any thread may call them. No effect if the CPU already is in that state.
  void preempt(CpuId cpu) { flip(cpu, false); }
  void dispatch(CpuId cpu) { flip(cpu, true); }
  void set_idle(CpuId cpu, bool idle);

  // Over all CPUs: confers that found their target off with the count given, and prods.
  std::uint64_t confers() const;
  std::uint64_t prods() const;

 private:
  friend class NativePlatform;

  // A line each, so that polling one CPU's count disturbs no other.
  struct alignas(kLineAlign) Cpu {
    std::atomic<std::uint32_t> yield_count{0};
    std::atomic<bool> idle{false};
    std::atomic<bool> prodded{false};
    std::atomic<std::uint64_t> confers{0};
    std::atomic<std::uint64_t> prods{0};
    std::uint32_t node = 0;
  };

  void flip(CpuId cpu, bool dispatched);

  std::vector<Cpu> cpus_;
  bool shared_processor_;
};

class NativePlatform {
 public:
  template <class T>
  struct Atomic {
    std::atomic<T> value{};
    static_assert(std::atomic<T>::is_always_lock_free);
  };

  NativePlatform(NativeMachine& machine, CpuId cpu) : machine_(&machine), cpu_(cpu) {}

  template <class T>
  T load(const Atomic<T>& a, std::memory_order order) {
    return a.value.load(order);
  }
  template <class T>
  void store(Atomic<T>& a, std::type_identity_t<T> value, std::memory_order order) {
    a.value.store(value, order);
  }
  void store_low_half(Atomic<std::uint32_t>& a, std::uint16_t value, std::memory_order order);

  template <class T, class F>
  Updated<T> update(Atomic<T>& a, F&& f, std::memory_order order, Hint) {
    T old = a.value.load(std::memory_order_relaxed);
    for (;;) {
      const std::optional<T> wanted = f(old);
      if (!wanted) return {old, false};
      if (a.value.compare_exchange_weak(old, *wanted, order, std::memory_order_relaxed)) break;
    }
    barrier_after(order);
    return {old, true};
  }

  template <class T>
  T compare_exchange(Atomic<T>& a, std::type_identity_t<T> expected, std::type_identity_t<T> wanted,
                     std::memory_order order, Hint) {
    if (a.value.compare_exchange_strong(expected, wanted, order, std::memory_order_relaxed)) {
      barrier_after(order);
    }
    return expected;
  }

  void fence(std::memory_order order) { std::atomic_thread_fence(order); }

  CpuId processor_id() const { return cpu_; }
  CpuId processors() const { return machine_->cpus(); }
  std::uint32_t node_of(CpuId cpu) const { return machine_->cpus_[cpu].node; }
  bool is_shared_processor() const { return machine_->shared_processor(); }
  std::uint32_t yield_count_of(CpuId cpu) const {
    return machine_->cpus_[cpu].yield_count.load(std::memory_order_relaxed);
  }
  // Off without having asked to idle. Threads have no siblings to consult.
  bool vcpu_is_preempted(CpuId cpu) const {
    return is_shared_processor() && (yield_count_of(cpu) & 1) != 0 &&
           !machine_->cpus_[cpu].idle.load(std::memory_order_relaxed);
  }
  void yield_to_preempted(CpuId cpu, std::uint32_t count);
  void yield_to_any();
  void prod(CpuId cpu);

  // The host's priorities are out of reach.
  void spin_begin() {}
  void spin_end() {}

  // One pause. Every kTurnsPerYield turns the host's scheduler may run another thread, which is
  // what lets more threads than CPUs make progress in reasonable time; nothing else depends on it.
  std::uint64_t relax(std::uint64_t budget);

  std::uint64_t clock() const;
  bool clock_before(std::uint64_t time) const { return clock() < time; }

  void note(const void*, Note) {}
  void note_at_next_store(const void*, Note) {}

 private:
  static constexpr unsigned kTurnsPerYield = 16;
  static constexpr int kConferYields = 8;

  static void barrier_after(std::memory_order order) {
    if (order == std::memory_order_acquire) std::atomic_thread_fence(std::memory_order_acq_rel);
  }

  NativeMachine* machine_;
  CpuId cpu_;
  unsigned turns_ = 0;
};

static_assert(Platform<NativePlatform>);
static_assert(sizeof(NativePlatform::Atomic<std::uint8_t>) == sizeof(std::uint8_t));
static_assert(sizeof(NativePlatform::Atomic<std::uint32_t>) == sizeof(std::uint32_t));
static_assert(sizeof(NativePlatform::Atomic<void*>) == sizeof(void*));

}  // namespace lock
