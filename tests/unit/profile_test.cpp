#include "sim/machine/profile.h"

#include <gtest/gtest.h>

#include <set>

#include "sim/machine/profile_tables.h"

namespace sim {
namespace {

TEST(Profile, EveryProfileGivesEveryFigureOnceWithinItsBoundsAndWithASource) {
  ASSERT_FALSE(profile_names().empty());
  for (const ProfileTable& table : profile_tables()) {
    std::set<std::string_view> keys;
    for (const ProfileRow& row : table.rows) {
      const Figure* figure = find_figure(row.key);
      ASSERT_NE(figure, nullptr) << table.name << "." << row.key;
      EXPECT_TRUE(keys.insert(row.key).second) << table.name << "." << row.key << " twice";
      EXPECT_GE(row.value, figure->min) << table.name << "." << row.key;
      EXPECT_LE(row.value, figure->max) << table.name << "." << row.key;
      EXPECT_FALSE(figure_source(table.name, row.key).empty());
    }
    EXPECT_EQ(keys.size(), figures().size()) << table.name;
    EXPECT_FALSE(profile_summary(table.name).empty());
  }
}

TEST(Profile, FartherLinesCostMoreAndMoreThreadsGiveNoLess) {
  for (const std::string_view name : profile_names()) {
    const Profile p = *find_profile(name);
    EXPECT_EQ(p.name, name);
    EXPECT_LT(p.l1_hit, p.transfer_chip);
    EXPECT_LT(p.transfer_chip, p.transfer_socket);
    EXPECT_LT(p.transfer_socket, p.transfer_remote);
    EXPECT_LE(p.transfer_remote, p.transfer_far);
    EXPECT_EQ(p.capacity_1, 1000);
    EXPECT_LE(p.capacity_1, p.capacity_2);
    EXPECT_LE(p.capacity_2, p.capacity_4);
    EXPECT_LE(p.capacity_4, p.capacity_8);
  }
}

TEST(Profile, AnUncontendedPairIsWithinThePublishedRange) {
  const auto pair = [](std::string_view name) {
    const Profile p = *find_profile(name);
    return p.reservation + p.acquire_barrier + p.release_barrier + p.store;
  };
  EXPECT_GE(pair("power9"), nanoseconds(15));
  EXPECT_LE(pair("power9"), nanoseconds(30));
  EXPECT_GE(pair("epyc"), nanoseconds(5));
  EXPECT_LE(pair("epyc"), nanoseconds(8));
  EXPECT_GE(pair("xeon"), nanoseconds(5));
  EXPECT_LE(pair("xeon"), nanoseconds(9));
}

TEST(Profile, FiguresAreSetByKey) {
  Profile p = *find_profile("power9");
  set_figure(p, *find_figure("hcall"), 7);
  set_figure(p, *find_figure("weight_low"), 3);
  EXPECT_EQ(p.hcall, picoseconds(7));
  EXPECT_EQ(p.weight_low, 3);
  EXPECT_EQ(figure_value(p, *find_figure("hcall")), 7);
  EXPECT_EQ(figure_value(p, *find_figure("weight_low")), 3);
}

TEST(Profile, UnknownNamesGiveNothing) {
  EXPECT_FALSE(find_profile("power8").has_value());
  EXPECT_EQ(find_figure("l1"), nullptr);
  EXPECT_TRUE(figure_source("power8", "l1_hit").empty());
  EXPECT_TRUE(figure_source("power9", "l1").empty());
}

}  // namespace
}  // namespace sim
