// The CSV: one record a lock under its header, quoted as RFC 4180 has it.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "report_fixture.h"

namespace sim {
namespace {

using Records = std::vector<std::vector<std::string>>;

// A reader of RFC 4180 that accepts nothing else: CR LF after every record.
Records parse(const std::string& text) {
  Records records{{""}};
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& field = records.back().back();
    if (inside && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += text[++i];
    } else if (c == '"') {
      EXPECT_TRUE(inside || field.empty());
      inside = !inside;
    } else if (inside || (c != ',' && c != '\r' && c != '\n')) {
      field += c;
    } else if (c == ',') {
      records.back().emplace_back();
    } else {
      EXPECT_EQ(text.substr(i, 2), "\r\n");
      ++i;
      records.push_back({""});
    }
  }
  EXPECT_FALSE(inside);
  EXPECT_EQ(records.back(), std::vector<std::string>{""}) << "no line break at the end";
  records.pop_back();
  return records;
}

std::map<std::string, std::string> named(const Records& records, std::size_t row) {
  std::map<std::string, std::string> fields;
  EXPECT_EQ(records[0].size(), records[row].size());
  for (std::size_t i = 0; i < records[0].size(); ++i) fields[records[0][i]] = records[row][i];
  EXPECT_EQ(fields.size(), records[0].size()) << "a column appears twice";
  return fields;
}

TEST(Csv, OfASmallRun) {
  EXPECT_EQ(
      written(write_csv, small_config(), small_result()),
      "lock,algorithm,partition,profile,policy,seed,virtual_ns,acquisitions,throughput_per_s,"
      "path_fast,path_steal,path_head,path_queued,"
      "wait_count,wait_mean_ns,wait_p50_ns,wait_p90_ns,wait_p99_ns,wait_p999_ns,wait_p9999_ns,"
      "wait_max_ns,"
      "hold_count,hold_mean_ns,hold_p50_ns,hold_p90_ns,hold_p99_ns,hold_p999_ns,hold_p9999_ns,"
      "hold_max_ns,"
      "handover_count,handover_mean_ns,handover_p50_ns,handover_p90_ns,handover_p99_ns,"
      "handover_p999_ns,handover_p9999_ns,handover_max_ns,"
      "max_min_ratio,jain,longest_bypass,holder_preemptions,waiter_preemptions,"
      "stalls,stall_total_ns,stall_cost_ns,stalls_holder,stalls_head,stalls_waiter,"
      "wrecks,wreck_longest_ns,wreck_deepest,wreck_longest_chain,wreck_cost_ns,"
      "reservations_lost,cpu_useful,cpu_spin,cpu_hypervisor,cpu_idle\r\n"
      "hot,qspinlock,guest,power9,round_robin,42,1000000000,10,10,"
      "6,0,1,3,"
      "10,300180,100,1000,3000000,3000000,3000000,3000000,"
      "10,500,500,500,500,500,500,500,"
      "2,40.5,40,41,41,41,41,41,"
      "4,0.8333,2,1,5,"
      "3,60000000,80500000,1,0,2,"
      "1,45000000,3,3,70000000,"
      "7,0.3333333333335,0.3333333333335,0,0.333333333333\r\n");
}

TEST(Csv, QuotesOddNames) {
  Result result = small_result();
  result.locks.resize(5, result.locks[0]);
  const std::vector<std::string> names{"a,b", "say \"hi\"", "two\nlines", "cr\rlf", "  plain  "};
  for (std::size_t i = 0; i < names.size(); ++i) result.locks[i].name = names[i];
  const std::string text = written(write_csv, small_config(), result);
  EXPECT_NE(text.find("\r\n\"a,b\",qspinlock"), std::string::npos);
  EXPECT_NE(text.find("\r\n\"say \"\"hi\"\"\",qspinlock"), std::string::npos);
  const Records records = parse(text);
  ASSERT_EQ(records.size(), names.size() + 1);
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(records[i + 1][0], names[i]);
}

TEST(Csv, OfNoLocksIsItsHeader) {
  const Records records = parse(written(write_csv, Config{}, Result{}));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0][0], "lock");
}

TEST(Csv, HasInfAndEmptyWhereThereIsNoNumber) {
  Result result = small_result();
  result.locks[0].max_min_ratio = std::numeric_limits<double>::infinity();
  result.locks[0].jain = std::numeric_limits<double>::quiet_NaN();
  const auto fields = named(parse(written(write_csv, small_config(), result)), 1);
  EXPECT_EQ(fields.at("max_min_ratio"), "inf");
  EXPECT_EQ(fields.at("jain"), "");
}

TEST(Csv, OfAnUnusedLockIsZero) {
  Result result;
  result.locks.resize(1);
  const auto fields = named(parse(written(write_csv, Config{}, result)), 1);
  EXPECT_EQ(fields.at("acquisitions"), "0");
  EXPECT_EQ(fields.at("throughput_per_s"), "0");
  EXPECT_EQ(fields.at("wait_mean_ns"), "0");
}

}  // namespace
}  // namespace sim
