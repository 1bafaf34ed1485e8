// The simulated platform: where a lock meets the machine, the hypervisor and the monitor.
//
// Implements lock::Platform (lock/platform.h) for one vCPU. Every call is made on that vCPU's
// fiber. Costs are the profile's; see sim/machine/execution.h for how they take place.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "hv/hypervisor.h"
#include "lock/platform.h"
#include "sim/guest/preempted.h"
#include "sim/machine/execution.h"
#include "sim/measure/guest_monitor.h"

namespace sim {

class SimPlatform final : private StoreEffectSink {
 public:
  // Lives in guest memory, at its own address and with T's layout; touched through the platform.
  template <class T>
  struct alignas(sizeof(T)) Atomic {
    static_assert(sizeof(T) <= 8 && std::has_single_bit(sizeof(T)));
    T value{};
  };

  // The locks of a guest by address; notes name a lock by it.
  using Locks = std::vector<std::pair<const void*, LockMonitor*>>;

  // `shared`: whether the guest's vCPUs share physical CPUs.
  SimPlatform(hv::Hypervisor& hypervisor, hv::Vcpu& vcpu, GuestMonitor& monitor, const Locks& locks,
              bool shared)
      : hypervisor_(hypervisor),
        vcpu_(vcpu),
        monitor_(monitor),
        locks_(locks),
        profile_(hypervisor.machine().profile()),
        shared_(shared) {}

  hv::Vcpu& vcpu() { return vcpu_; }
  Execution& execution() { return vcpu_.execution; }
  // The lock whose code this vCPU runs from now on (null: none); returns the one before.
  LockMonitor* enter(LockMonitor* lock) { return std::exchange(current_, lock); }

  // --- Memory -----------------------------------------------------------------------------------
  template <class T>
  T load(const Atomic<T>& word, std::memory_order order) {
    const T value = from_bits<T>(execution().load(&word, sizeof(T)));
    if (order != std::memory_order_relaxed) fence(order);
    return value;
  }
  template <class T>
  void store(Atomic<T>& word, std::type_identity_t<T> value, std::memory_order order) {
    if (order != std::memory_order_relaxed) fence(std::memory_order_release);
    execution().store(&word, sizeof(T), to_bits(value));
  }
  void store_low_half(Atomic<std::uint32_t>& word, std::uint16_t value, std::memory_order order) {
    if (order != std::memory_order_relaxed) fence(std::memory_order_release);
    constexpr std::size_t kOffset = std::endian::native == std::endian::little ? 0 : 2;
    execution().store(reinterpret_cast<std::byte*>(&word) + kOffset, 2, value);
  }

  template <class T, class F>
  lock::Updated<T> update(Atomic<T>& word, F f, std::memory_order order, lock::Hint hint) {
    if (order == std::memory_order_release || order == std::memory_order_acq_rel)
      fence(std::memory_order_release);
    for (;;) {
      const T old = from_bits<T>(execution().reserve(&word, sizeof(T)));
      const std::optional<T> next = f(old);
      if (!next) {
        execution().abandon();
        return {old, false};
      }
      if (conditional(word, *next, order, hint)) return {old, true};
    }
  }

  template <class T>
  T compare_exchange(Atomic<T>& word, std::type_identity_t<T> expected,
                     std::type_identity_t<T> desired, std::memory_order order, lock::Hint hint) {
    const auto swap = [&](T old) {
      return old == expected ? std::optional<T>(desired) : std::nullopt;
    };
    return update(word, swap, order, hint).old;
  }

  void fence(std::memory_order order) {
    if (order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
        order == std::memory_order_seq_cst)
      execution().work(profile_.acquire_barrier);
    if (order != std::memory_order_acquire) {
      execution().work(profile_.release_barrier);
      execution().release_fence();
    }
    if (order == std::memory_order_seq_cst) execution().drain_stores();
  }

