// The program: command line in, exit code out. Every fault ends here as a line on stderr.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <csignal>
#include <exception>
#include <iostream>
#include <new>

#include "sim/cli/arguments.h"
#include "sim/cli/atomic_file.h"
#include "sim/config/error.h"
#include "sim/guest/simulation.h"

namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler stores to it");

void interrupt(int) {
  interrupted.store(true);
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = interrupt;
  // The second Ctrl-C kills, should the first one not get through.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A closed pipe and a file size limit are write errors, not deaths.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void set_up_log(int verbosity) {
  auto log = spdlog::stderr_logger_st("trainwreck");
  log->set_pattern("trainwreck: %l: %v");
  const auto levels = {spdlog::level::err, spdlog::level::warn, spdlog::level::info,
                       spdlog::level::debug};
  log->set_level(levels.begin()[verbosity + 1]);
  spdlog::set_default_logger(std::move(log));
}

int fail(int code, const std::string& message) {
  std::cerr << "trainwreck: " << message << "\n";
  return code;
}

int run(int argc, char** argv) {
  const auto parsed = sim::parse_arguments(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  const auto& arguments = std::get<sim::Arguments>(parsed);
  set_up_log(arguments.verbosity);
  if (const auto* options = std::get_if<sim::RunOptions>(&arguments.command)) {
    return sim::run_command(*options, interrupted);
  }
  return sim::list_command(std::get<sim::ListOptions>(arguments.command));
}

}  // namespace

int main(int argc, char** argv) {
  catch_signals();
  try {
    return run(argc, argv);
  } catch (const sim::ConfigError& error) {
    return fail(sim::kBadUsage, error.what());
  } catch (const sim::FileError& error) {
    return fail(sim::kBadUsage, sim::one_line(error.what()));
  } catch (const sim::GuestFailure& failure) {
    return fail(sim::kGuestFailure, failure.what());
  } catch (const std::bad_alloc&) {
    return fail(sim::kBadUsage, "the config needs more memory than there is");
  } catch (const std::exception& error) {
    return fail(sim::kBadUsage, std::string("internal error: ") + sim::one_line(error.what()));
  }
}
