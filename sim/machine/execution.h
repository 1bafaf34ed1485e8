// One vCPU's instruction stream on the simulated machine.
//
// The code that a vCPU runs is a fiber. It accumulates work (time at full speed) and calls sync()
// before anything that others can see or that depends on them; sync() lets the work take as long as
// the vCPU's share of its core makes it, which may change on the way, and stop when the hypervisor
// takes the physical CPU away. Memory is reached through load(), store(), and reserve() with
// conditional(); relax() is where spinning is skipped (see spin_cursor.h).
//
// The hypervisor attaches the execution to a hardware thread and detaches it. Everything else is
// called by the vCPU's own fiber.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>

#include "sim/engine/engine.h"
#include "sim/machine/cache_directory.h"
#include "sim/machine/cpu_account.h"
#include "sim/machine/machine.h"
#include "sim/machine/smt_core.h"
#include "sim/machine/spin_cursor.h"
#include "sim/machine/store_buffer.h"

namespace sim {

// Takes interrupts for a vCPU; implemented by the guest.
class AttentionHandler {
 public:
  // Called on the vCPU's fiber at a boundary between operations while attention is raised. Handles
  // what it may (and lowers attention), or nothing.
  virtual void attend() = 0;

 protected:
  ~AttentionHandler() = default;
};

class Execution final : public EventHandler, private Watcher, private StoreBuffer::Listener {
 public:
  explicit Execution(Machine& machine);
  // The store buffer's slot. Called after all executions are made, so that at equal times what
  // vCPUs do comes before stores that arrive.
  void add_store_buffer_slot() { store_buffer_.add_slot(); }
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  // The fiber's code; starts when the execution is attached for the first time. Before Engine::run.
  void set_body(std::function<void()> body);
  void set_attention_handler(AttentionHandler* handler) { attention_handler_ = handler; }
  Slot slot() const { return slot_; }

  // --- Hypervisor -------------------------------------------------------------------------------
  // From now on runs on hardware thread `thread`, where it was not attached before.
  void attach(std::uint32_t thread);
  // Stops at this instant; the work in progress keeps what it has done. Loses the reservation.
  void detach();
  bool attached() const { return thread_ != kDetached; }
  std::uint32_t thread() const { return thread_; }
  CoreId core() const { return machine_.topology().core_of_thread(thread_); }

  // --- Interrupts (any caller) ------------------------------------------------------------------
  // The handler is called at the next boundary; long interruptible work is cut short.
  void raise_attention();
  void lower_attention() { attention_ = false; }

  // --- The vCPU's own fiber ---------------------------------------------------------------------
  Time now() const { return machine_.engine().now(); }
  void work(Time time) { pending_ += time.count() * kFullRate; }
  // Lets the accumulated work take place. Interrupts are taken at its end.
  void sync();
  // Like work(time) and sync(), but an interrupt is taken at once and the work goes on after it.
  void compute(Time time);
  // Fixed time, independent of the core's rate (hypervisor calls, interrupt entry). Detached, the
  // vCPU goes on when it is attached again.
  void delay(Time time);
  // Waits until detached and attached again: the hypervisor has put this vCPU to sleep.
  void halt();
  // Everything stored before is visible to others.
  void drain_stores();
  // What is stored or updated later is not visible before it (lwsync): later stores queue behind
  // the earlier ones anyway, later conditionals wait for them.
  void release_fence() { fenced_ = !store_buffer_.empty(); }
  // What the hardware thread is accounted as doing while this vCPU is on it.
  void set_use(CpuUse use);
  CpuUse use() const { return use_; }
  void set_priority(Priority priority);
  Priority priority() const { return priority_; }

  // A load of `size` bytes; the value as of the moment at which it takes place.
  std::uint64_t load(const void* address, std::uint8_t size);
  // Goes to the store buffer and takes effect in order; waits only while the buffer is full.
  void store(void* address, std::uint8_t size, std::uint64_t value);
  // Load-reserve, to be followed by conditional() or abandon(). On machines with reserve_exclusive
  // the line is fetched for writing, and the two are one atomic operation that can't fail unless
  // the vCPU loses its physical CPU in between.
  std::uint64_t reserve(const void* address, std::uint8_t size);
  // Store-conditional; false when the reservation was lost.
  bool conditional(void* address, std::uint8_t size, std::uint64_t value, Time hold);
  // Ends a reservation without a store; at_next_store() is void.
  void abandon();

  // One turn, or up to `budget`, of a spin loop; see lock/platform.h. `budget` >= 1.
  std::uint64_t relax(std::uint64_t budget);
  // now() < deadline, as a read that a skipped turn repeats.
  bool before(Time deadline);
  // The turn in progress did something that a skipped turn could not repeat.
  void mark_turn() { turn_pure_ = false; }

