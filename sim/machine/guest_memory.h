// The memory of the simulated machine that locks, queue nodes and VPAs live in.
//
// Real C++ objects stand at real addresses of one arena, so their layout decides which of them
// share a cache line, exactly as it would on hardware. Only offsets into the arena are ever used,
// so a result doesn't depend on where the host put it. The arena owns the bytes; objects in it must
// be trivially destructible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

namespace sim {

using LineId = std::uint32_t;

class GuestMemory {
 public:
  static constexpr std::size_t kReservedBytes = std::size_t{1} << 32;

  // `line_bytes` is a power of two. Throws std::bad_alloc.
  explicit GuestMemory(std::size_t line_bytes);
  ~GuestMemory();
  GuestMemory(const GuestMemory&) = delete;
  GuestMemory& operator=(const GuestMemory&) = delete;

  // Zeroed bytes on lines of their own, in the memory of NUMA node `node`.
  void* allocate(std::size_t bytes, std::size_t align, std::uint32_t node);

  template <class T, class... Args>
  T* make(std::uint32_t node, Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T), node)) T(std::forward<Args>(args)...);
  }

  // `count` elements side by side; element i is in the memory of node `node_of(i)`.
  template <class T, class NodeOf>
  std::span<T> make_array(std::size_t count, NodeOf node_of) {
    static_assert(std::is_trivially_destructible_v<T>);
    auto* bytes = static_cast<std::byte*>(allocate(sizeof(T) * count, alignof(T), 0));
    for (std::size_t i = 0; i < count; ++i) {
      new (bytes + i * sizeof(T)) T();
      set_node(bytes + i * sizeof(T), sizeof(T), node_of(i));
    }
    return {std::launder(reinterpret_cast<T*>(bytes)), count};
  }

  LineId line_of(const void* address) const {
    return static_cast<LineId>((static_cast<const std::byte*>(address) - base_) >> line_shift_);
  }
  std::uint32_t node_of_line(LineId line) const { return node_[line]; }
  std::size_t lines() const { return node_.size(); }

 private:
  void set_node(const void* address, std::size_t bytes, std::uint32_t node);

  std::byte* base_;
  std::size_t used_ = 0;
  unsigned line_shift_;
  std::vector<std::uint16_t> node_;  // by line
};

}  // namespace sim
