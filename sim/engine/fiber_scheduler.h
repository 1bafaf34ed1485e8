// The Boost.Fiber side of the engine: the scheduling algorithm, and how a fiber gives way to
// another.
//
// The algorithm runs the fiber that owns the earliest event of the engine's queue (the smallest
// virtual time). The engine decides which one that is, because timers that are not fibers take part
// in the same order. A fiber that gives way resumes its successor directly; where Boost.Fiber
// itself has to choose (a fiber ends, the main context joins one), `pick_next` hands the engine's
// choice to it. The dispatcher context is picked only when nothing else is ready.
#pragma once

#include <boost/fiber/algo/algorithm.hpp>
#include <boost/fiber/context.hpp>
#include <boost/fiber/properties.hpp>
#include <condition_variable>
#include <mutex>

#include "sim/engine/event_queue.h"
#include "sim/engine/fiber_sanitizer.h"

namespace sim {

// What the scheduler knows of a fiber: the slot whose events it acts on.
class FiberProperties : public boost::fibers::fiber_properties {
 public:
  explicit FiberProperties(boost::fibers::context* context) : fiber_properties(context) {}
  Slot slot = kNoSlot;
  SanitizedStack stack;
  bool ended = false;  // never runs again
};

class VirtualTimeScheduler
    : public boost::fibers::algo::algorithm_with_properties<FiberProperties> {
 public:
  using Context = boost::fibers::context;

  // Boost.Fiber makes and owns the object; it reports its address to `*self`.
  explicit VirtualTimeScheduler(VirtualTimeScheduler** self) {
    *self = this;
    main_stack_.bounds = thread_stack();
  }

  // Suspends the running fiber (or the main context) and resumes `next`. Returns when somebody
  // switches back. `next` is not running and not finished.
  void switch_to(Context* next);
  // Makes `next` the one that runs when the running fiber ends or waits inside Boost.Fiber.
  void choose(Context* next) { next_ = next; }

  // Called by whoever runs after a switch that Boost.Fiber made on its own: a fiber that starts,
  // the main context after a join.
  void arrived();

  // The context of the worker fiber launched last; taken once.
  Context* take_launched();

  void awakened(Context* context, FiberProperties& properties) noexcept override;
  Context* pick_next() noexcept override;
  bool has_ready_fibers() const noexcept override;
  void suspend_until(const std::chrono::steady_clock::time_point& until) noexcept override;
  void notify() noexcept override;

 private:
  SanitizedStack& stack_of(Context* context);
  void annotate_switch(Context* target) noexcept;

  SanitizedStack main_stack_;
  bool switching_ = false;
  Context* next_ = nullptr;        // the engine's choice
  Context* main_ = nullptr;        // when ready
  Context* dispatcher_ = nullptr;  // when ready
  Context* launched_ = nullptr;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool notified_ = false;
};

}  // namespace sim
