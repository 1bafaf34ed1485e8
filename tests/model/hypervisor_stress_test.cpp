// Random hypercalls on every policy and granularity: whatever happens, the books must balance.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "sim/engine/random.h"
#include "tests/conformance/hypervisor_fixture.h"

namespace hv::test {
namespace {

using What = World::What;

constexpr Time kChaos = milliseconds(40);  // random calls until then
constexpr Time kEnd = milliseconds(80);    // everybody only wants to run until then
constexpr std::uint32_t kVcpus = 13;
constexpr std::uint32_t kThreads = 4;

struct Case {
  PolicyKind policy;
  Granularity granularity;
  std::uint64_t seed;
};

class HypervisorStress : public testing::TestWithParam<Case> {
 protected:
  ~HypervisorStress() override { std::remove(path_.c_str()); }

  Scenario scenario() {
    const Case& c = GetParam();
    const bool whole_cores = c.granularity == Granularity::core;
    Scenario s;
    s.cores = 2;
    s.threads = 2;
    s.granularity = c.granularity;
    s.policy = c.policy;
    s.timeslice = microseconds(200);
    s.wakeup_granularity = microseconds(20);
    s.seed = c.seed;
    // Every unit can be dispatched: pins cover both seats of a machine of whole cores, too.
    s.partitions = {partition(6), partition(3, {1, 0}), partition(4)};
    s.prod_memory = c.seed % 2 == 0 ? ProdMemory::until_cede : ProdMemory::until_dispatch;
    s.confer_all_waits_for_ceded = c.seed % 3 == 0;
    if (c.seed % 3 != 1) s.background = {.share = 0.15, .mean = microseconds(60)};
    if (c.policy == PolicyKind::replay) s.replay = schedule(whole_cores ? 2 : 4, whole_cores);
    return s;
  }

