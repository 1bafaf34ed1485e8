// The fuzz target on the seed corpus and on mutations of it: the same ones every time, and without
// a fuzzer.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fuzz/config_fuzz.h"

namespace sim {
namespace {

constexpr int kMutationsPerSeed = 1500;

std::vector<std::string> corpus() {
  const char* directory = std::getenv("CONFIG_CORPUS");
  std::vector<std::filesystem::path> paths;
  if (directory != nullptr) {
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    texts.push_back(std::move(text).str());
  }
  return texts;
}

class Mutator {
 public:
  std::string mutate(std::string text) {
    for (std::size_t i = 0, steps = 1 + below(4); i < steps; ++i) step(text);
    return text;
  }

 private:
  // splitmix64: the standard's generators would do, its distributions would not.
  std::size_t below(std::size_t bound) {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<std::size_t>((z ^ (z >> 31)) % bound);
  }

  void step(std::string& text) {
    static const std::vector<std::string> tokens{"\"",
                                                 "\"\"\"",
                                                 "'",
                                                 "=",
                                                 "[",
                                                 "]",
                                                 "[[",
                                                 "]]",
                                                 "{",
                                                 "}",
                                                 ",",
                                                 ".",
                                                 "\n",
                                                 "#",
                                                 "\\u0000",
                                                 "\xff",
                                                 "\xc3",
                                                 std::string(1, '\0'),
                                                 "-1",
                                                 "0",
                                                 "1e308",
                                                 "nan",
                                                 "inf",
                                                 "-inf",
                                                 "true",
                                                 "0x7f",
                                                 "9223372036854775807",
                                                 "-9223372036854775808",
                                                 "99999999999999999999",
                                                 "0.0",
                                                 "1979-05-27",
                                                 "\"1us\"",
                                                 "\"0s\"",
                                                 "\"100000s\"",
                                                 "\"0-99\"",
                                                 "\n---\n",
                                                 "lock.0=",
                                                 "name = \"hot\"\n",
                                                 "[[lock]]\n",
                                                 "[[partition]]\n",
                                                 "[[interrupt]]\n",
                                                 "vcpus = 0\n",
                                                 "a.a.a.a.a.a.a.a = 1\n"};
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = std::min(below(32) + 1, text.size() - at);
    switch (below(6)) {
      case 0:
        text.insert(at, tokens[below(tokens.size())]);
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.replace(at, length, tokens[below(tokens.size())]);
        break;
      case 4:
        text.insert(below(text.size() + 1), text.substr(at, length));
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
    }
  }

  std::uint64_t state_ = 1;
};

TEST(ConfigMutation, SeedsAndTheirMutationsNeverBreakTheReader) {
  const std::vector<std::string> seeds = corpus();
  ASSERT_GE(seeds.size(), 5u) << "CONFIG_CORPUS names no corpus";
  Mutator mutator;
  for (const std::string& seed : seeds) {
    check_config_input(seed);
    for (int i = 0; i < kMutationsPerSeed; ++i) check_config_input(mutator.mutate(seed));
  }
}

// What mutation hardly finds: depth and length.
TEST(ConfigMutation, LongAndDeepInputsAreSurvived) {
  const auto repeat = [](std::string_view part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
  };
  check_config_input("a = " + repeat("[", 100'000));
  check_config_input("a = " + repeat("{a=", 100'000));
  check_config_input("a = " + repeat("{a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=", 100'000));
  check_config_input("[" + repeat("a.", 100'000) + "a]");
  check_config_input(repeat("a.", 100'000) + "a = 1");
  check_config_input(repeat("\"a\" . ", 100'000) + "a = 1");
  check_config_input("seed = 1\n---\n" + repeat("a.", 100'000) + "a=1");
  check_config_input("seed = 1\n---\nseed=" + repeat("{a.a.a.a.a.a.a.a=", 100'000));
  check_config_input("seed = 1\n---\nseed={" + repeat("a.", 100'000) + "a=1}");
  check_config_input(repeat("[[lock]]\n", 10'000));
  check_config_input(repeat("k", 1'000'000) + " = 1");
  check_config_input("duration = \"" + repeat("9", 1'000'000) + "s\"");
  check_config_input("[[workload]]\nvcpus = \"" + repeat("0-3,", 100'000) + "0\"");
}

}  // namespace
}  // namespace sim
