// The shape of the physical machine: sockets × chips × cores × hardware threads.
//
// Hardware threads are numbered core by core, cores chip by chip, chips socket by socket, all from
// 0.
#pragma once

#include <cstdint>

namespace sim {

struct Topology {
  std::uint32_t sockets = 1;
  std::uint32_t chips = 1;    // per socket
  std::uint32_t cores = 4;    // per chip
  std::uint32_t threads = 1;  // per core

  constexpr std::uint32_t total_cores() const { return sockets * chips * cores; }
  constexpr std::uint32_t total_threads() const { return total_cores() * threads; }
  constexpr std::uint32_t core_of_thread(std::uint32_t thread) const { return thread / threads; }
  constexpr std::uint32_t chip_of_core(std::uint32_t core) const { return core / cores; }
  constexpr std::uint32_t socket_of_core(std::uint32_t core) const {
    return core / (cores * chips);
  }
};

// Largest machine that a config may ask for.
inline constexpr std::uint32_t kMaxThreads = 16384;

}  // namespace sim
