// trainwreck run: one config, simulated once.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace sim {

struct RunOptions {
  std::string config;
  std::vector<std::string> set;  // KEY=VALUE
  std::string seed;              // empty: the config's; else as if given to --set
  std::string duration;
  std::string out;  // directory
  std::string format = "table";
  std::string hist;
  std::string timing;
  bool fast_forward = true;
  bool progress = true;  // if stderr is a terminal
};

// Returns the exit code. Throws ConfigError, FileError and GuestFailure; nothing is left half
// written then. `interrupted` ends the run early; what was simulated is still printed.
int run_command(const RunOptions& options, const std::atomic<bool>& interrupted);

}  // namespace sim