  // A random schedule that doesn't use the pinned partition.
  std::string schedule(std::uint32_t seats, bool whole_cores) {
    sim::Random random(GetParam().seed, "schedule");
    const std::uint32_t free = whole_cores ? 3 : 6;
    std::ofstream file(path_);
    std::int64_t at = 0;
    for (int i = 0; i < 2000; ++i) {
      at += 1 + static_cast<std::int64_t>(random.below(40'000));
      file << at << ',' << random.below(seats) << ',';
      if (random.below(6) == 0) {
        file << "-\n";
      } else {
        file << random.below(free) << '\n';
      }
    }
    return path_;
  }

  // One random call of the vCPU.
  static void act(World& w, Vcpu& me, sim::Random& random) {
    const auto others = static_cast<std::uint64_t>(me.partition->vcpus.size());
    const auto target = static_cast<std::int32_t>(random.below(others));
    const Vcpu& other = *me.partition->vcpus[static_cast<std::size_t>(target)];
    me.interrupt_pending = false;
    // CPU 0 can always be woken by an interrupt, and then wakes the others.
    me.interrupts_enabled = me.cpu == 0 || random.below(4) != 0;
    switch (random.below(8)) {
      case 0:
      case 1:
        w.hv.h_prod(me, target);
        break;
      case 2:
        w.hv.h_cede(me);
        break;
      case 3:
      case 4:
        w.hv.h_confer(me, target, other.vpa->yield_count);
        break;
      case 5:
        w.hv.h_confer(me, target, static_cast<std::uint32_t>(random.below(50)));
        break;
      case 6:
        w.hv.h_confer(me, kAllProcessors, 0);
        break;
      default:
        w.hv.h_prod(me, static_cast<std::int32_t>(random.below(9)) - 1);
    }
    me.execution.compute(nanoseconds(static_cast<std::int64_t>(random.below(20'000))));
  }

  static bool fills_every_seat(PolicyKind policy) {
    return policy == PolicyKind::round_robin || policy == PolicyKind::fair ||
           policy == PolicyKind::dispatch_wheel;
  }

  static void check(World& w) {
    for (Seat& seat : w.hv.seats()) {
      const bool occupied =
          seat.state == Seat::State::switching || seat.state == Seat::State::running;
      ASSERT_EQ(occupied, seat.unit != nullptr);
      ASSERT_TRUE(!occupied || seat.unit->seat == &seat);
      if (seat.state != Seat::State::idle || !fills_every_seat(w.hv.config().policy)) continue;
      for (const Unit& unit : w.hv.units()) ASSERT_FALSE(unit.queued && unit.may_run_on(seat));
    }
    for (const Unit& unit : w.hv.units()) {
      ASSERT_TRUE(unit.seat == nullptr || unit.seat->unit == &unit);
      ASSERT_EQ(unit.queued, unit.runnable() && unit.seat == nullptr);
      ASSERT_TRUE(unit.seat == nullptr || unit.may_run_on(*unit.seat));
    }
    std::vector<int> vcpus_on(kThreads);
    for (const Vcpu& vcpu : w.hv.vcpus()) {
      const bool runs = vcpu.state == VcpuState::running;
      ASSERT_EQ(runs, vcpu.execution.attached());
      ASSERT_EQ(runs, vcpu.vpa->yield_count % 2 == 0);
      ASSERT_TRUE(!runs || ++vcpus_on[vcpu.execution.thread()] == 1);
      ASSERT_FALSE(vcpu.state == VcpuState::ceded && (vcpu.prodded || vcpu.interrupt_pending));
      ASSERT_FALSE(vcpu.state == VcpuState::conferred && vcpu.interrupts_enabled &&
                   vcpu.interrupt_pending);
      ASSERT_TRUE(vcpu.state == VcpuState::conferred ||
                  (vcpu.confer_waits == 0 && !vcpu.conferred_to_all));
    }
  }

  const std::string path_ = testing::TempDir() + "stress_" + std::to_string(getpid()) + ".csv";
};

TEST_P(HypervisorStress, TheBooksBalance) {
  World w(scenario());
  ASSERT_EQ(w.hv.vcpus().size(), kVcpus);
  std::uint64_t actions = 0;
  for (Vcpu& vcpu : w.hv.vcpus())
    w.body(vcpu.id, [&](Vcpu& me) {
      sim::Random random(GetParam().seed, "actions", me.id);
      while (w.now() < kChaos) {
        act(w, me, random);
        ++actions;
      }
      // Everybody up. More than once: whoever was prodded on its way to sleep may have forgotten.
      for (;;) {
        for (std::size_t i = 0; me.cpu == 0 && i < me.partition->vcpus.size(); ++i)
          w.hv.h_prod(me, static_cast<std::int32_t>(i));
        me.execution.compute(milliseconds(1));
      }
    });
  sim::Random random(GetParam().seed, "interrupts");
  for (Time at = microseconds(15); at < kChaos; at += microseconds(15)) {
    const auto id = static_cast<std::uint32_t>(random.below(kVcpus));
    w.at(at, [&w, id] {
      w.interrupt(id);
      check(w);
    });
  }
  for (std::uint32_t id = 0; id < kVcpus; ++id) w.at(kChaos, [&w, id] { w.interrupt(id); });
  for (Time at = kChaos; at < kEnd; at += microseconds(500)) w.at(at, [&w] { check(w); });

  Time waited{};
  std::vector<Time> last(kVcpus);
  w.on_dispatch = [&](Vcpu& vcpu) {
    waited += w.now() - vcpu.ready_since;
    last[vcpu.id] = w.now();
  };
  w.run(kEnd);
  EXPECT_GT(actions, 1000u);

  // Every picosecond of every hardware thread is accounted for, and work is done only by
  // dispatched vCPUs.
  const auto total = [&](sim::CpuUse use) { return w.machine.account().total(use); };
  Time sum{}, ran{};
  for (std::size_t use = 0; use < sim::kCpuUses; ++use) sum += total(static_cast<sim::CpuUse>(use));
  EXPECT_EQ(sum, kEnd * kThreads);
  for (std::uint32_t id = 0; id < kVcpus; ++id) ran += w.ran(id);
  EXPECT_LE(total(sim::CpuUse::useful), ran);
  EXPECT_LE(ran, total(sim::CpuUse::useful) + total(sim::CpuUse::hypervisor));

  std::vector<std::uint32_t> changes(kVcpus, 1);
  std::uint64_t dispatches = 0, preemptions = 0;
  for (const World::Event& event : w.history) {
    ++changes[event.vcpu];
    if (event.what == What::dispatched) ++dispatches;
    if (event.what == What::preempted) ++preemptions;
  }
  for (std::uint32_t id = 0; id < kVcpus; ++id) EXPECT_EQ(w.count_of(id), changes[id]);
  EXPECT_EQ(w.hv.counters().dispatches, dispatches);
  EXPECT_EQ(w.hv.counters().preemptions, preemptions);
  for (const Vcpu& vcpu : w.hv.vcpus())
    if (vcpu.state == VcpuState::ready) waited += w.now() - vcpu.ready_since;
  EXPECT_EQ(w.hv.counters().steal, waited);

  if (GetParam().policy == PolicyKind::replay) return;  // nothing runs that the file doesn't say
  for (const Vcpu& vcpu : w.hv.vcpus()) {
    EXPECT_TRUE(vcpu.state == VcpuState::ready || vcpu.state == VcpuState::running) << vcpu.id;
    EXPECT_GT(last[vcpu.id], kChaos) << vcpu.id;
  }
}

// Equal seeds, equal stories.
TEST_P(HypervisorStress, IsRepeatable) {
  const auto story = [this] {
    World w(scenario());
    for (Vcpu& vcpu : w.hv.vcpus())
      w.body(vcpu.id, [&](Vcpu& me) {
        sim::Random random(GetParam().seed, "actions", me.id);
        for (;;) act(w, me, random);
      });
    for (int i = 1; i < 100; ++i)
      w.at(microseconds(50 * i), [&w, i] { w.interrupt(static_cast<std::uint32_t>(i) % kVcpus); });
    w.run(milliseconds(5));
    std::vector<std::int64_t> result;
    for (const World::Event& event : w.history) {
      result.push_back(event.at.count());
      result.push_back(event.vcpu);
      result.push_back(event.thread);
    }
    return result;
  };
  EXPECT_EQ(story(), story());
}

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const PolicyKind policy : {PolicyKind::dispatch_wheel, PolicyKind::fair,
                                  PolicyKind::round_robin, PolicyKind::gang, PolicyKind::replay})
    for (const Granularity granularity : {Granularity::thread, Granularity::core})
      for (std::uint64_t seed = 1; seed <= 15; ++seed)
        result.push_back({policy, granularity, seed});
  return result;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  static constexpr const char* kPolicies[] = {"wheel", "fair", "round_robin", "gang", "replay"};
  const Case& c = info.param;
  return std::string(kPolicies[static_cast<std::size_t>(c.policy)]) +
         (c.granularity == Granularity::core ? "_core_" : "_thread_") + std::to_string(c.seed);
}

INSTANTIATE_TEST_SUITE_P(All, HypervisorStress, testing::ValuesIn(cases()), name_of);

}  // namespace
}  // namespace hv::test
