// What a config says of a lock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

namespace sim {

using KnobValue = std::variant<std::int64_t, bool, std::string>;

struct LockConfig {
  std::string name;
  std::string algorithm = "qspinlock";
  std::string stage;                       // qspinlock: a rung of the ladder; empty: current
  std::uint32_t node = 0;                  // NUMA node (socket) whose memory is the lock's home
  std::map<std::string, KnobValue> knobs;  // by the kernel's names, checked against the algorithm's
};

}  // namespace sim
