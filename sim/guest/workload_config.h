// What a config says of the work that guests do. Plain data, validated by the reader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/distribution.h"
#include "sim/engine/time.h"

namespace sim {

enum class WorkloadKind : std::uint8_t {
  locktorture,  // for ever: think, lock, critical section, unlock, (block)
  compute,      // for ever: think (no lock)
};

struct WorkloadConfig {
  std::string partition;  // default: the first
  WorkloadKind kind = WorkloadKind::locktorture;
  std::vector<std::string> locks;  // one is drawn each time; default: the first lock
  Distribution critical_section = Distribution::constant(nanoseconds(500));
  Distribution think = Distribution::constant(Time{0});
  Distribution block = Distribution::constant(Time{0});  // sleep after each cycle; 0: never
  std::uint32_t block_every = 1;                         // cycles between two sleeps
  std::uint32_t tasks = 0;                               // 0: one a vCPU
  std::vector<std::uint32_t> vcpus;                      // which; empty: all of the partition
  Time guest_slice = milliseconds(4);                    // a task's slice when tasks share a vCPU
};

// Contexts that may interrupt one another: a level interrupts only lower ones.
enum class InterruptLevel : std::uint8_t { softirq = 1, hardirq = 2, nmi = 3 };

struct InterruptConfig {
  std::string name;       // optional, for messages
  std::string partition;  // default: the first
  InterruptLevel level = InterruptLevel::hardirq;
  Distribution interval;  // constant: `period` (phases staggered at random); exponential: `rate`
  std::vector<std::uint32_t> vcpus;  // which; empty: all of the partition
  Distribution duration = Distribution::constant(microseconds(1));  // with `lock`: held that long
  std::string lock;                                                 // empty: takes none
};

}  // namespace sim
