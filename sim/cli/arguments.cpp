#include "sim/cli/arguments.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "sim/cli/output.h"
#include "sim/config/error.h"

namespace sim {
namespace {

constexpr const char* kAbout =
    "Replays an oversubscribed machine in virtual time: a hypervisor time-slices vCPUs, lock code\n"
    "runs unmodified on them, and every nanosecond that anybody waits is accounted for.";

constexpr const char* kFooter =
    "Examples:\n"
    "  trainwreck run wreck.toml\n"
    "  trainwreck list knobs\n"
    "\n"
    "Exit codes: 0 done; 1 a check or comparison failed; 2 bad usage or config, or an output that\n"
    "cannot be written; 3 the guest deadlocked, livelocked or broke mutual exclusion; 130 "
    "interrupted.";

constexpr const char* kRunFooter =
    "Examples:\n"
    "  trainwreck run wreck.toml --set lock.hot.algorithm=ticket --set machine.cores=8\n"
    "  trainwreck run wreck.toml --seed 7 --duration 5s --format json --out results/7\n"
    "\n"
    "A KEY is the path of a setting in the config: entries of lists by index or by name. --out "
    "writes\n"
    "result.json, result.hgrm, table.txt and config.toml (the effective config, which runs "
    "again).\n"
    "Ctrl-C ends the run early and prints what was simulated.";

constexpr const char* kListFooter =
    "Examples:\n"
    "  trainwreck list policies\n"
    "  trainwreck list figures --format json\n"
    "\n"
    "figures are what the profiles say the hardware costs, each with its source.";

void add_run(CLI::App& app, RunOptions& run) {
  CLI::App* command = app.add_subcommand("run", "Simulate a config and print what happened");
  command->footer(kRunFooter);
  command->add_option("config", run.config, "Config file (TOML)")->required()->type_name("CONFIG");
  command->add_option("--set", run.set, "Change a setting: lock.0.algorithm=mcs; may be repeated")
      ->type_name("KEY=VALUE")
      // One value each: CONFIG may follow.
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--seed", run.seed, "Seed of all randomness")->type_name("N");
  command->add_option("--duration", run.duration, "Simulated time, such as 2s")->type_name("TIME");
  command->add_option("--out", run.out, "Write all results into this directory")->type_name("DIR");
  command->add_option("--format", run.format, "What to print: table, json or csv")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  command->add_option("--hist", run.hist, "Write the latency histograms (HdrHistogram's .hgrm)")
      ->type_name("FILE");
  command->add_option("--timing", run.timing, "Write what the run itself took (JSON)")
      ->type_name("FILE");
  command->add_flag_callback(
      "--no-fast-forward", [&run] { run.fast_forward = false; },
      "Run every turn of every spin loop; slower, same result");
}

void add_list(CLI::App& app, ListOptions& list) {
  CLI::App* command = app.add_subcommand("list", "Show what configs can name, with defaults");
  command->footer(kListFooter);
  const std::vector<std::string> topics(kListTopics.begin(), kListTopics.end());
  std::string words;
  for (const std::string& topic : topics) words += (words.empty() ? "" : ", ") + topic;
  command->add_option("topic", list.topic, "One of " + words)
      ->required()
      ->type_name("TOPIC")
      ->check(CLI::IsMember(topics));
  command->add_option("--format", list.format, "table or json")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
}

}  // namespace

std::variant<Arguments, int> parse_arguments(int argc, char** argv) {
  CLI::App app(kAbout, "trainwreck");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.set_version_flag("--version", "trainwreck " TRAINWRECK_VERSION);
  // So that -v and -q may stand behind the command as well.
  app.fallthrough();
  int verbose = 0;
  bool quiet = false;
  CLI::Option* verbose_flag =
      app.add_flag("-v,--verbose", verbose, "Say more on stderr; -vv: yet more");
  app.add_flag("-q,--quiet", quiet, "Only errors on stderr, no progress")->excludes(verbose_flag);
  RunOptions run;
  ListOptions list;
  add_run(app, run);
  add_list(app, list);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    std::ostringstream text;
    app.exit(success, text, text);
    print(text.str());
    return kDone;
  } catch (const CLI::ParseError& error) {
    std::cerr << "trainwreck: " << one_line(error.what()) << " (see trainwreck --help)\n";
    return kBadUsage;
  }
  Arguments arguments;
  arguments.verbosity = quiet ? -1 : std::min(verbose, 2);
  run.progress = !quiet;
  if (app.got_subcommand("run")) {
    arguments.command = std::move(run);
  } else {
    arguments.command = std::move(list);
  }
  return arguments;
}

}  // namespace sim
