#include <gtest/gtest.h>

#include <array>

#include "sim/config/suggest.h"

namespace sim {
namespace {

constexpr std::array<std::string_view, 4> kKeys{"sockets", "cores", "threads", "profile"};

TEST(Suggest, NearestIsTheOneWithFewestEdits) {
  EXPECT_EQ(nearest("coers", kKeys), "cores");
  EXPECT_EQ(nearest("core", kKeys), "cores");
  EXPECT_EQ(nearest("thread", kKeys), "threads");
  EXPECT_EQ(nearest("profil", kKeys), "profile");
  EXPECT_EQ(nearest("Sockets", kKeys), "sockets");
}

TEST(Suggest, NothingIsNearToNonsense) {
  EXPECT_EQ(nearest("", kKeys), "");
  EXPECT_EQ(nearest("xyzzy", kKeys), "");
  EXPECT_EQ(nearest(std::string(100'000, 'x'), kKeys), "");
  EXPECT_EQ(nearest("cores", {}), "");
}

TEST(Suggest, UnknownNamesListWhatIsAllowed) {
  EXPECT_EQ(
      unknown_name("key", "coers", kKeys),
      "unknown key \"coers\", did you mean \"cores\"? Allowed: sockets, cores, threads, profile");
  EXPECT_EQ(unknown_name("key", "xyzzy", {}), "unknown key \"xyzzy\"; allowed: nothing");
}

TEST(Suggest, QuotesAreCutBetweenCharacters) {
  EXPECT_EQ(quote("abc"), "\"abc\"");
  std::string umlauts;
  for (int i = 0; i < 40; ++i) umlauts += "ü";
  const std::string cut = quote("x" + umlauts);
  EXPECT_LT(cut.size(), 70u);
  EXPECT_TRUE(cut.ends_with("ü…\""));
}

}  // namespace
}  // namespace sim
