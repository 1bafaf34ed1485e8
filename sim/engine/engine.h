// The discrete-event engine: a virtual clock, the event queue, and one fiber for each acting slot.
//
// An Engine is one simulation; it has no global state. `run` works on a thread of its own, so any
// number of engines run in one process side by side.
//
// Everything that happens is an event of a slot. When a slot's event is due its handler's `fire` is
// called, on whatever stack is running. If `fire` returns true the slot's fiber goes on. A fiber
// whose next action is still the earliest of all goes on without queue or switch (try_advance).
#pragma once

#include <boost/fiber/fiber.hpp>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/engine/event_queue.h"
#include "sim/engine/fiber_scheduler.h"
#include "sim/engine/time.h"

namespace sim {

class EventHandler {
 public:
  // The slot's event is due; Engine::key() is its key. Returns whether the slot's fiber shall run.
  virtual bool fire() = 0;

 protected:
  ~EventHandler() = default;
};

// A timer: a slot without a fiber, which calls a function.
class Timer final : public EventHandler {
 public:
  explicit Timer(std::function<void()> action) : action_(std::move(action)) {}
  bool fire() override {
    action_();
    return false;
  }

 private:
  std::function<void()> action_;
};

class Engine {
 public:
  // `stack_bytes`: room for one fiber. Lock code and nested interrupt handlers need about 4 KiB.
  static constexpr std::size_t kStackBytes = std::size_t{64} << 10;

  explicit Engine(std::size_t stack_bytes = kStackBytes) : stack_bytes_(stack_bytes) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Slots are numbered in the order of these calls; the lower number goes first at equal times.
  // The handler must outlive the engine's run.
  Slot add_slot(EventHandler& handler);
  Slot slots() const { return static_cast<Slot>(actors_.size()); }
  // Gives the slot a fiber that starts at the slot's first event.
  void set_fiber(Slot slot, std::function<void()> body);

  Time now() const { return key_.time; }
  // The event that is being handled.
  EventKey key() const { return key_; }

  // `at` is not before now().
  void schedule(Slot slot, Time at) { queue_.set(slot, at); }
  void cancel(Slot slot) { queue_.remove(slot); }
  bool scheduled(Slot slot) const { return queue_.contains(slot); }

  // For the running fiber of `self`: moves the clock to `at` if nothing else happens before
  // (at, self). Otherwise false, and nothing has happened: the caller sleeps with park_until().
  bool try_advance(Slot self, Time at) {
    const EventKey key{at, self};
    if (stopping_ || !(key < queue_.top())) return false;
    key_ = key;
    ++events_;
    return true;
  }
  // Suspends the running fiber of `self` until a fire() of its slot returns true. Throws Stopped
  // when the run ends meanwhile; lock and guest code lets it pass.
  void park(Slot self);
  // The same, with an event of the slot at `at`. Precondition: try_advance() has just refused.
  void park_until(Slot self, Time at);

  // Runs until stop(), or until nothing can ever happen again (`on_drained` is called then; it may
  // schedule, or throw). Rethrows what a handler or a fiber threw.
  void run(const std::function<void()>& on_drained = {});
  // Ends the run after the event that is being handled.
  void stop() { stopping_ = true; }

  std::uint64_t events() const { return events_; }
  std::uint64_t switches() const { return switches_; }

  // Unwinds fibers at the end of a run. Not an error.
  struct Stopped {};

 private:
  struct Fiber {
    std::function<void()> body;
    boost::fibers::fiber handle;
    bool finished = true;
  };
  // What an event needs, side by side.
  struct Actor {
    EventHandler* handler = nullptr;
    VirtualTimeScheduler::Context* context = nullptr;
    const void* frame = nullptr;  // of the fiber, when it was suspended last
  };

  void run_on_this_thread();
  void launch(Slot slot, class PooledStackAllocator& stacks);
  void fiber_main(Slot slot);
  // Handles events until a fiber has to run; its context, or the main context at the end.
  VirtualTimeScheduler::Context* select();
  // Handles the event of key_. The context of the fiber that has to run, or null.
  VirtualTimeScheduler::Context* handle_event();
  void fail();
  void suspend(Slot self, VirtualTimeScheduler::Context* next);
  void unwind();

  std::size_t stack_bytes_;
  EventQueue queue_;
  EventKey key_{Time{0}, 0};
  std::vector<Actor> actors_;                   // by slot
  std::vector<std::unique_ptr<Fiber>> fibers_;  // by slot; null: a timer
  VirtualTimeScheduler* scheduler_ = nullptr;   // owned by Boost.Fiber's thread-local scheduler
  VirtualTimeScheduler::Context* main_ = nullptr;
  std::function<void()> on_drained_;
  std::exception_ptr failure_;
  bool stopping_ = false;
  bool unwinding_ = false;  // the run is over, fibers are being taken down one by one
  std::uint64_t events_ = 0;
  std::uint64_t switches_ = 0;
};

}  // namespace sim
