// Stacks for fibers: small, equal, taken from one mapping, each above a guard page.
#pragma once

#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <memory>

#include "sim/engine/fiber_sanitizer.h"

namespace sim {

// One mapping that holds `count` stacks. Pages are touched, and so paid for, only as deep as a
// fiber goes; an overflow hits the guard page and faults instead of corrupting a neighbour.
class StackPool {
 public:
  // `stack_bytes` is rounded up to whole pages. Throws std::bad_alloc when the address space or the
  // kernel's limit of mappings (vm.max_map_count, two a stack) does not suffice.
  StackPool(std::size_t count, std::size_t stack_bytes);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  boost::context::stack_context take();
  // Of the stack that was taken last.
  StackBounds last() const;

 private:
  std::size_t page_;
  std::size_t stride_;  // guard page and stack
  std::size_t bytes_;
  std::size_t taken_ = 0;
  std::size_t count_;
  char* base_;
};

// Boost's StackAllocator over a pool. Copies share the pool, which lives until the last fiber that
// stands on it is gone.
class PooledStackAllocator {
 public:
  explicit PooledStackAllocator(std::shared_ptr<StackPool> pool) : pool_(std::move(pool)) {}
  StackBounds last() const { return pool_->last(); }
  boost::context::stack_context allocate() { return pool_->take(); }
  void deallocate(boost::context::stack_context&) noexcept {}  // the pool is unmapped as a whole

 private:
  std::shared_ptr<StackPool> pool_;
};

}  // namespace sim
