#include "tests/unit/malformed_configs.h"

#include <algorithm>

#include "tests/unit/config_test_support.h"

namespace sim {
namespace {

TEST(MalformedConfigs, ThereAreHundreds) {
  EXPECT_GE(malformed_configs().size(), 300u);
}

TEST(MalformedConfigs, EachIsRefusedInOneLineThatNamesFileLineKeyAndWhatIsAllowed) {
  for (const Malformed& malformed : malformed_configs()) {
    SCOPED_TRACE(malformed.text.substr(0, 400));
    const ConfigError error = refusal(malformed.text);
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("test.toml:")) << message;
    EXPECT_TRUE(std::ranges::none_of(message, [](char c) {
      return static_cast<unsigned char>(c) < 0x20;
    })) << message;
    EXPECT_EQ(error.key(), malformed.key) << message;
    if (malformed.key.size() < 100) {
      EXPECT_NE(message.find(one_line(malformed.key)), std::string::npos) << message;
    }
    EXPECT_EQ(error.line() != 0, malformed.has_line) << message;
    const auto lines = std::ranges::count(malformed.text, '\n') + 1;
    EXPECT_LE(error.line(), static_cast<std::uint32_t>(lines)) << message;
    expect_words(message, malformed.words);
  }
}

// A complaint is no use if it points at another line.
TEST(MalformedConfigs, TheLineIsThatOfTheValue) {
  expect_refused("seed = 1\n\n[machine]\ncores = 2\nthreads = 99\n", 5, "machine.threads", {});
  expect_refused("seed = 1\n[[lock]]\nname = \"a\"\n[[lock]]\nname = \"a\"\n", 5, "lock.1.name",
                 {});
  expect_refused("[machine]\ncores = 2\ncoers = 2\n", 3, "machine.coers", {});
  expect_refused("[[partition]]\nentitlement = 3\n[[partition]]\nentitlement = 2\n", 4,
                 "partition.1.entitlement", {});
  expect_refused("[[partition]]\npin = [\n  0,\n  9,\n]\n", 4, "partition.0.pin", {});
  // What is missing is missed where it should stand.
  expect_refused("seed = 1\n[hypervisor]\npolicy = \"replay\"\n", 2, "hypervisor.replay", {});
}

}  // namespace
}  // namespace sim
