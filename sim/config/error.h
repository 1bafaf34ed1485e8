// Texts that stay on their line.
#pragma once

#include <string>

namespace sim {

// `text` with control characters escaped.
std::string one_line(const std::string& text);

}  // namespace sim