  // --- CPUs -------------------------------------------------------------------------------------
  lock::CpuId processor_id() const { return vcpu_.cpu; }
  lock::CpuId processors() const { return static_cast<lock::CpuId>(vcpu_.partition->vcpus.size()); }
  std::uint32_t node_of(lock::CpuId cpu) const { return vcpu_.partition->vcpus[cpu]->node; }
  bool is_shared_processor() const { return shared_; }
  std::uint32_t yield_count_of(lock::CpuId cpu) {
    const hv::Vpa& vpa = *vcpu_.partition->vcpus[cpu]->vpa;
    return static_cast<std::uint32_t>(execution().load(&vpa.yield_count, sizeof(vpa.yield_count)));
  }
  bool vcpu_is_preempted(lock::CpuId cpu) {
    return shared_ && sim::vcpu_is_preempted(hypervisor_.config().preempted_rule, vcpu_, cpu);
  }
  void yield_to_preempted(lock::CpuId cpu, std::uint32_t count) {
    execution().mark_turn();
    hypervisor_.h_confer(vcpu_, static_cast<std::int32_t>(cpu), count);
  }
  void yield_to_any() {
    execution().mark_turn();
    hypervisor_.h_confer(vcpu_, hv::kAllProcessors, 0);
  }
  void prod(lock::CpuId cpu) {
    execution().mark_turn();
    hypervisor_.h_prod(vcpu_, static_cast<std::int32_t>(cpu));
  }

  // --- Waiting ----------------------------------------------------------------------------------
  void spin_begin() { set_priority(Priority::low); }
  void spin_end() { set_priority(Priority::medium); }
  std::uint64_t relax(std::uint64_t budget) { return execution().relax(budget); }
  std::uint64_t clock() {
    execution().mark_turn();
    execution().sync();
    return static_cast<std::uint64_t>(execution().now().count()) / 1000;
  }
  bool clock_before(std::uint64_t ns) {
    constexpr auto kLast = static_cast<std::uint64_t>(kNever.count()) / 1000;
    return execution().before(ns > kLast ? kNever : nanoseconds(static_cast<std::int64_t>(ns)));
  }

  // --- Observation ------------------------------------------------------------------------------
  void note(const void* lock, lock::Note note) {
    execution().mark_turn();
    store_took_effect(lock, static_cast<std::uint8_t>(note));
  }
  void note_at_next_store(const void* lock, lock::Note note) {
    execution().at_next_store(*this, lock, static_cast<std::uint8_t>(note));
  }

 private:
  template <class T>
  static std::uint64_t to_bits(T value) {
    std::uint64_t bits = 0;
    if constexpr (sizeof(T) == 8) {
      bits = std::bit_cast<std::uint64_t>(value);
    } else if constexpr (sizeof(T) == 4) {
      bits = std::bit_cast<std::uint32_t>(value);
    } else if constexpr (sizeof(T) == 2) {
      bits = std::bit_cast<std::uint16_t>(value);
    } else {
      bits = std::bit_cast<std::uint8_t>(value);
    }
    return bits;
  }
  template <class T>
  static T from_bits(std::uint64_t bits) {
    if constexpr (sizeof(T) == 8) {
      return std::bit_cast<T>(bits);
    } else if constexpr (sizeof(T) == 4) {
      return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
    } else if constexpr (sizeof(T) == 2) {
      return std::bit_cast<T>(static_cast<std::uint16_t>(bits));
    } else {
      return std::bit_cast<T>(static_cast<std::uint8_t>(bits));
    }
  }

  template <class T>
  bool conditional(Atomic<T>& word, T next, std::memory_order order, lock::Hint hint) {
    const Time hold = hint == lock::Hint::lock ? profile_.eh_hold : Time{0};
    if (!execution().conditional(&word, sizeof(T), to_bits(next), hold)) {
      if (current_ != nullptr) current_->reservation_lost();
      return false;
    }
    if (order == std::memory_order_acquire || order == std::memory_order_acq_rel)
      execution().work(profile_.acquire_barrier);
    return true;
  }

  void set_priority(Priority priority) {
    if (profile_.priority_nops == 0) return;
    execution().mark_turn();
    execution().work(profile_.priority_change);
    execution().sync();
    execution().set_priority(priority);
  }

  void store_took_effect(const void* lock, std::uint8_t code) override {
    for (const auto& [address, lock_monitor] : locks_)
      if (address == lock) monitor_.note(vcpu_, *lock_monitor, static_cast<lock::Note>(code));
  }

  hv::Hypervisor& hypervisor_;
  hv::Vcpu& vcpu_;
  GuestMonitor& monitor_;
  const Locks& locks_;
  const Profile& profile_;
  bool shared_;
  LockMonitor* current_ = nullptr;
};

static_assert(lock::Platform<SimPlatform>);

}  // namespace sim
