#include "lock/native_platform.h"

#include <sched.h>

#include <bit>

namespace lock {
namespace {

// The half of a word with bits 0..15, as an object that may alias the whole.
using Half [[gnu::may_alias]] = std::uint16_t;
constexpr std::size_t kLowHalf = std::endian::native == std::endian::little ? 0 : 1;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#elif defined(__powerpc64__)
  asm volatile("or 1,1,1\n\tor 2,2,2" ::: "memory");
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace

NativeMachine::NativeMachine(CpuId cpus, bool shared_processor,
                             std::span<const std::uint32_t> nodes)
    : cpus_(cpus), shared_processor_(shared_processor) {
  for (CpuId cpu = 0; cpu < cpus && cpu < nodes.size(); ++cpu) cpus_[cpu].node = nodes[cpu];
}

void NativeMachine::set_idle(CpuId cpu, bool idle) {
  cpus_[cpu].idle.store(idle, std::memory_order_relaxed);
}

std::uint64_t NativeMachine::confers() const {
  std::uint64_t sum = 0;
  for (const Cpu& cpu : cpus_) sum += cpu.confers.load(std::memory_order_relaxed);
  return sum;
}

std::uint64_t NativeMachine::prods() const {
  std::uint64_t sum = 0;
  for (const Cpu& cpu : cpus_) sum += cpu.prods.load(std::memory_order_relaxed);
  return sum;
}

void NativeMachine::flip(CpuId cpu, bool dispatched) {
  auto& count = cpus_[cpu].yield_count;
  std::uint32_t seen = count.load(std::memory_order_relaxed);
  while (((seen & 1) == 0) != dispatched) {
    if (count.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed)) return;
  }
}

void NativePlatform::store_low_half(Atomic<std::uint32_t>& a, std::uint16_t value,
                                    std::memory_order order) {
  Half* const half = reinterpret_cast<Half*>(&a.value) + kLowHalf;
  if (order == std::memory_order_release) {
    __atomic_store_n(half, value, __ATOMIC_RELEASE);
  } else {
    __atomic_store_n(half, value, __ATOMIC_RELAXED);
  }
}

void NativePlatform::yield_to_preempted(CpuId cpu, std::uint32_t count) {
  auto& self = machine_->cpus_[cpu_];
  if (yield_count_of(cpu) != count || (count & 1) == 0) return;
  self.confers.fetch_add(1, std::memory_order_relaxed);
  for (int i = 0; i < kConferYields && yield_count_of(cpu) == count; ++i) {
    if (self.prodded.exchange(false, std::memory_order_relaxed)) return;
    sched_yield();
  }
}

void NativePlatform::yield_to_any() {
  sched_yield();
}

void NativePlatform::prod(CpuId cpu) {
  machine_->cpus_[cpu].prodded.store(true, std::memory_order_relaxed);
  machine_->cpus_[cpu].prods.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t NativePlatform::relax(std::uint64_t) {
  pause();
  if (++turns_ % kTurnsPerYield == 0) sched_yield();
  return 1;
}

std::uint64_t NativePlatform::clock() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace lock
