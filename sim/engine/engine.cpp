#include "sim/engine/engine.h"

#include <algorithm>
#include <boost/fiber/operations.hpp>
#include <thread>

#include "sim/engine/fiber_stack.h"

namespace sim {

Slot Engine::add_slot(EventHandler& handler) {
  actors_.push_back({.handler = &handler});
  fibers_.emplace_back();
  return queue_.add_slot();
}

void Engine::set_fiber(Slot slot, std::function<void()> body) {
  fibers_[slot] = std::make_unique<Fiber>();
  fibers_[slot]->body = std::move(body);
}

void Engine::run(const std::function<void()>& on_drained) {
  on_drained_ = on_drained;
  // Boost.Fiber keeps its scheduler in thread-local state; a thread a run keeps runs apart.
  std::thread thread([this] { run_on_this_thread(); });
  thread.join();
  if (failure_) std::rethrow_exception(failure_);
}

void Engine::run_on_this_thread() {
  try {
    const auto count = static_cast<std::size_t>(
        std::count_if(fibers_.begin(), fibers_.end(), [](const auto& f) { return f != nullptr; }));
    PooledStackAllocator stacks(std::make_shared<StackPool>(count, stack_bytes_));
    boost::fibers::use_scheduling_algorithm<VirtualTimeScheduler>(&scheduler_);
    main_ = VirtualTimeScheduler::Context::active();
    for (Slot slot = 0; slot < fibers_.size(); ++slot)
      if (fibers_[slot]) launch(slot, stacks);
    auto* next = select();
    if (next != main_) scheduler_->switch_to(next);
    unwind();
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void Engine::launch(Slot slot, PooledStackAllocator& stacks) {
  Fiber& fiber = *fibers_[slot];
  fiber.handle = boost::fibers::fiber(boost::fibers::launch::post, std::allocator_arg, stacks,
                                      [this, slot] { fiber_main(slot); });
  auto& properties = fiber.handle.properties<FiberProperties>();
  properties.slot = slot;
  properties.stack.bounds = stacks.last();
  actors_[slot].context = scheduler_->take_launched();
  fiber.finished = false;
}

void Engine::fiber_main(Slot slot) {
  scheduler_->arrived();
  if (!stopping_) {
    try {
      fibers_[slot]->body();
    } catch (const Stopped&) {
    } catch (...) {
      fail();
    }
  }
  fibers_[slot]->finished = true;
  fibers_[slot]->handle.properties<FiberProperties>().ended = true;
  if (!unwinding_) scheduler_->choose(select());
}

VirtualTimeScheduler::Context* Engine::handle_event() {
  ++events_;
  // Who comes soon is probably in no near cache: its object and its stack are fetched meanwhile.
  if (const Slot soon = queue_.rising(); soon != kNoSlot) {
    const Actor& actor = actors_[soon];
    __builtin_prefetch(actor.handler);
    __builtin_prefetch(actor.context);
    __builtin_prefetch(actor.frame);
  }
  const Actor& actor = actors_[key_.slot];
  return actor.handler->fire() ? actor.context : nullptr;
}

VirtualTimeScheduler::Context* Engine::select() {
  try {
    while (!stopping_) {
      if (queue_.empty()) {
        if (on_drained_) on_drained_();
        if (queue_.empty()) break;
      }
      key_ = queue_.pop();
      if (auto* next = handle_event()) return next;
    }
  } catch (...) {
    fail();
  }
  stopping_ = true;
  return main_;
}

void Engine::fail() {
  if (!failure_) failure_ = std::current_exception();
  stopping_ = true;
}

void Engine::suspend(Slot self, VirtualTimeScheduler::Context* next) {
  Actor& actor = actors_[self];
  if (next != actor.context) {
    ++switches_;
    actor.frame = __builtin_frame_address(0);
    scheduler_->switch_to(next);
  }
  if (stopping_) throw Stopped{};
}

void Engine::park(Slot self) {
  suspend(self, select());
}

void Engine::park_until(Slot self, Time at) {
  VirtualTimeScheduler::Context* next = nullptr;
  if (!stopping_) {
    key_ = queue_.exchange_top({at, self});
    try {
      next = handle_event();
    } catch (...) {
      fail();
    }
  }
  suspend(self, next != nullptr ? next : select());
}

void Engine::unwind() {
  stopping_ = true;
  unwinding_ = true;
  for (Slot slot = 0; slot < fibers_.size(); ++slot) {
    const auto& fiber = fibers_[slot];
    if (!fiber) continue;
    if (!fiber->finished) scheduler_->choose(actors_[slot].context);
    fiber->handle.join();
    scheduler_->arrived();
  }
}

}  // namespace sim
