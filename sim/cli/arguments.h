// What stands on the command line.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "sim/cli/list_command.h"
#include "sim/cli/run_command.h"

namespace sim {

// Exit codes of the program (1: a check or comparison failed).
enum ExitCode : int {
  kDone = 0,
  kBadUsage = 2,      // usage, config, or an output that cannot be written
  kGuestFailure = 3,  // deadlock, livelock or broken mutual exclusion in the guest
  kInterrupted = 130,
};

struct Arguments {
  int verbosity = 0;  // -1: quiet, 1: info, 2: debug
  std::variant<RunOptions, ListOptions> command;
};

// Returns what to do, or the exit code when that is done already (--help, --version, bad usage).
std::variant<Arguments, int> parse_arguments(int argc, char** argv);

}  // namespace sim
