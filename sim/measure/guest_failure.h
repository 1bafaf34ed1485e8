// How a simulated guest fails.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace sim {

// The guest deadlocked, livelocked or broke mutual exclusion. what() is the story in several lines:
// who holds, who waits for what, and since when.
class GuestFailure : public std::runtime_error {
 public:
  enum class Kind : std::uint8_t { deadlock, livelock, broken_exclusion };
  GuestFailure(Kind kind, const std::string& story) : std::runtime_error(story), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

}  // namespace sim
