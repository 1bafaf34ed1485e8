#include "sim/engine/fiber_scheduler.h"

#include <utility>

namespace sim {

void VirtualTimeScheduler::switch_to(Context* next) {
  choose(next);
  Context::active()->suspend();
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
  if (next_ != nullptr) return std::exchange(next_, nullptr);
  if (main_ != nullptr) return std::exchange(main_, nullptr);
  return std::exchange(dispatcher_, nullptr);
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
