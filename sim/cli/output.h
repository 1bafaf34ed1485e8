// Standard output, for commands.
#pragma once

#include <string_view>

namespace sim {

// Writes `text` to standard output. A reader that has gone (`| head`) is no error; any other fault
// throws FileError.
void print(std::string_view text);

}  // namespace sim
