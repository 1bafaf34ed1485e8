// The source tree: which layer includes which, what no file may contain, what lies at the top.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct SourceFile {
  std::string path;  // from the top of the tree
  std::vector<std::string> lines;

  bool below(std::string_view prefix) const { return path.starts_with(prefix); }
  bool is_header() const { return path.ends_with(".h"); }
  bool is_code() const { return is_header() || path.ends_with(".cpp"); }
  std::string at(std::size_t line) const { return path + ":" + std::to_string(line + 1); }
};

fs::path root() {
  const char* path = std::getenv("SOURCE_ROOT");
  return path == nullptr ? "." : path;
}

std::vector<SourceFile> read_tree() {
  std::vector<SourceFile> files;
  for (const char* folder : {"sim", "hv", "lock", "tests", "configs"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root() / folder)) {
      // A fuzzer may have left anything in its corpus.
      if (!entry.is_regular_file() || entry.path().string().find("corpus") != std::string::npos) {
        continue;
      }
      SourceFile& file = files.emplace_back();
      file.path = fs::relative(entry.path(), root()).generic_string();
      std::ifstream text(entry.path());
      for (std::string line; std::getline(text, line);) file.lines.push_back(line);
    }
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

const std::vector<SourceFile>& tree() {
  static const std::vector<SourceFile> files = read_tree();
  return files;
}

// What a file of the layer may include of the project, by prefix, and of other people's libraries.
struct Layer {
  std::string_view folder;
  std::vector<std::string_view> project;
  std::vector<std::string_view> libraries;
};

const std::vector<Layer>& layers() {
  static const std::vector<Layer> all{
      {"lock/", {"lock/"}, {}},
      {"sim/engine/", {"sim/engine/"}, {"boost/", "sanitizer/"}},
      {"sim/machine/", {"sim/machine/", "sim/engine/"}, {}},
      {"hv/", {"hv/", "sim/machine/", "sim/engine/"}, {}},
      {"sim/measure/", {"sim/measure/", "hv/", "lock/", "sim/machine/", "sim/engine/"}, {"fmt/"}},
      {"sim/guest/",
       {"sim/guest/", "sim/measure/", "hv/", "lock/", "sim/machine/", "sim/engine/"},
       {}},
      {"sim/config/",
       {"sim/config/", "sim/guest/lock_config.h", "sim/guest/simulation_config.h",
        "sim/guest/workload_config.h", "hv/", "lock/", "sim/machine/", "sim/engine/"},
       {"fmt/", "nlohmann/", "toml++/"}},
      {"sim/report/",
       {"sim/report/", "sim/config/", "sim/guest/simulation_config.h", "sim/measure/", "hv/",
        "lock/", "sim/machine/", "sim/engine/"},
       {"fmt/", "nlohmann/"}},
      {"sim/cli/", {"sim/", "hv/", "lock/"}, {"fmt/", "nlohmann/", "spdlog/", "CLI/"}},
  };
  return all;
}

bool starts_with_any(const std::string& path, const std::vector<std::string_view>& prefixes) {
  return std::ranges::any_of(prefixes, [&](auto prefix) { return path.starts_with(prefix); });
}

// `<vector>`, `<sys/mman.h>`, `<unistd.h>`: the standard library and the system.
bool is_system(const std::string& header) {
  static const std::regex kSystem(R"((sys/)?[a-z_0-9]+(\.h)?)");
  return std::regex_match(header, kSystem);
}

void check_include(const SourceFile& file, std::size_t line, const Layer& layer) {
  static const std::regex kInclude(R"(\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
  std::smatch match;
  if (!std::regex_match(file.lines[line], match, kInclude)) return;
  const std::string header = match[2];
  if (match[1] == "\"") {
    EXPECT_TRUE(starts_with_any(header, layer.project))
        << file.at(line) << ": " << layer.folder << " stands below " << header;
  } else {
    EXPECT_TRUE(is_system(header) || starts_with_any(header, layer.libraries))
        << file.at(line) << ": " << layer.folder << " does without <" << header << ">";
  }
}

TEST(Tidy, FindsTheTree) {
  for (const Layer& layer : layers()) {
    EXPECT_TRUE(std::ranges::any_of(tree(), [&](auto& file) { return file.below(layer.folder); }))
        << layer.folder;
  }
}

TEST(Tidy, EveryLayerIncludesOnlyWhatStandsBelowIt) {
  for (const SourceFile& file : tree()) {
    if (!file.is_code() || file.below("tests/")) continue;
    const auto layer =
        std::ranges::find_if(layers(), [&](const Layer& l) { return file.below(l.folder); });
    ASSERT_NE(layer, layers().end()) << file.path << " belongs to no layer";
    for (std::size_t i = 0; i < file.lines.size(); ++i) check_include(file, i, *layer);
  }
}

TEST(Tidy, OnlyTheProgramAndItsTestsIncludeTheCommandLine) {
  for (const SourceFile& file : tree()) {
    if (file.below("sim/cli/") || file.below("tests/")) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_FALSE(file.lines[i].starts_with("#include \"sim/cli/")) << file.at(i);
    }
  }
}

// Code points, since that is what an editor shows.
std::ptrdiff_t columns(const std::string& line) {
  return std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; });
}

