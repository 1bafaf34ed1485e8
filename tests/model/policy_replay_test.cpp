// replay: what the file says happens; what is wrong with a file is said with its line.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "hv/policy/replay_file.h"
#include "tests/conformance/hypervisor_fixture.h"

namespace hv::test {
namespace {

using What = World::What;

class ReplayTest : public testing::Test {
 protected:
  ~ReplayTest() override { std::remove(path_.c_str()); }

  std::string file(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }
  Scenario replay(const std::string& text, std::uint32_t cores,
                  std::vector<PartitionConfig> partitions) {
    return {.cores = cores,
            .policy = PolicyKind::replay,
            .timeslice = milliseconds(1),
            .partitions = std::move(partitions),
            .replay = file(text)};
  }
  // What read_replay says of the text, after the path.
  std::string fault(const std::string& text, const ReplayBounds& bounds = {4, 8}) {
    try {
      read_replay(file(text), bounds);
    } catch (const std::invalid_argument& error) {
      const std::string what = error.what();
      EXPECT_EQ(what.find(path_), 0u);
      return what.substr(path_.size());
    }
    return "";
  }

  const std::string path_ = testing::TempDir() + "replay_" + std::to_string(getpid()) + ".csv";
};

TEST_F(ReplayTest, FollowsTheFile) {
  World w(
      replay("time_ns,pcpu,vcpu\n"
             "0,0,0\n"
             "0,1,1   # both halves\n"
             "\n"
             "1000000,0,2\n"
             "2000000,0,-\n"
             "2500000,1,0\n"
             "3000000,0,1\n",
             2, {partition(3)}));
  w.run(milliseconds(10));
  const std::vector<Time> none;
  EXPECT_EQ(w.times(0, What::dispatched),
            (std::vector<Time>{kSwitch, microseconds(2500) + kSwitch}));
  EXPECT_EQ(w.times(0, What::preempted), (std::vector<Time>{milliseconds(1)}));
  EXPECT_EQ(w.times(2, What::dispatched), (std::vector<Time>{milliseconds(1) + kSwitch}));
  EXPECT_EQ(w.times(2, What::preempted), (std::vector<Time>{milliseconds(2)}));
  EXPECT_EQ(w.times(1, What::preempted), (std::vector<Time>{microseconds(2500)}));
  EXPECT_EQ(w.times(1, What::dispatched), (std::vector<Time>{kSwitch, milliseconds(3) + kSwitch}));
  // The last assignment stays.
  EXPECT_TRUE(w.runs(0));
  EXPECT_TRUE(w.runs(1));
  EXPECT_EQ(w.history.back().thread, 0u);
}

TEST_F(ReplayTest, AVcpuThatIsGivenToAnotherCpuMoves_AndTwoMaySwap) {
  World w(replay("0,0,0\n0,1,1\n1000000,1,0\n2000000,0,1\n3000000,0,0\n3000000,1,1\n", 2,
                 {partition(2)}));
  w.at(microseconds(1500), [&] {
    EXPECT_EQ(w.hv.seats()[0].state, Seat::State::idle);
    EXPECT_EQ(w.vcpu(0).execution.thread(), 1u);
    EXPECT_FALSE(w.runs(1));
  });
  w.at(microseconds(2500), [&] { EXPECT_EQ(w.vcpu(1).execution.thread(), 0u); });
  w.run(milliseconds(4));
  EXPECT_EQ(w.vcpu(0).execution.thread(), 0u);
  EXPECT_EQ(w.vcpu(1).execution.thread(), 1u);
}

TEST_F(ReplayTest, AVcpuThatIsNotReadyLeavesItsCpuIdle) {
  World w(replay("0,0,0\n5000000,0,1\n", 1, {partition(2)}));
  w.body(0, [&](Vcpu& me) {
    me.execution.compute(microseconds(100));
    w.hv.h_cede(me);
    me.interrupt_pending = false;
    w.hv.h_confer(me, 1, w.count_of(1));  // its target's turn comes at 5 ms
  });
  w.at(milliseconds(1), [&] {
    EXPECT_EQ(w.hv.seats()[0].state, Seat::State::idle);
    w.interrupt(0);
  });
  w.at(milliseconds(4), [&] {
    EXPECT_EQ(w.vcpu(0).state, VcpuState::conferred);
    EXPECT_EQ(w.hv.seats()[0].state, Seat::State::idle);
  });
  w.run(milliseconds(6));
  EXPECT_EQ(w.times(0, What::dispatched).at(1), milliseconds(1) + kHcall);
  EXPECT_EQ(w.times(1, What::dispatched).at(0), milliseconds(5) + kSwitch);
  EXPECT_EQ(w.vcpu(0).state, VcpuState::ready);
}

TEST_F(ReplayTest, WithGranularityCoreTheNumbersAreCores) {
  Scenario setup = replay("0,1,1\n", 2, {partition(4)});
  setup.threads = 2;
  setup.granularity = Granularity::core;
  World w(setup);
  w.run(milliseconds(1));
  EXPECT_FALSE(w.runs(0) || w.runs(1));
  EXPECT_EQ(w.vcpu(2).execution.thread(), 2u);
  EXPECT_EQ(w.vcpu(3).execution.thread(), 3u);
}

TEST_F(ReplayTest, ReadsStepsWithTheirLines) {
  const auto steps = read_replay(file("# recorded\r\n 5 , 1 , - \r\n7,0,3"));
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].at, nanoseconds(5));
  EXPECT_EQ(steps[0].pcpu, 1u);
  EXPECT_FALSE(steps[0].vcpu.has_value());
  EXPECT_EQ(steps[0].line, 2u);
  EXPECT_EQ(steps[1].vcpu, 3u);
  EXPECT_EQ(steps[1].line, 3u);
}

