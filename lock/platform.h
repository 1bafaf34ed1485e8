// The Platform concept: everything a lock of this project may ask of the world.
//
// A lock is a class template over a Platform and includes nothing else, so the same text runs on
// the simulated machine (sim/guest/sim_platform.h) and on real threads (lock/native_platform.h).
// A lock never asks which one it runs on. A Platform object is the view of ONE CPU: every call is
// made by the CPU it stands for, and no two threads share one.
//
// Memory
//   P::Atomic<T>         an atomic object of T (an integer of 1, 2, 4 or 8 bytes, or a pointer).
//                        Value-initialised; has the size and alignment of T. Access only through p.
//   load, store          with the memory order given; store takes relaxed or release.
//   store_low_half       a 16-bit store to the half of a 32-bit word that holds bits 0..15. Kills
//                        reservations on the word; leaves bits 16..31 alone.
//   update(a, f, o, h)   one load-reserve/store-conditional loop. `f(old)` returns the new value,
//                        or nullopt to leave the word alone. A failed store-conditional is retried
//                        inside: f is called again on the fresh value. `o` orders an update that
//                        succeeds: acquire, a barrier after it, which later stores wait for too
//                        (isync, lwsync); release, a barrier before the first load; relaxed, none.
//                        Hint::lock is the EH=1 hint: a store that unlocks follows.
//   compare_exchange     an update that stores when the word equals `expected`. Returns the value
//                        seen: `expected` on success. A caller that loads first, as
//                        compare-and-swap loops do, pays for that load.
//   fence                acquire: earlier loads stay before (smp_rmb); release; seq_cst: full.
//
// CPUs
//   processor_id, processors, node_of
//                        numbers of this guest's CPUs, 0..processors()-1, and their NUMA nodes.
//   is_shared_processor  whether vCPUs share physical CPUs, so that paravirtual paths are worth it.
//   yield_count_of       the dispatch counter of a CPU's VPA: even while dispatched, odd while not.
//   vcpu_is_preempted    the guest's judgement from counter, idle flag and siblings; the rules are
//                        in sim/guest/preempted.h.
//   yield_to_preempted(cpu, count)  H_CONFER
//   yield_to_any()                  H_CONFER(-1)
//   prod(cpu)                       H_PROD
//
// Waiting
//   spin_begin, spin_end lower and restore the SMT priority (no-ops where the ISA has a pause).
//   relax(budget)        one turn of a spin loop. The loop would act by itself after `budget` more
//                        turns (kNoBudget: never, it acts only on what it reads). Returns the turns
//                        that passed, 1..budget. Between two relaxes a loop may only read, and with
//                        the same values read it must do the same again; the platform may then let
//                        many turns pass at once. Call as `iters += p.relax(limit - iters)`. A turn
//                        that stored, or may act on something else than what it reads, asks for 1.
//   clock                nanoseconds of a monotonic clock (sched_clock).
//   clock_before(t)      clock() < t. Prefer it in loops: a turn that calls clock() is not skipped.
//
// Observation (costs nothing and changes nothing; natively empty)
//   note(lock, n)        the lock has reached point `n`.
//   note_at_next_store(lock, n)
//                        the point is the moment at which this CPU's next store or successful
//                        update takes effect; dropped when that update stores nothing.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <optional>

namespace lock {

using CpuId = std::uint32_t;

inline constexpr std::uint64_t kNoBudget = ~std::uint64_t{0};

// Most CPUs a lock word can name: 14 bits of owner (Linux
// asm/qspinlock_types.h: NR_CPUS <= 2^14).
inline constexpr std::uint32_t kMaxCpus = 1u << 14;

// Alignment that keeps per-CPU areas off each other's cache lines on every profile.
inline constexpr std::size_t kLineAlign = 128;

// Context nesting per CPU: task, softirq, hardirq, NMI.
inline constexpr int kMaxNesting = 4;

enum class Hint : std::uint8_t { none, lock };

enum class Note : std::uint8_t {
  queued,      // this CPU has joined the tail of the queue
  head,        // this CPU has become the head of the queue
  must_queue,  // from here on only the head may take the lock
  may_steal,   // newcomers may take the lock again
  acquired,    // this CPU owns the lock
  released,    // this CPU has given the lock up
};

// How a lock was obtained; every acquisition has exactly one.
enum class Path : std::uint8_t {
  fast,    // first attempt
  steal,   // taken past a queue, or by retrying without ever queueing
  head,    // queued, and found the queue empty: waited as head only
  queued,  // waited behind somebody in the queue
};
inline constexpr std::size_t kPaths = 4;

template <class T>
struct Updated {
  T old;        // the last value read
  bool stored;  // whether the update took place
};

template <class P>
concept Platform = requires(P& p, typename P::template Atomic<std::uint32_t>& w,
                            const typename P::template Atomic<std::uint32_t>& cw, CpuId cpu,
                            std::uint64_t n, const void* l,
                            std::optional<std::uint32_t> (*f)(std::uint32_t)) {
  { p.load(cw, std::memory_order_acquire) } -> std::same_as<std::uint32_t>;
  p.store(w, std::uint32_t{}, std::memory_order_release);
  p.store_low_half(w, std::uint16_t{}, std::memory_order_release);
  { p.update(w, f, std::memory_order_acquire, Hint::lock) } -> std::same_as<Updated<std::uint32_t>>;
  {
    p.compare_exchange(w, std::uint32_t{}, std::uint32_t{}, std::memory_order_acquire, Hint::lock)
    } -> std::same_as<std::uint32_t>;
  p.fence(std::memory_order_acquire);
  { p.processor_id() } -> std::same_as<CpuId>;
  { p.processors() } -> std::same_as<CpuId>;
  { p.node_of(cpu) } -> std::same_as<std::uint32_t>;
  { p.is_shared_processor() } -> std::same_as<bool>;
  { p.yield_count_of(cpu) } -> std::same_as<std::uint32_t>;
  { p.vcpu_is_preempted(cpu) } -> std::same_as<bool>;
  p.yield_to_preempted(cpu, std::uint32_t{});
  p.yield_to_any();
  p.prod(cpu);
  p.spin_begin();
  p.spin_end();
  { p.relax(n) } -> std::same_as<std::uint64_t>;
  { p.clock() } -> std::same_as<std::uint64_t>;
  { p.clock_before(n) } -> std::same_as<bool>;
  p.note(l, Note::head);
  p.note_at_next_store(l, Note::acquired);
};

// What every lock class offers. `CpuArea` is the lock's per-CPU data (queue nodes); locks of one
// algorithm in one guest share one array of them, one element a CPU.
template <class L, class P>
concept Lock = Platform<P> && requires(L& l, P& p) {
  typename L::Knobs;
  typename L::CpuArea;
  { L::kStrictFifo } -> std::convertible_to<bool>;  // nobody ever overtakes a queued waiter
  { l.lock(p) } -> std::same_as<Path>;
  { l.try_lock(p) } -> std::same_as<bool>;
  l.unlock(p);
  { l.is_locked(p) } -> std::same_as<bool>;
};

}  // namespace lock
