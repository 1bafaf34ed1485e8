#include "sim/machine/execution.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>

namespace sim {

Execution::Execution(Machine& machine)
    : machine_(machine),
      slot_(machine.engine().add_slot(*this)),
      store_buffer_(machine.engine(), machine.directory(), *this) {
  for (auto& node : nodes_) node.watcher = this;
}

void Execution::set_body(std::function<void()> body) {
  machine_.engine().set_fiber(slot_, [this, body = std::move(body)] {
    state_ = State::running;
    body();
  });
}

// --- Placement and rate -------------------------------------------------------------------------

void Execution::attach(std::uint32_t thread) {
  assert(!attached());
  thread_ = thread;
  machine_.account().set(thread, use_, now());
  machine_.core(core()).add(*this, priority_);
}

void Execution::detach() {
  assert(attached());
  machine_.core(core()).remove(*this, priority_);
  thread_ = kDetached;
  reserved_ = false;
}

void Execution::set_rate(Rate rate) {
  if (rate == rate_) return;
  Engine& engine = machine_.engine();
  const Rate old = std::exchange(rate_, rate);
  const Time time = now();
  const bool resumes = old == 0;
  switch (state_) {
    case State::running:
      break;
    case State::working:
      left_ = std::max<Work>(0, left_ - (time - anchor_).count() * old);
      anchor_ = time;
      if (rate == 0) {
        engine.cancel(slot_);
      } else {
        engine.schedule(slot_, attention_ && interruptible_ ? time : time + time_for(left_, rate));
      }
      break;
    case State::spinning:
      if (old > 0) cursor_.advance(reads_until(), old);
      cursor_.settle(time, old);
      if (rate == 0) {
        engine.cancel(slot_);
      } else if (resumes && !lines_still_here()) {
        end_spin(reads_until());
      } else {
        reschedule_spin();
      }
      break;
    case State::waiting:
    case State::draining:
    case State::halted:
      if (rate == 0) {
        if (state_ != State::waiting || done_) engine.cancel(slot_);
      } else if (resumes && (state_ == State::halted || state_ == State::draining ||
                             (state_ == State::waiting && done_))) {
        engine.schedule(slot_, time);
      }
      break;
  }
}

void Execution::set_use(CpuUse use) {
  use_ = use;
  if (attached()) machine_.account().set(thread_, use, now());
}

void Execution::set_priority(Priority priority) {
  if (priority == priority_) return;
  const Priority old = std::exchange(priority_, priority);
  if (attached()) machine_.core(core()).change(old, priority);
}

void Execution::leave_relaxed() {
  if (priority_ != Priority::relaxed) return;
  sync();
  set_priority(Priority::medium);
}

// --- Events -------------------------------------------------------------------------------------

void Execution::park(State state) {
  state_ = state;
  machine_.engine().park(slot_);
  state_ = State::running;
}

void Execution::park_until(State state, Time at) {
  state_ = state;
  machine_.engine().park_until(slot_, at);
  state_ = State::running;
}

bool Execution::fire() {
  switch (state_) {
    case State::working:
      left_ = std::max<Work>(0, left_ - (now() - anchor_).count() * rate_);
      anchor_ = now();
      return true;
    case State::waiting:
      if (!done_) {
        if (has_request_ && !machine_.directory().complete(request_)) return false;
        done_ = true;
        if (has_request_) {
          const bool writes = request_.access == Access::conditional;
          if (!writes) request_.value = peek(request_.address, request_.size);
          if (writes && !request_.failed) effect_.fire();
          owning_ = request_.access == Access::own;
          if (!attached()) end_own();
        }
      }
      return attached();
    case State::spinning:
      if (alarm_ <= now()) {
        end_spin(now() - Time{1});
        return false;
      }
      cursor_.advance(now(), rate_);
      assert(cursor_.turns() == budget_);
      budget_spent_ = true;
      unwatch();
      return true;
    default:
      return true;
  }
}

void Execution::store_done() {
  if (state_ == State::draining && attached()) machine_.engine().schedule(slot_, now());
}

void Execution::raise_attention() {
  attention_ = true;
  if (state_ == State::spinning) {
    end_spin(reads_until());
  } else if (state_ == State::working && interruptible_ && attached()) {
    machine_.engine().schedule(slot_, now());
  }
}

void Execution::attend() {
  // The handler runs operations of its own on this stack; none of them may consume what the
  // interrupted code has prepared.
  const StoreEffect effect = std::exchange(effect_, {});
  attention_handler_->attend();
  effect_ = effect;
  reserved_ = false;
  turn_pure_ = false;
  last_pure_ = false;
}

// --- Work and time ------------------------------------------------------------------------------

void Execution::sync() {
  if (piece_elapsed_) {
    // The work before this point passed while turns were skipped.
    if (pending_ != piece_expected_)
      throw std::logic_error("a spin loop did not repeat its turn with the same values read");
    before_read_ = std::exchange(pending_, 0);
    piece_elapsed_ = false;
    if (attention_) attend();
    return;
  }
  before_read_ = pending_;
  elapse(false);
}

void Execution::compute(Time time) {
  leave_relaxed();
  mark_turn();
  // Work counts in 64 bits, so a very long piece goes in parts.
  constexpr Time kPart = seconds(50);
  for (; time > kPart; time -= kPart) {
    work(kPart);
    elapse(true);
  }
  work(time);
  elapse(true);
}

void Execution::elapse(bool interruptible) {
  Work left = std::exchange(pending_, 0);
  while (left > 0) {
    if (interruptible && attention_) attend();
    const Time end = now() + time_for(left, rate_);
    if (machine_.engine().try_advance(slot_, end)) break;
    left_ = left;
    anchor_ = now();
    interruptible_ = interruptible;
    park_until(State::working, end);
    interruptible_ = false;
    left = left_;
  }
  if (attention_) attend();
}

void Execution::delay(Time time) {
  leave_relaxed();
  sync();
  mark_turn();
  const Time end = now() + time;
  if (machine_.engine().try_advance(slot_, end)) return;
  done_ = false;
  has_request_ = false;
  park_until(State::waiting, end);
}

void Execution::halt() {
  if (!attached()) park(State::halted);
}

void Execution::drain_stores() {
  if (store_buffer_.empty()) return;
  mark_turn();
  sync();
  while (!store_buffer_.empty()) park(State::draining);
}

// --- Memory -------------------------------------------------------------------------------------

void Execution::await(Access access, void* address, std::uint8_t size, std::uint64_t value,
                      Time hold) {
  request_ = {};
  request_.slot = slot_;
  request_.line = machine_.memory().line_of(address);
  request_.core = core();
  request_.access = access;
  request_.address = address;
  request_.size = size;
  request_.value = value;
  request_.version = reserved_version_;
  request_.hold = hold;
  has_request_ = true;
  done_ = false;
  state_ = State::waiting;
  machine_.directory().submit(request_);
  park(State::waiting);
}

std::uint64_t Execution::load(const void* address, std::uint8_t size) {
  const Time hit_cost = machine_.profile().l1_hit;
  if (replay_left_ > 0) {
    const Read& read = replay(address);
    work(hit_cost);
    return read.value;
  }
  sync();
  const LineId line = machine_.memory().line_of(address);
  if (!store_buffer_.empty()) {
    if (const auto own = store_buffer_.forward(address, size)) {
      record(address, *own, line, false, kNever);
      work(hit_cost);
      return *own;
    }
    // Part of a wider object, or a neighbour on its line: as the hardware's "load hits store".
    if (store_buffer_.holds_line(line)) drain_stores();
  }
  std::uint64_t value = 0;
  const bool hit = machine_.directory().readable(line, core());
  if (hit) {
    value = peek(address, size);
  } else {
    await(Access::read, const_cast<void*>(address), size, 0, Time{0});
    value = request_.value;
  }
  record(address, value, line, hit, kNever);
  if (hit) work(hit_cost);
  return value;
}

bool Execution::before(Time deadline) {
  const Time cost = machine_.profile().l1_hit;
  if (replay_left_ > 0) {
    const Read& read = replay(nullptr);
    work(cost);
    return read.value != 0;
  }
  sync();
  const bool value = now() < deadline;
  record(nullptr, value ? 1 : 0, 0, true, deadline);
  work(cost);
  return value;
}

void Execution::store(void* address, std::uint8_t size, std::uint64_t value) {
  leave_relaxed();
  mark_turn();
  sync();
  while (store_buffer_.full()) park(State::draining);
  store_buffer_.push({address, machine_.memory().line_of(address), core(), size, value,
                      std::exchange(effect_, {})});
  work(machine_.profile().store);
}

std::uint64_t Execution::reserve(const void* address, std::uint8_t size) {
  leave_relaxed();
  mark_turn();
  CacheDirectory& directory = machine_.directory();
  const LineId line = machine_.memory().line_of(address);
  const bool exclusive = machine_.profile().reserve_exclusive != 0;
  sync();
  // An atomic operation that owns its line also orders earlier stores (x86's locked instructions),
  // those of an interrupt that was taken just now included.
  if (exclusive || store_buffer_.holds_line(line)) drain_stores();
  const bool hit = exclusive ? directory.writable(line, core()) : directory.readable(line, core());
  std::uint64_t value = 0;
  reserved_ = true;
  reserved_line_ = line;
  if (hit) {
    value = peek(address, size);
    reserved_version_ = directory.version(line);
  } else {
    await(exclusive ? Access::own : Access::read, const_cast<void*>(address), size, 0, Time{0});
    value = request_.value;
    reserved_version_ = request_.version;
  }
  work(machine_.profile().reservation / 2);
  return value;
}

void Execution::end_own() {
  if (std::exchange(owning_, false)) machine_.directory().end_own(request_.line);
}

void Execution::abandon() {
  effect_ = {};
  reserved_ = false;
  end_own();
}

bool Execution::conditional(void* address, std::uint8_t size, std::uint64_t value, Time hold) {
  CacheDirectory& directory = machine_.directory();
  const LineId line = machine_.memory().line_of(address);
  // Where a reservation holds the line exclusively, load and store are one atomic operation.
  const bool exclusive = machine_.profile().reserve_exclusive != 0;
  if (!exclusive) sync();
  if (std::exchange(fenced_, false)) drain_stores();
  bool success =
      reserved_ && reserved_line_ == line && directory.version(line) == reserved_version_;
  if (success && directory.writable(line, core())) {
    poke(address, size, value);
    directory.write_owned(line, core());
    if (hold > Time{0}) directory.hold(line, now() + hold);
    effect_.fire();
  } else if (success && !exclusive) {
    await(Access::conditional, address, size, value, hold);
    success = !request_.failed;
  } else {
    success = false;
  }
  reserved_ = false;
  end_own();
  if (!success) ++counters_.reservations_lost;
  work(machine_.profile().reservation / 2);
  return success;
}

}  // namespace sim
