// The table, byte for byte for a small run, and its limits in size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "report_fixture.h"
#include "sim/report/sections.h"

namespace sim {
namespace {

using testing::HasSubstr;
using testing::Not;

// Worked out by hand from the fixture's figures.
constexpr const char* kExpected = R"(# duration=1s warmup=0s seed=42
# profile=power9 sockets=1 chips=1 cores=2 threads=1
# policy=round_robin granularity=thread timeslice=10ms
# partition=guest vcpus=4 weight=128 capped=false
# lock=hot algorithm=qspinlock pv_yield_owner=true steal_spins=32
# workload=locktorture partition=guest critical_section=500ns think=exponential(2us)

lock hot: qspinlock, partition guest
throughput     10.0 acquisitions/s
acquired          all      fast     steal      head    queued
  count            10         6         0         1         3
  share                  60.0 %     0.0 %    10.0 %    30.0 %
latency         count      mean       p50       p90       p99     p99.9    p99.99       max
  wait             10    300 us    100 ns*  1.00 us*  3.00 ms*  3.00 ms*  3.00 ms*  3.00 ms
  hold             10    500 ns    500 ns*   500 ns*   500 ns*   500 ns*   500 ns*   500 ns
  handover          2   40.5 ns     40 ns*    41 ns*    41 ns*    41 ns*    41 ns*    41 ns
  * fewer than 10 samples lie beyond it
fairness       max/min 4.00, Jain 0.833, longest bypass 2
preempted      1 holding, 5 queued; store-conditionals lost 7
stalls            all    holder      head    waiter     total    of run      cost
                    3         1         0         2   60.0 ms     6.0 %   80.5 ms
train wrecks   1: longest 45.0 ms, deepest 3, longest chain 3 stalls, cost 70.0 ms
  costliest    at 0.250004 s for 45.0 ms, 3 stalls, 3 deep, cost 70.0 ms
       since        for       cost  missing  cause   waiting  vCPUs behind it
       +0 ns    20.0 ms    40.0 ms  vCPU 2   holder        3  3 0 ...
    +20.0 ms    10.0 ms    30.0 ms  vCPU 3   waiter        2  0 1
         ... and 1 more stall
     wait, nsecs         : count    distribution
        64 -> 127        : 8        |****************************************|
       128 -> 255        : 0        |                                        |
       256 -> 511        : 0        |                                        |
       512 -> 1023       : 1        |*****                                   |
      1024 -> 2047       : 0        |                                        |
      2048 -> 4095       : 0        |                                        |
      4096 -> 8191       : 0        |                                        |
      8192 -> 16383      : 0        |                                        |
     16384 -> 32767      : 0        |                                        |
     32768 -> 65535      : 0        |                                        |
     65536 -> 131071     : 0        |                                        |
    131072 -> 262143     : 0        |                                        |
    262144 -> 524287     : 0        |                                        |
    524288 -> 1048575    : 0        |                                        |
   1048576 -> 2097151    : 0        |                                        |
   2097152 -> 4194303    : 1        |*****                                   |

cpu useful      33.4 %    667 ms  |*************                           |
    spin        33.3 %    667 ms  |*************                           |
    hypervisor   0.0 %      0 ns  |                                        |
    idle        33.3 %    667 ms  |*************                           |
hypervisor     dispatches 100, preemptions 40
               confer 9 directed, 8 undirected, 7 stale; prod 6, cede 5
               steal 2.00 s, background 1.00 us
engine         events 1000, fiber switches 200, spin turns 800 (87.5 % skipped)
)";

TEST(Table, OfASmallRun) {
  EXPECT_EQ(written(write_table, small_config(), small_result()), kExpected);
}

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST(Table, OfACrowdedLockFitsOnASheet) {
  Config config = small_config();
  config.hypervisor.background.share = 0.1;
  config.interrupts.resize(1);
  Result result = small_result();
  LockResult& lock = result.locks[0];
  for (int i = 0; i < 50'000; ++i) lock.wait.record(nanoseconds(1 + i));
  lock.wait.record(seconds(4));
  Wreck& wreck = lock.worst[0];
  wreck.stalls = 123'456;
  wreck.chain.resize(100, wreck.chain[0]);
  for (WreckLink& link : wreck.chain) link.waiters.assign(1000, 12'345);
  lock.worst.resize(5, wreck);
  const std::string table = written(write_table, config, result);
  EXPECT_LE(count_lines(table), 60u);
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(Table, OfARunWithoutLocksHasTheCpuOnly) {
  const std::string table = written(write_table, Config{}, Result{});
  EXPECT_THAT(table, HasSubstr("# duration=1s warmup=0s seed=0 simulated=0s\n"));
  EXPECT_THAT(table, HasSubstr("cpu useful       0.0 %"));
  EXPECT_THAT(table, Not(HasSubstr("lock ")));
}

TEST(Table, OfAnUnusedLockSaysSo) {
  Result result;
  result.locks.resize(1);
  result.locks[0].name = "odd\nname";
  result.locks[0].jain = std::numeric_limits<double>::quiet_NaN();
  const std::string table = written(write_table, Config{}, result);
  EXPECT_THAT(table, HasSubstr("  wait              0         -         -"));
  EXPECT_THAT(table, HasSubstr("train wrecks   none\n"));
  EXPECT_THAT(table, HasSubstr("Jain -,"));
  EXPECT_THAT(table, Not(HasSubstr("nan")));
  EXPECT_THAT(table, Not(HasSubstr("inf")));
  EXPECT_THAT(table, Not(HasSubstr("distribution")));
  EXPECT_THAT(table, Not(HasSubstr("odd\nname")));
}

TEST(Table, OfAStarvedVcpuSaysSo) {
  Result result = small_result();
  result.locks[0].max_min_ratio = std::numeric_limits<double>::infinity();
  EXPECT_THAT(written(write_table, small_config(), result),
              HasSubstr("max/min inf (a vCPU got none), Jain"));
}

TEST(Table, HasASectionForEachLock) {
  Result result = small_result();
  result.locks.push_back(small_lock());
  result.locks[1].name = "cold";
  const std::string table = written(write_table, small_config(), result);
  const auto hot = table.find("\nlock hot: ");
  const auto cold = table.find("\n\nlock cold: ");
  const auto cpu = table.find("\n\ncpu useful");
  ASSERT_NE(cold, std::string::npos);
  ASSERT_NE(cpu, std::string::npos);
  EXPECT_LT(hot, cold);
  EXPECT_LT(cold, cpu);
  EXPECT_EQ(table.find("cpu useful", cpu + 5), std::string::npos);
}

TEST(Table, MarksPercentilesWithFewSamplesBeyond) {
  Result result = small_result();
  LockResult& lock = result.locks[0];
  lock.wait.clear();
  lock.hold.clear();
  lock.handover.clear();
  for (int i = 0; i < 99'999; ++i) lock.wait.record(nanoseconds(5));
  const auto wait_row = [&] {
    const std::string table = written(write_table, small_config(), result);
    const auto start = table.find("  wait ");
    return table.substr(start, table.find('\n', start) - start);
  };
  EXPECT_EQ(std::ranges::count(wait_row(), '*'), 1);
  lock.wait.record(nanoseconds(5));
  EXPECT_EQ(std::ranges::count(wait_row(), '*'), 0);
  EXPECT_THAT(written(write_table, small_config(), result), Not(HasSubstr("fewer than 10")));
}

TEST(Table, CutsLongConfigsShort) {
  Config config = small_config();
  config.partitions.resize(9, config.partitions[0]);
  const std::string table = written(write_table, config, small_result());
  EXPECT_THAT(table, HasSubstr("# more_partitions=5\n"));
}

TEST(Table, EchoesDistributionsAndInterrupts) {
  using Kind = Distribution::Kind;
  Config config = small_config();
  config.hypervisor.background.share = 0.25;
  WorkloadConfig& workload = config.workloads[0];
  workload.critical_section = {.kind = Kind::lognormal, .mean = nanoseconds(500), .shape = 0.5};
  workload.think = {.kind = Kind::uniform, .low = microseconds(1), .high = nanoseconds(2500)};
  workload.block = {.kind = Kind::pareto, .mean = microseconds(2), .shape = 1.5};
  InterruptConfig interrupt;
  interrupt.name = "tick";
  interrupt.interval = Distribution::constant(milliseconds(4));
  interrupt.duration = {.kind = Kind::empirical, .values = {Time{1}, Time{2}}};
  interrupt.lock = "hot";
  config.interrupts = {interrupt};
  const std::string table = written(write_table, config, small_result());
  EXPECT_THAT(table, HasSubstr(" background.share=0.25 background.mean=1ms\n"));
  EXPECT_THAT(table, HasSubstr(" critical_section=lognormal(500ns,sigma=0.5)"
                               " think=uniform(1us,2500ns) block=pareto(2us,alpha=1.5)\n"));
  EXPECT_THAT(table, HasSubstr("# interrupt=hardirq name=tick interval=4ms"
                               " duration=empirical(2 values) lock=hot\n"));
}

std::string log2(const Histogram& histogram) {
  std::ostringstream out;
  write_log2_histogram(out, "hold", histogram);
  return out.str();
}

TEST(Log2Histogram, CountsByPowersOfTwo) {
  Histogram histogram;
  for (const int ns : {0, 1, 1, 2, 4, 5, 6, 7}) histogram.record(nanoseconds(ns));
  EXPECT_EQ(log2(histogram),
            "     hold, nsecs         : count    distribution\n"
            "         0 -> 1          : 3        |******************************          |\n"
            "         2 -> 3          : 1        |**********                              |\n"
            "         4 -> 7          : 4        |****************************************|\n");
}

TEST(Log2Histogram, FoldsTheLowEndWhenRowsAreTooMany) {
  Histogram histogram;
  for (int bit = 0; bit < 30; ++bit) histogram.record(nanoseconds(std::int64_t{1} << bit));
  const std::string text = log2(histogram);
  EXPECT_EQ(count_lines(text), 19u);
  // Bits 0 to 12 share the first row.
  EXPECT_THAT(text, HasSubstr("\n         0 -> 8191       : 13       |"));
  EXPECT_THAT(text, HasSubstr("\n 536870912 -> 1073741823 : 1        |***  "));
}

TEST(Log2Histogram, GoesToMicrosecondsWhereTenDigitsEnd) {
  Histogram histogram;
  histogram.record(nanoseconds(Histogram::kHighestNs));
  EXPECT_EQ(log2(histogram),
            "     hold, usecs         : count    distribution\n"
            "2147483648 -> 4294967295 : 1        |****************************************|\n");
}

}  // namespace
}  // namespace sim