  // Calls `sink` when the next store or conditional that is issued takes effect. One shot; kept
  // over conditionals that fail, until abandon().
  void at_next_store(StoreEffectSink& sink, const void* subject, std::uint8_t code) {
    effect_ = {&sink, subject, code};
  }

  struct Counters {
    std::uint64_t iterations = 0;
    std::uint64_t fast_forwarded = 0;
    std::uint64_t reservations_lost = 0;
  };
  // With the turns of a loop that is being skipped, up to the event that is being handled.
  Counters counters() const;

  // --- Machine ----------------------------------------------------------------------------------
  bool fire() override;
  void set_rate(Rate rate);

 private:
  static constexpr std::uint32_t kDetached = ~std::uint32_t{0};

  enum class State : std::uint8_t {
    running,   // its fiber's code runs at this instant
    working,   // rated work in progress
    waiting,   // for a transaction or a fixed delay
    draining,  // for its own stores to take effect
    spinning,  // turns of a loop pass without being run
    halted,    // until attached
  };

  // A read of a spin turn, as it would be repeated.
  struct Read {
    const void* address = nullptr;  // nullptr: a clock comparison
    std::uint64_t value = 0;
    std::uint64_t version = 0;
    Work before = 0;  // work since the read before it; of the first, since the turn's relax began
    LineId line = 0;
    bool hit = false;
    Time deadline = kNever;
    bool same(const Read& other) const {
      return address == other.address && value == other.value && before == other.before &&
             (address != nullptr || deadline == other.deadline);
    }
  };
  // One turn, from a relax to the next. Work is as if every read had hit, so a turn that missed and
  // the one after it compare equal.
  struct Turn {
    std::array<Read, SpinCursor::kMaxReads> reads;
    std::uint32_t count = 0;
    Work tail = 0;  // work between the last read and the relax
  };

  void park(State state);
  void park_until(State state, Time at);
  void elapse(bool interruptible);
  void attend();
  // Runs a transaction and returns when it is complete.
  void await(Access access, void* address, std::uint8_t size, std::uint64_t value, Time hold);
  void leave_relaxed();
  void end_own();

  // Reads before this event, and at its very instant those of lower slots, have taken place.
  Time reads_until() const;
  // What a miss saves compared with the hit that it would be the next time.
  Work missed_cost() const;
  void record(const void* address, std::uint64_t value, LineId line, bool hit, Time deadline);
  const Read& replay(const void* address);
  bool settled();
  std::uint64_t skip_turns(std::uint64_t budget);
  static void count_skipped(std::uint64_t turns, Counters& counters);
  Time spin_event() const;
  void reschedule_spin();
  void next_turn();
  void store_done() override;
  void line_changed() override { end_spin(reads_until()); }
  // Back to running the loop turn by turn, in the middle of the piece in progress.
  void end_spin(Time until);
  void watch_reads();
  void unwatch();
  bool lines_still_here();

  Machine& machine_;
  Slot slot_;
  StoreBuffer store_buffer_;
  AttentionHandler* attention_handler_ = nullptr;

  State state_ = State::halted;
  bool attention_ = false;
  bool interruptible_ = false;
  bool done_ = false;         // waiting: over, but the vCPU is detached
  bool has_request_ = false;  // waiting: for request_, not for a fixed delay
  bool reserved_ = false;
  bool owning_ = false;  // the line of request_ is this vCPU's for one atomic operation
  bool fenced_ = false;  // a release fence stands behind stores that are still in the buffer
  std::uint32_t thread_ = kDetached;
  Priority priority_ = Priority::medium;
  CpuUse use_ = CpuUse::useful;
  Rate rate_ = 0;

  Work pending_ = 0;      // accumulated, not yet elapsed
  Work before_read_ = 0;  // what the last sync() let pass
  Work left_ = 0;         // working: of the work in progress, as of anchor_
  Time anchor_{};

  Request request_;
  LineId reserved_line_ = 0;
  std::uint64_t reserved_version_ = 0;
  StoreEffect effect_;

  // Spinning.
  Turn turn_;          // the turn in progress
  Turn last_;          // the one before it; while spinning, the turn that is repeated
  Work raw_tail_ = 0;  // work since the last read when the latest relax began
  bool turn_pure_ = false;
  bool last_pure_ = false;
  SpinCursor cursor_;
  bool skipping_ = false;  // the cursor's turns are not in counters_ yet
  std::uint64_t budget_ = 0;
  Time alarm_ = kNever;  // earliest deadline of a clock comparison in the turn
  bool budget_spent_ = false;
  std::uint32_t replay_left_ = 0;
  bool piece_elapsed_ = false;
  Work piece_expected_ = 0;
  std::array<Watcher::Node, SpinCursor::kMaxReads> nodes_;
  std::uint32_t watching_ = 0;

  Counters counters_;
};

}  // namespace sim
