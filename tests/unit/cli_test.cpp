// The program as a shell sees it: exit codes, one line on stderr, whole files or none.
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "tests/unit/config_test_support.h"
#include "tests/unit/malformed_configs.h"

namespace sim {
namespace {

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Cli : public testing::Test {
 protected:
  // `arguments` are a piece of shell, run in the test's directory; `prefix` goes before the
  // program.
  Outcome run(const std::string& arguments, const std::string& prefix = "") const {
    const char* binary = std::getenv("TRAINWRECK");
    if (binary == nullptr) {
      ADD_FAILURE() << "TRAINWRECK names no binary";
      return {};
    }
    Outcome outcome;
    const std::string command = "cd '" + directory_.path().string() + "' && " + prefix + " '" +
                                binary + "' " + arguments + " 2>stderr.txt";
    std::FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 4096> buffer;
    while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
      outcome.out.append(buffer.data(), n);
    }
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    outcome.err = contents(directory_.path() / "stderr.txt");
    return outcome;
  }

  // Exit code 2, nothing on stdout, one line on stderr with these words.
  void expect_usage_error(const std::string& arguments, const std::vector<std::string>& words) {
    SCOPED_TRACE(arguments);
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("trainwreck: ")) << outcome.err;
    expect_words(outcome.err, words);
  }

  TemporaryDirectory directory_;
};

constexpr std::string_view kSmall = "duration = \"1ms\"\n[[lock]]\nalgorithm = \"qspinlock\"\n";

TEST_F(Cli, MalformedConfigsExitWith2AndOneLine) {
  const auto all = malformed_configs();
  for (std::size_t i = 0; i < all.size(); i += all.size() / 24) {
    directory_.write("c.toml", all[i].text);
    SCOPED_TRACE(all[i].text.substr(0, 200));
    std::vector<std::string> words = all[i].words;
    words.emplace_back("c.toml:");
    expect_usage_error("run c.toml", words);
  }
}

TEST_F(Cli, BadUsageExitsWith2AndOneLine) {
  directory_.write("c.toml", kSmall);
  expect_usage_error("", {"subcommand"});
  expect_usage_error("frob", {});
  expect_usage_error("run", {"config is required"});
  expect_usage_error("run absent.toml", {"absent.toml", "No such file"});
  expect_usage_error("run .", {"directory"});
  expect_usage_error("run c.toml --bogus", {"--bogus"});
  expect_usage_error("run c.toml --format xml", {"xml", "table,json,csv"});
  expect_usage_error("run c.toml --set", {"--set"});
  expect_usage_error("run c.toml --set lock.hot.algorithm=msc", {"--set lock.hot", "\"mcs\""});
  expect_usage_error("run c.toml --seed many", {"--seed", "integer"});
  expect_usage_error("run c.toml --seed=-1", {"--seed", "integer"});
  expect_usage_error("run c.toml --duration 5", {"--duration", "unit"});
  expect_usage_error("run -v -q c.toml", {"quiet"});
  expect_usage_error("list", {"topic"});
  expect_usage_error("list nonsense", {"nonsense", "locks", "profiles"});
  expect_usage_error("run \"$(printf 'a\\nb.toml')\"", {"a\\nb.toml"});
}

TEST_F(Cli, OutputsThatCannotBeWrittenAreKnownBeforeTheRun) {
  directory_.write("c.toml", kSmall);
  directory_.write("file", "");
  // Long enough that the test would time out if it ran.
  const std::string run = "run c.toml --duration 100000s ";
  expect_usage_error(run + "--hist /nonexistent/h", {"/nonexistent/h", "No such file"});
  expect_usage_error(run + "--hist .", {"directory"});
  expect_usage_error(run + "--timing /nonexistent/t", {"/nonexistent/t"});
  expect_usage_error(run + "--out file", {"file"});
  expect_usage_error(run + "--out /proc/nonexistent", {"/proc/nonexistent"});
}

TEST_F(Cli, AFailedWriteIsAnErrorAndLeavesNoHalfFile) {
  directory_.write("c.toml", kSmall);
  expect_usage_error("run c.toml --hist /dev/full", {"/dev/full", "No space left"});
  const Outcome full = run("run c.toml > /dev/full");
  EXPECT_EQ(full.code, 2);
  expect_words(full.err, {"standard output", "No space left"});
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
  }
}