TEST(Tidy, LinesAndFilesAreShort) {
  for (const SourceFile& file : tree()) {
    EXPECT_LE(file.lines.size(), 500u) << file.path;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_LE(columns(file.lines[i]), 100) << file.at(i);
    }
  }
}

TEST(Tidy, NoTrailingSpacesOrTabs) {
  for (const SourceFile& file : tree()) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_FALSE(file.lines[i].ends_with(' ')) << file.at(i);
      EXPECT_EQ(file.lines[i].find('\t'), std::string::npos) << file.at(i);
    }
  }
}

TEST(Tidy, NothingIsLeftUndone) {
  // In two pieces, so that this file passes.
  static const std::array kMarks{std::string("TO") + "DO", std::string("FIX") + "ME",
                                 std::string("XX") + "X", std::string("HA") + "CK"};
  for (const SourceFile& file : tree()) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      for (const std::string& mark : kMarks) {
        const std::size_t at = file.lines[i].find(mark);
        if (at == std::string::npos) continue;
        // A pattern of six is mkdtemp's.
        const bool pattern = file.lines[i].find(mark + mark) != std::string::npos;
        EXPECT_TRUE(pattern) << file.at(i) << ": " << mark;
      }
    }
  }
}

TEST(Tidy, EveryFileOfCodeOpensWithAComment_AndHeadersAreIncludedOnce) {
  for (const SourceFile& file : tree()) {
    if (!file.is_header()) continue;
    ASSERT_FALSE(file.lines.empty()) << file.path;
    EXPECT_TRUE(file.lines[0].starts_with("// ")) << file.path << " says nothing of itself";
    EXPECT_EQ(std::ranges::count(file.lines, "#pragma once"), 1) << file.path;
  }
}

struct Banned {
  std::regex what;
  std::string_view why;
  std::vector<std::string_view> except;  // files, by prefix
};

// What would make a result depend on the machine, the standard library, or the day.
const std::vector<Banned>& banned() {
  static const std::vector<Banned> all{
      {std::regex(R"(std::unordered_)"), "its order is the library's", {}},
      {std::regex(R"(std::\w+_distribution\b)"), "its samples are the library's", {}},
      {std::regex(R"(std::shuffle\b)"), "its order is the library's", {}},
      {std::regex(R"(\brandom_device\b|\bs?rand\s*\()"), "is no seeded stream", {}},
      // Boost.Fiber's interface names the clock; the engine never waits on it.
      {std::regex(R"(\b(steady|system|high_resolution)_clock\b|\bclock_gettime\b|\btime\s*\(NULL)"),
       "is no virtual time",
       {"sim/cli/", "lock/native_platform.", "sim/engine/fiber_scheduler."}},
      {std::regex(R"(\bsleep_for\b|\bsleep_until\b)"), "waits in wall-clock time", {}},
      {std::regex(R"(\bthread_local\b)"), "keeps two runs from being independent", {}},
  };
  return all;
}

std::string without_comment(const std::string& line) {
  return line.substr(0, line.find("//"));
}

TEST(Tidy, NothingMakesResultsDependOnTheMachine) {
  for (const SourceFile& file : tree()) {
    if (!file.is_code() || file.below("tests/")) continue;
    for (const Banned& ban : banned()) {
      if (starts_with_any(file.path, ban.except)) continue;
      for (std::size_t i = 0; i < file.lines.size(); ++i) {
        std::smatch match;
        const std::string code = without_comment(file.lines[i]);
        EXPECT_FALSE(std::regex_search(code, match, ban.what))
            << file.at(i) << ": " << match.str() << " " << ban.why;
      }
    }
  }
}

TEST(Tidy, OnlyTheFixedEntriesStandAtTheTop) {
  const std::set<std::string> allowed{"sim",     "lock",        "hv",       "tests",
                                      "configs", "meson.build", "README.md"};
  for (const auto& entry : fs::directory_iterator(root())) {
    const std::string name = entry.path().filename().string();
    // Build directories and the editors' link into them are not part of the tree (.gitignore).
    const bool ignored =
        (entry.is_directory() && name.starts_with("build")) || name == "compile_commands.json";
    EXPECT_TRUE(ignored || name.starts_with('.') || allowed.contains(name)) << name;
  }
}

}  // namespace
