// Budgets: a lock must do the same at the same turns whether the platform lets turns pass one by
// one or as many at once as the lock allows. Random scripts, every stage, random knobs.
#include <random>

#include "tests/conformance/qspinlock_rig.h"
#include "tests/conformance/stages.h"

namespace test {
namespace {

struct Story {
  Path path;
  std::vector<std::string> acts;  // all that others could see, each with its turn
};

class Script {
 public:
  Script(Stage stage, unsigned seed, bool skip) : rig_(stage), random_(seed) {
    rig_.p.skip = skip;
    choose_knobs();
    rig_.held_by(one_of(kOwner, 5), chance(4) ? qword::kSleepy : 0);
    rig_.p.nodes[kOwner] = random_() % 2;
    rig_.p.shared = !chance(8);
    if (stage != Stage::simple_word && chance(2)) rig_.queue_prev();
    std::uint64_t turn = 0;
    for (int i = 0; i < 40; ++i) {
      turn += 1 + random_() % 60;
      const auto act = static_cast<unsigned>(random_());
      rig_.p.at_turn(turn, [this, act] { disturb(act); });
    }
    rig_.p.at_turn(turn + 1, [this] { finish(); });
  }

  Story run() {
    Story story{};
    rig_.p.before = [&](const std::string& line) {
      if (line.starts_with("confer ")) rig_.preempt(static_cast<CpuId>(line[7] - '0'), false);
      if (line.starts_with("note queued")) queued_ = true;
      for (const char* const seen :
           {"store", "update", "cas ", "confer", "prod", "note", "begin"}) {
        if (line.starts_with(seen)) acted(story, line);
      }
    };
    story.path = rig_.lock.lock(rig_.p);
    return story;
  }

 private:
  void acted(Story& story, const std::string& line) const {
    story.acts.push_back(line + joined(" at ", std::to_string(rig_.p.turns)));
  }
  bool chance(unsigned in) { return random_() % in == 0; }
  CpuId one_of(CpuId a, CpuId b) { return chance(2) ? a : b; }

  void choose_knobs() {
    auto& k = rig_.knobs;
    k.steal_spins = random_() % 40;
    k.remote_steal_spins = random_() % 10;
    k.head_spins = random_() % 200;
    k.pv_sleepy_lock_factor = 1 + random_() % 5;
    k.pv_sleepy_lock_interval_ns = chance(2) ? 0 : 50;
    if (chance(3)) rig_.areas[kMe].sleepy_seen_ns = 10;
    for (bool* const flag :
         {&k.try_lock_steal, &k.pv_yield_owner, &k.pv_sleepy_lock, &k.pv_yield_prev,
          &k.pv_yield_propagate_owner, &k.pv_yield_sleepy_owner}) {
      *flag = !chance(4);
    }
    for (bool* const flag : {&k.pv_yield_allow_steal, &k.pv_spin_on_preempted_owner,
                             &k.pv_sleepy_lock_sticky, &k.pv_prod_head}) {
      *flag = chance(2);
    }
  }

  // One change by another CPU or the hypervisor, such as the word's rules allow.
  void disturb(unsigned act) {
    const CpuId cpu = 2 + (act >> 8) % 4;
    std::uint32_t& word = rig_.word();
    const bool stealable = !qword::must_queue(word) && rig_.lock.strict_fifo() == false;
    switch (act % 8) {
      case 0:
        rig_.p.counts[cpu] += 1;
        break;
      case 1:
        rig_.p.preempted[cpu] = !rig_.p.preempted[cpu];
        break;
      case 2:
        rig_.preempt(cpu);
        break;
      case 3:
        if (qword::is_locked(word) && stealable) rig_.held_by(one_of_two(act));
        break;
      case 4:
        if (qword::is_locked(word)) word |= qword::kSleepy;
        break;
      case 5:
        if (queued_) rig_.mine().sleepy.value = 1;
        break;
      case 6:
        if (queued_) rig_.mine().yield_cpu.value = static_cast<std::int16_t>(cpu);
        break;
      default:
        rig_.p.now += 30;
        if (queued_ && rig_.mine().next.value == nullptr) rig_.queue_next();
    }
  }
  static CpuId one_of_two(unsigned act) { return (act >> 12) % 2 == 0 ? kOwner : 5; }

  void finish() {
    rig_.release();
    rig_.hand_me_the_head();
  }

  Rig rig_;
  std::mt19937 random_;
  bool queued_ = false;
};

class QSpinlockBudget : public testing::TestWithParam<Stage> {};
INSTANTIATE_TEST_SUITE_P(, QSpinlockBudget, testing::ValuesIn(stages()), stage_param);

TEST_P(QSpinlockBudget, ManyTurnsAtOnceTellTheSameStoryAsOneByOne) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    const Story slow = Script(GetParam(), seed, false).run();
    const Story fast = Script(GetParam(), seed, true).run();
    ASSERT_EQ(slow.path, fast.path);
    ASSERT_EQ(slow.acts, fast.acts);
  }
}

}  // namespace
}  // namespace test
