#include "sim/engine/fiber_scheduler.h"

#include <utility>

namespace sim {

void VirtualTimeScheduler::switch_to(Context* next) {
  if constexpr (kAnnotatesSwitches) annotate_switch(next);
  next->resume();
  arrived();
}

SanitizedStack& VirtualTimeScheduler::stack_of(Context* context) {
  if (context->is_context(boost::fibers::type::worker_context)) return properties(context).stack;
  return main_stack_;
}

void VirtualTimeScheduler::arrived() {
  if (std::exchange(switching_, false)) enter_stack(stack_of(Context::active()));
}

VirtualTimeScheduler::Context* VirtualTimeScheduler::take_launched() {
  return std::exchange(launched_, nullptr);
}

void VirtualTimeScheduler::awakened(Context* context, FiberProperties&) noexcept {
  if (context->is_context(boost::fibers::type::dispatcher_context)) {
    dispatcher_ = context;
  } else if (context->is_context(boost::fibers::type::main_context)) {
    main_ = context;
  } else {
    launched_ = context;
  }
}

VirtualTimeScheduler::Context* VirtualTimeScheduler::pick_next() noexcept {
  Context* target = std::exchange(next_, nullptr);
  if (target == nullptr) target = std::exchange(main_, nullptr);
  // The dispatcher runs only when the thread ends; its stack is Boost's own.
  if (target == nullptr) return std::exchange(dispatcher_, nullptr);
  if constexpr (kAnnotatesSwitches) annotate_switch(target);
  return target;
}

void VirtualTimeScheduler::annotate_switch(Context* target) noexcept {
  Context* from = Context::active();
  if (target == from || from->is_context(boost::fibers::type::dispatcher_context)) return;
  const bool ends = from->is_context(boost::fibers::type::worker_context) && properties(from).ended;
  leave_stack(ends ? nullptr : &stack_of(from), stack_of(target));
  switching_ = true;
}

bool VirtualTimeScheduler::has_ready_fibers() const noexcept {
  return next_ != nullptr || main_ != nullptr;
}

void VirtualTimeScheduler::suspend_until(
    const std::chrono::steady_clock::time_point& until) noexcept {
  std::unique_lock lock(mutex_);
  if (until == std::chrono::steady_clock::time_point::max()) {
    wake_.wait(lock, [this] { return notified_; });
  } else {
    wake_.wait_until(lock, until, [this] { return notified_; });
  }
  notified_ = false;
}

void VirtualTimeScheduler::notify() noexcept {
  {
    const std::lock_guard lock(mutex_);
    notified_ = true;
  }
  wake_.notify_all();
}

}  // namespace sim
