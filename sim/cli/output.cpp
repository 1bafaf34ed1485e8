#include "sim/cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "sim/cli/atomic_file.h"

namespace sim {

void print(std::string_view text) {
  if (write_all(STDOUT_FILENO, text) || errno == EPIPE) return;
  throw FileError(std::string("standard output: cannot be written: ") +
                  std::generic_category().message(errno));
}

}  // namespace sim
