// Recorded schedules: the file that policy `replay` follows.
//
//   # who ran where, from a trace
//   time_ns,pcpu,vcpu
//   0,0,0
//   0,1,3
//   1500000,0,-
//
// A line says that from `time_ns` on physical CPU `pcpu` belongs to `vcpu` (numbered over all
// partitions in the order of the config; with granularity core: cores and virtual cores), or to
// nobody (`-`). Blank lines and what follows a `#` are ignored, as is a first line of column names.
// Times are whole nanoseconds and never go back. At one time a vCPU may be given to one physical
// CPU only; given to another one later, it moves.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/engine/time.h"

namespace hv {

struct ReplayStep {
  sim::Time at{};
  std::uint32_t pcpu = 0;
  std::optional<std::uint32_t> vcpu;  // nothing: idle
  std::uint32_t line = 0;             // of the file, from 1
};

// How many of each there are; numbers in the file must be below.
struct ReplayBounds {
  std::uint32_t pcpus = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t vcpus = std::numeric_limits<std::uint32_t>::max();
};

// Throws std::invalid_argument, "file:line: what is wrong, and what is allowed".
std::vector<ReplayStep> read_replay(const std::string& path, const ReplayBounds& bounds = {});

}  // namespace hv
