// What the README says of the shipped configs, as inequalities that the mechanisms must produce.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "sim/config/reader.h"
#include "sim/guest/simulation.h"

namespace sim {
namespace {

Result run(const std::string& config, const std::vector<std::string>& settings) {
  std::vector<Override> overrides;
  for (const std::string& setting : settings) overrides.push_back({.text = setting});
  return simulate(read_config(std::string(std::getenv("CONFIGS")) + "/" + config, overrides));
}

double acquisitions(const Result& result) {
  return static_cast<double>(result.locks.at(0).acquisitions);
}

const std::string kShort = "duration=200ms";

TEST(Showcase, AStrictlyFifoLockWrecksAtFourTimesOversubscription) {
  const Result fifo = run("train-wreck.toml", {kShort, "lock.hot.algorithm=mcs"});
  const Result paravirt = run("train-wreck.toml", {kShort});
  EXPECT_GT(acquisitions(paravirt), 10 * acquisitions(fifo));

  const LockResult& lock = fifo.locks.at(0);
  ASSERT_GE(lock.wrecks, 1u);
  EXPECT_GE(lock.wreck_longest_chain, 10u);
  ASSERT_FALSE(lock.worst.empty());
  for (const WreckLink& link : lock.worst.front().chain) {
    EXPECT_LT(link.vcpu, 64u);
    EXPECT_FALSE(link.waiters.empty());
    EXPECT_GT(link.cost, Time{0});
  }
  // Nobody does any work while the queue waits for a preempted vCPU.
  EXPECT_GT(fifo.cpu.spin, 10 * fifo.cpu.useful);
  EXPECT_GT(paravirt.cpu.useful, 10 * paravirt.cpu.spin);
}

TEST(Showcase, TheYieldsAreWhatSavesTheQueue) {
  const Result with = run("train-wreck.toml", {kShort});
  const Result without = run("train-wreck.toml", {kShort, "lock.hot.knobs.pv_yield_owner=false",
                                                  "lock.hot.knobs.pv_yield_prev=false",
                                                  "lock.hot.knobs.pv_yield_sleepy_owner=false"});
  EXPECT_GT(acquisitions(with), 1.5 * acquisitions(without));
  EXPECT_EQ(without.hypervisor.confer_directed, 0u);
}

TEST(Showcase, EachYieldRungOfTheLadderHelps) {
  const auto at = [](const char* stage) {
    return acquisitions(
        run("overcommit-4x.toml", {kShort, std::string("lock.hot.stage=") + stage}));
  };
  const double queue = at("llsc"), steal = at("steal"), prev = at("yield_prev");
  EXPECT_GT(steal, 5 * queue);
  EXPECT_GT(prev, 2 * steal);
  EXPECT_GE(at("yield_owner"), steal);
  EXPECT_GT(at("current"), 0.95 * prev);
}

TEST(Showcase, WithoutOversubscriptionQueuesAreAlikeAndTheSimpleWordFallsBehind) {
  const auto at = [](const char* lock, int vcpus) {
    return run("baremetal.toml", {"duration=50ms", std::string("lock.hot.algorithm=") + lock,
                                  "partition.guest.vcpus=" + std::to_string(vcpus)});
  };
  const Result queued = at("qspinlock", 64), fifo = at("mcs", 64), word = at("simple", 64);
  EXPECT_NEAR(acquisitions(queued) / acquisitions(fifo), 1.0, 0.03);
  EXPECT_LT(acquisitions(word), 0.98 * acquisitions(queued));
  EXPECT_LT(acquisitions(word), 0.98 * acquisitions(fifo));
  // Line transfers alone: nobody is preempted, nobody enters the hypervisor after the start.
  for (const Result* result : {&queued, &fifo, &word}) {
    EXPECT_EQ(result->hypervisor.preemptions, 0u);
    EXPECT_EQ(result->locks.at(0).stalls, 0u);
  }
  // The simple word's waits grow with the number of CPUs, and faster than a queue's.
  const auto growth = [&](const char* lock, const Result& many) {
    return many.locks.at(0).wait.mean_ns() / at(lock, 2).locks.at(0).wait.mean_ns();
  };
  const double of_the_word = growth("simple", word);
  EXPECT_GT(of_the_word, 1.1 * growth("qspinlock", queued));
  EXPECT_GT(of_the_word, 1.1 * growth("mcs", fifo));
  // With two CPUs all three cost the same.
  const double two = acquisitions(at("qspinlock", 2));
  EXPECT_NEAR(acquisitions(at("mcs", 2)) / two, 1.0, 0.02);
  EXPECT_NEAR(acquisitions(at("simple", 2)) / two, 1.0, 0.02);
}

TEST(Showcase, ANeighbourTakesTimeFromAGuestThatIsNotOversubscribedItself) {
  const Result alone = run("noisy-neighbour.toml",
                           {kShort, "partition.noisy.vcpus=1", "partition.noisy.entitlement=0.1",
                            "partition.guest.entitlement=15.0"});
  const Result beside = run("noisy-neighbour.toml", {kShort});
  EXPECT_GT(acquisitions(alone), 1.3 * acquisitions(beside));
  EXPECT_GT(beside.hypervisor.steal, 2 * alone.hypervisor.steal);
}

}  // namespace
}  // namespace sim
