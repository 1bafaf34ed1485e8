// Lengths of time as people write them.
#pragma once

#include <string>

#include "sim/engine/time.h"

namespace sim {

// The length in its largest unit that needs no fraction: 1500 ns is "1500ns", zero "0s".
// `time` is not negative.
std::string format_duration(Time time);

}  // namespace sim