TEST_F(Cli, ARunPrintsAndWritesItsResults) {
  directory_.write("c.toml", kSmall);
  const Outcome json =
      run("run c.toml --set seed=3 --set machine.cores=2 --format json --out o "
          "--hist h.hgrm --timing t.json");
  EXPECT_EQ(json.code, 0);
  EXPECT_EQ(json.err, "");
  expect_words(json.out, {"trainwreck.result/1", "\"cores\": 2", "\"seed\": 3"});
  const auto out = directory_.path() / "o";
  EXPECT_EQ(contents(out / "result.json"), json.out);
  EXPECT_NE(contents(out / "table.txt"), "");
  EXPECT_EQ(contents(out / "result.hgrm"), contents(directory_.path() / "h.hgrm"));
  expect_words(contents(directory_.path() / "t.json"), {"trainwreck.timing/1", "wall_s"});
  // The config that it leaves makes the same result.
  EXPECT_EQ(run("run o/config.toml --format json").out, json.out);
  EXPECT_EQ(run("run c.toml").out,
            contents(out / "table.txt").empty() ? "" : run("run c.toml").out);
}

// A recorded schedule that takes vCPU 0 away for good while a ticket lock's turn is its own.
TEST_F(Cli, AGuestThatHangsExitsWith3AndTellsTheStory) {
  std::ofstream(directory_.path() / "schedule.csv") << "time_ns,pcpu,vcpu\n"
                                                       "0,0,0\n0,1,1\n100000,0,-\n";
  std::ofstream(directory_.path() / "c.toml") << R"(
duration = "5s"
run.livelock_limit = "100ms"
machine.cores = 2
hypervisor = { policy = "replay", replay = "schedule.csv" }
[[partition]]
vcpus = 2
[[lock]]
algorithm = "ticket"
[[workload]]
kind = "locktorture"
critical_section = "90us"
)";
  const Outcome outcome = run("run c.toml --format json --out results");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.out, "");
  expect_words(outcome.err, {"livelock", "lock \"hot\": free", "vCPU 0 waits since",
                             "ready, not dispatched", "vCPU 1 waits since"});
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "results" / "result.json"));
}

// SIGINT after a second of a run that would take far longer: what was simulated is printed.
TEST_F(Cli, AnInterruptedRunExitsWith130AndKeepsWhatItHas) {
  std::ofstream(directory_.path() / "c.toml") << "duration = \"1000s\"\n";
  const Outcome outcome =
      run("run c.toml --format json", "timeout --preserve-status --signal=INT 1");
  EXPECT_EQ(outcome.code, 130);
  expect_words(outcome.out, {"trainwreck.result/1", "acquisitions"});
}

TEST_F(Cli, ListsShowWhatConfigsCanName) {
  for (const std::string topic :
       {"locks", "knobs", "policies", "workloads", "profiles", "stages", "figures"}) {
    const Outcome table = run("list " + topic);
    EXPECT_EQ(table.code, 0) << topic;
    EXPECT_GE(std::ranges::count(table.out, '\n'), 3) << table.out;
    const Outcome json = run("list " + topic + " --format json");
    EXPECT_TRUE(json.out.starts_with("[\n")) << json.out;
  }
  expect_words(run("list locks").out, {"qspinlock"});
  expect_words(run("list profiles").out, {"power9", "power10", "epyc", "xeon", "generic"});
}

TEST_F(Cli, HelpHasAnExampleForEachCommand) {
  for (const std::string command : {"", "run ", "list "}) {
    const Outcome help = run(command + "--help");
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    expect_words(help.out, {"Examples:\n", "  trainwreck " + command});
  }
  expect_words(run("--version").out, {"trainwreck "});
}

TEST_F(Cli, AReaderThatHasGoneIsNoError) {
  const char* binary = std::getenv("TRAINWRECK");
  ASSERT_NE(binary, nullptr);
  // The reader is gone well before the writer begins.
  const std::string command = "cd '" + directory_.path().string() + "' && (sleep 0.2; '" + binary +
                              "' list figures 2>stderr.txt; echo $? >code.txt) | true";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(contents(directory_.path() / "code.txt"), "0\n");
  EXPECT_EQ(contents(directory_.path() / "stderr.txt"), "");
}

TEST_F(Cli, DiagnosticsGoToStderr) {
  directory_.write("c.toml", kSmall);
  const Outcome quiet = run("run c.toml -q");
  const Outcome info = run("run c.toml -v");
  const Outcome debug = run("-vv run c.toml");
  EXPECT_EQ(quiet.err, "");
  expect_words(info.err, {"trainwreck: info: "});
  expect_words(debug.err, {"trainwreck: debug: "});
  EXPECT_EQ(info.out, quiet.out);
  EXPECT_EQ(debug.out, quiet.out);
}

}  // namespace
}  // namespace sim