TEST_F(ReplayTest, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(fault(""), ":0: holds no schedule; allowed: lines of time_ns,pcpu,vcpu");
  EXPECT_EQ(fault("# nothing\n"), ":1: holds no schedule; allowed: lines of time_ns,pcpu,vcpu");
  EXPECT_EQ(fault("0,0\n"), ":1: needs three columns: time_ns,pcpu,vcpu");
  EXPECT_EQ(fault("0,0,0,0\n"), ":1: needs three columns: time_ns,pcpu,vcpu");
  EXPECT_EQ(fault("0,0,0\ntime_ns,pcpu,vcpu\n"),
            ":2: time_ns is \"time_ns\"; allowed: 0 to 9223372036854774");
  EXPECT_EQ(fault("-1,0,0\n"), ":1: time_ns is \"-1\"; allowed: 0 to 9223372036854774");
  EXPECT_EQ(fault("1.5,0,0\n"), ":1: time_ns is \"1.5\"; allowed: 0 to 9223372036854774");
  EXPECT_EQ(fault("99999999999999999999,0,0\n"),
            ":1: time_ns is \"99999999999999999999\"; allowed: 0 to 9223372036854774");
  EXPECT_EQ(fault("0,4,0\n"), ":1: pcpu is \"4\"; allowed: 0 to 3");
  EXPECT_EQ(fault("0,-,0\n"), ":1: pcpu is \"-\"; allowed: 0 to 3");
  EXPECT_EQ(fault("0,,0\n"), ":1: pcpu is \"\"; allowed: 0 to 3");
  EXPECT_EQ(fault("0,0,8\n"), ":1: vcpu is \"8\"; allowed: 0 to 7, or -");
  EXPECT_EQ(fault("0,0,x\n"), ":1: vcpu is \"x\"; allowed: 0 to 7, or -");
  EXPECT_EQ(fault("5,0,0\n4,0,1\n"), ":2: goes back in time; allowed: 5 or later");
  EXPECT_EQ(fault("5,0,0\n5,0,1\n"),
            ":2: pcpu 0 has a vcpu at this time in line 1; allowed: one line each");
  EXPECT_EQ(fault("5,0,2\n5,1,2\n"),
            ":2: vcpu 2 is elsewhere at this time in line 1; allowed: one pcpu each");
  EXPECT_EQ(fault("5,0,2\n6,1,2\n6,0,-\n"), "");
  EXPECT_THROW(read_replay("/nowhere/at/all.csv"), std::invalid_argument);
}

TEST_F(ReplayTest, AFileThatDoesNotFitTheMachineIsRejectedAtTheStart) {
  for (const char* text : {"0,1,0\n", "0,0,2\n", "0,0,1\n"}) {
    World w(replay(text, text[2] == '1' ? 1 : 2, {partition(2, {0, 1})}));
    EXPECT_THROW(w.hv.start(), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace hv::test
