// gang and round_robin: order and alignment.
#include <algorithm>

#include "tests/conformance/hypervisor_fixture.h"

namespace hv::test {
namespace {

using What = World::What;

TEST(RoundRobin, IsFirstComeFirstServed) {
  World w({.timeslice = milliseconds(1), .partitions = {partition(2), partition(2)}});
  w.run(milliseconds(50));
  std::vector<std::uint32_t> order;
  for (const World::Event& event : w.history)
    if (event.what == What::dispatched) order.push_back(event.vcpu);
  ASSERT_GT(order.size(), 40u);
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i % 4);
  const auto dispatched = w.times(1, What::dispatched);
  for (std::size_t i = 1; i < dispatched.size(); ++i)
    EXPECT_EQ(dispatched[i] - dispatched[i - 1], 4 * (milliseconds(1) + kSwitch));
}

TEST(RoundRobin, FirstSlicesAreOfRandomLength) {
  World w({.cores = 4, .timeslice = milliseconds(1), .partitions = {partition(8)}});
  w.run(milliseconds(10));
  std::vector<Time> first;
  for (const std::uint32_t id : {0u, 1u, 2u, 3u}) first.push_back(w.times(id, What::preempted)[0]);
  std::sort(first.begin(), first.end());
  EXPECT_EQ(std::adjacent_find(first.begin(), first.end()), first.end());
  EXPECT_LE(first.back(), kSwitch + milliseconds(1));
}

Scenario gang(std::uint32_t cores, std::vector<PartitionConfig> partitions) {
  return {.cores = cores,
          .policy = PolicyKind::gang,
          .timeslice = milliseconds(2),
          .partitions = std::move(partitions)};
}

// Whether two units came within one switch of each other, every time: a seat that nobody else had
// meanwhile costs less than a switch.
void expect_together(const std::vector<Time>& a, const std::vector<Time>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_LE(std::max(a[i], b[i]) - std::min(a[i], b[i]), kSwitch);
}

// All units of a gang are dispatched within one switch, and leave at one instant.
TEST(Gang, AllSeatsSwitchTogether) {
  World w(gang(4, {partition(4), partition(3)}));
  w.run(milliseconds(100));
  for (const Partition& p : w.hv.partitions()) {
    const std::uint32_t first = p.vcpus.front()->id;
    EXPECT_GE(w.times(first, What::dispatched).size(), 24u);
    for (const Vcpu* vcpu : p.vcpus) {
      expect_together(w.times(vcpu->id, What::dispatched), w.times(first, What::dispatched));
      EXPECT_EQ(w.times(vcpu->id, What::preempted), w.times(first, What::preempted));
    }
  }
  // Partitions of one gang each take turns: half each, less the switches.
  EXPECT_NEAR(w.share_of(w.hv.partitions()[0]), 2.0, 0.05);
  EXPECT_NEAR(w.share_of(w.hv.partitions()[1]), 1.5, 0.05);
  // The fourth seat of the smaller gang stays idle.
  EXPECT_NEAR(static_cast<double>(w.machine.account().total(sim::CpuUse::idle).count()), 50e9, 1e9);
}

// Nobody of a gang runs while another gang does.
TEST(Gang, GangsNeverMix) {
  World w(gang(2, {partition(5), partition(2)}));
  w.on_dispatch = [&](Vcpu& vcpu) {
    for (const Vcpu& other : w.hv.vcpus()) {
      if (!w.runs(other.id)) continue;
      EXPECT_EQ(other.partition, vcpu.partition);
      EXPECT_EQ(other.cpu / 2, vcpu.cpu / 2);
    }
  };
  w.run(milliseconds(100));
  for (const Vcpu& vcpu : w.hv.vcpus())
    EXPECT_NEAR(static_cast<double>(w.ran(vcpu.id).count()), 25e9, 2.1e9);
}

TEST(Gang, PinsDecideWhoIsInAGang) {
  // 0 and 2 are both pinned to CPU 0, so they can't be in one gang.
  World w(gang(2, {partition(3, {0, 1})}));
  w.run(milliseconds(50));
  for (const World::Event& event : w.history) EXPECT_EQ(event.thread, event.vcpu == 1 ? 1u : 0u);
  expect_together(w.times(0, What::dispatched), w.times(1, What::dispatched));
  EXPECT_EQ(w.times(0, What::preempted), w.times(1, What::preempted));
  EXPECT_NE(w.times(0, What::preempted), w.times(2, What::preempted));
}

// One gang has the machine for itself: nothing ever switches.
TEST(Gang, AloneItIsNeverPreempted) {
  World w(gang(4, {partition(4)}));
  w.run(milliseconds(100));
  EXPECT_EQ(w.hv.counters().preemptions, 0u);
}

// A seat whose unit sleeps stays idle; a woken unit of the gang in its frame runs at once, one of
// another gang in its next frame.
TEST(Gang, AWokenUnitWaitsForItsGangsFrame) {
  World w(gang(2, {partition(2), partition(2)}));
  for (const std::uint32_t id : {1u, 3u})
    w.body(id, [&](Vcpu& me) {
      w.hv.h_cede(me);
      me.interrupt_pending = false;
    });
  w.at(milliseconds(8) + microseconds(500), [&] {
    ASSERT_TRUE(w.runs(0));
    EXPECT_EQ(w.hv.seats()[1].state, Seat::State::idle);
    w.interrupt(1);
    w.interrupt(3);
  });
  w.run(milliseconds(20));
  const Time woken = milliseconds(8) + microseconds(500);
  // Gangs were each on that seat last by turns, so this is a switch.
  EXPECT_LE(w.times(1, What::dispatched).at(1), woken + kSwitch);
  EXPECT_EQ(w.times(3, What::dispatched).at(1), milliseconds(10) + kSwitch);
}

// A gang of which nobody wants to run has no turn.
TEST(Gang, ASleepingGangIsPassedOver) {
  World w(gang(2, {partition(2), partition(2)}));
  w.idle(0);
  w.idle(1);
  w.run(milliseconds(100));
  EXPECT_NEAR(static_cast<double>(w.ran(2).count()), 100e9, 0.1e9);
}

// A confer to a waiting unit of another gang makes its caller wait for that gang's frame.
TEST(Gang, AConferChangesNoOrder) {
  World w(gang(1, {partition(2), partition(1)}));
  bool back = false;
  w.body(1, [&](Vcpu& me) {
    me.execution.compute(microseconds(10));
    w.hv.h_confer(me, 0, w.count_of(0));
    back = true;
  });
  w.run(milliseconds(20));
  EXPECT_TRUE(back);
  const auto confer = w.times(1, What::conferred).front();
  // The rest of the frame is given up, to the next gang in turn.
  EXPECT_EQ(w.times(2, What::dispatched).front(), confer + kSwitch);
}

}  // namespace
}  // namespace hv::test
