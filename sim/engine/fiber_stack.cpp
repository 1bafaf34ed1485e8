#include "sim/engine/fiber_stack.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cassert>
#include <new>

#ifdef TRAINWRECK_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) static_cast<void>(0)
#endif

namespace sim {
namespace {

// Fibers stop at equal depths, so equal stacks would put what is live of all of them into the same
// few sets of the caches. Each begins a bit lower than the one before it.
constexpr std::size_t kColours = 16;
constexpr std::size_t kColourBytes = 256;

}  // namespace

StackPool::StackPool(std::size_t count, std::size_t stack_bytes)
    : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
      stride_(page_ + (stack_bytes + page_ - 1) / page_ * page_),
      bytes_(stride_ * count),
      count_(count) {
  void* map = mmap(nullptr, bytes_ == 0 ? page_ : bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<char*>(map);
  // Huge pages would make every fiber pay for 2 MiB.
  madvise(base_, bytes_, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < count_; ++i) {
    if (mprotect(base_ + i * stride_, page_, PROT_NONE) != 0) {
      munmap(base_, bytes_);
      throw std::bad_alloc();
    }
  }
}

StackPool::~StackPool() {
  // Fibers that an exception has unwound leave AddressSanitizer's marks of their frames behind,
  // which would be taken for those of the next mapping at this address.
  ASAN_UNPOISON_MEMORY_REGION(base_, bytes_);
  munmap(base_, bytes_ == 0 ? page_ : bytes_);
}

StackBounds StackPool::last() const {
  return {base_ + (taken_ - 1) * stride_ + page_, stride_ - page_};
}

boost::context::stack_context StackPool::take() {
  assert(taken_ < count_);
  boost::context::stack_context stack;
  const std::size_t colour = taken_ % kColours * kColourBytes;
  stack.size = stride_ - page_ - colour;
  stack.sp = base_ + (taken_ + 1) * stride_ - colour;
  ++taken_;
  return stack;
}

}  // namespace sim
