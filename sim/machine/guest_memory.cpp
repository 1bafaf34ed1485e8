#include "sim/machine/guest_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cassert>

namespace sim {

GuestMemory::GuestMemory(std::size_t line_bytes)
    : line_shift_(static_cast<unsigned>(std::countr_zero(line_bytes))) {
  assert(std::has_single_bit(line_bytes));
  void* map = mmap(nullptr, kReservedBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(map);
}

GuestMemory::~GuestMemory() {
  munmap(base_, kReservedBytes);
}

void* GuestMemory::allocate(std::size_t bytes, std::size_t align, std::uint32_t node) {
  const std::size_t line = std::size_t{1} << line_shift_;
  const std::size_t unit = std::max(align, line);
  const std::size_t start = (used_ + unit - 1) / unit * unit;
  const std::size_t end = (start + bytes + line - 1) / line * line;
  if (end > kReservedBytes) throw std::bad_alloc();
  used_ = end;
  node_.resize(used_ >> line_shift_);
  set_node(base_ + start, bytes, node);
  return base_ + start;
}

void GuestMemory::set_node(const void* address, std::size_t bytes, std::uint32_t node) {
  const LineId first = line_of(address);
  const LineId last =
      line_of(static_cast<const std::byte*>(address) + (bytes == 0 ? 0 : bytes - 1));
  for (LineId line = first; line <= last && line < node_.size(); ++line)
    node_[line] = static_cast<std::uint16_t>(node);
}

}  // namespace sim
