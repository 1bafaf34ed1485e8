// Whole runs: what a hand-over, an event and a vCPU cost, and what skipping spin turns saves.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "lock/algorithms.h"
#include "lock/platform.h"
#include "sim/config/reader.h"
#include "sim/guest/simulation.h"

namespace {

using Sets = std::vector<std::string>;

std::vector<sim::Override> overrides_of(const Sets& sets) {
  std::vector<sim::Override> overrides;
  for (const std::string& set : sets) overrides.push_back({.text = set});
  return overrides;
}

sim::Config shipped(const std::string& name, const Sets& sets) {
  const char* folder = std::getenv("CONFIGS");
  return sim::read_config(std::string(folder == nullptr ? "configs" : folder) + "/" + name,
                          overrides_of(sets));
}

// One vCPU for each hardware thread of a machine with 16 sockets, and one lock.
sim::Config one_each(std::uint32_t cores, const Sets& sets) {
  const std::string text = R"(
[machine]
profile = "power9"
sockets = 16
threads = 8
[hypervisor]
policy = "round_robin"
[[partition]]
name = "guest"
[[lock]]
name = "hot"
[[workload]]
think = { dist = "exponential", mean = "100us" }
)";
  Sets all = sets;
  all.push_back("machine.cores=" + std::to_string(cores));
  all.push_back("partition.guest.vcpus=" + std::to_string(cores * 128));
  return sim::parse_config(text, "bench.toml", overrides_of(all));
}

// Sums over the iterations of one benchmark.
struct Work {
  std::uint64_t events = 0;
  std::uint64_t handovers = 0;
  std::uint64_t acquisitions = 0;
  std::uint64_t queued = 0;
  std::uint64_t turns = 0;

  void add(const sim::Result& result) {
    events += result.engine.events;
    turns += result.engine.iterations;
    for (const sim::LockResult& lock : result.locks) {
      handovers += lock.handover.count();
      acquisitions += lock.acquisitions;
      queued += lock.paths[static_cast<std::size_t>(lock::Path::queued)];
    }
  }
  void report(benchmark::State& state) const {
    const auto rate = [](std::uint64_t count) {
      return benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsRate);
    };
    state.counters["events"] = rate(events);
    state.counters["handovers"] = rate(handovers);
    state.counters["turns"] = rate(turns);
    state.counters["queued_share"] =
        acquisitions == 0 ? 0 : static_cast<double>(queued) / static_cast<double>(acquisitions);
  }
};

void run(benchmark::State& state, const sim::Config& config) {
  Work work;
  for ([[maybe_unused]] auto _ : state) work.add(sim::simulate(config));
  work.report(state);
}

// 64 vCPUs on as many hardware threads, and a lock that is never free. qspinlock goes straight to
// its queue; the others have one way only. Without any thought the threads of one core would keep
// the lock among themselves, and no hand-over would leave it.
void Handovers(benchmark::State& state, const std::string& algorithm) {
  Sets sets{"duration=20ms", "run.warmup=1ms", "workload.0.think=5us",
            "lock.hot.algorithm=" + algorithm};
  if (algorithm == "qspinlock") {
    sets.emplace_back("lock.hot.knobs.steal_spins=0");
    sets.emplace_back("lock.hot.knobs.try_lock_steal=false");
  }
  run(state, shipped("baremetal.toml", sets));
}

void Overcommit4x(benchmark::State& state) {
  run(state, shipped("overcommit-4x.toml", {}));
}

// Thinks long enough for the lock's line to keep up: the cost of hand-overs across a big machine,
// not of a storm on one word.
void Vcpus1536(benchmark::State& state) {
  run(state, one_each(12, {"duration=5ms", "run.warmup=5ms", "workload.0.think.mean=2ms"}));
}

// Eight vCPUs a hardware thread, and a waiter that is missed for milliseconds.
void SpinTurns(benchmark::State& state, const std::string& algorithm, bool skipped) {
  sim::Config config = shipped(
      "overcommit-8x.toml", {"duration=20ms", "run.warmup=5ms", "lock.hot.algorithm=" + algorithm});
  config.fast_forward = skipped;
  run(state, config);
}

// From config to the end of a run too short for anything to happen.
void StartUp(benchmark::State& state) {
  const auto cores = static_cast<std::uint32_t>(state.range(0) / 128);
  const sim::Config config = one_each(cores, {"duration=1ns"});
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(sim::simulate(config));
  state.counters["per_vcpu"] =
      benchmark::Counter(static_cast<double>(state.range(0) * state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

double resident_bytes() {
  long size = 0;
  long resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Resident memory that a run adds, at its end, when every vCPU has taken the lock or waits for it.
void Memory(benchmark::State& state) {
  const auto cores = static_cast<std::uint32_t>(state.range(0) / 128);
  const sim::Config config = one_each(cores, {"duration=1ms"});
  double most = 0;
  for ([[maybe_unused]] auto _ : state) {
    malloc_trim(0);  // what an earlier run has freed is none of this one's
    const double before = resident_bytes();
    const auto look = [&](sim::Time, sim::Time) {
      most = std::max(most, resident_bytes() - before);
    };
    benchmark::DoNotOptimize(sim::simulate(config, {.progress = look}));
  }
  state.counters["bytes_per_vcpu"] = most / static_cast<double>(state.range(0));
}

BENCHMARK(Overcommit4x)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(Vcpus1536)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(SpinTurns, qspinlock_skipped, "qspinlock", true)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(SpinTurns, qspinlock_each, "qspinlock", false)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(SpinTurns, mcs_skipped, "mcs", true)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(SpinTurns, mcs_each, "mcs", false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(StartUp)->Arg(1536)->Arg(16384)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(Memory)->Arg(1536)->Arg(16384)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

int main(int argc, char** argv) {
  for (const lock::Algorithm& algorithm : lock::algorithms()) {
    const std::string name(algorithm.name);
    benchmark::RegisterBenchmark(("Handovers/" + name).c_str(), Handovers, name)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
