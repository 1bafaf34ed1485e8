// What an event and a switch cost: fibers that wait in virtual time on the engine, the same on bare
// contexts, and the event queue alone.
#include <benchmark/benchmark.h>

#include <boost/context/fiber.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/engine/fiber_stack.h"

namespace {

using Clock = std::chrono::steady_clock;

// Waits of 1 to 4096 ns in an order that no cache or branch predictor learns.
class Waits {
 public:
  explicit Waits(std::uint32_t seed) : state_(seed * 2654435761u + 1) {}
  sim::Time next() {
    state_ = state_ * 1664525u + 1013904223u;
    return sim::nanoseconds(1 + (state_ >> 20));
  }

 private:
  std::uint32_t state_;
};

// Times `measured` waits after `unmeasured` ones, in which every fiber has touched its stack.
class Stopwatch {
 public:
  Stopwatch(std::int64_t unmeasured, std::int64_t measured)
      : begin_(unmeasured), end_(unmeasured + measured) {}
  // One more wait is over. Returns whether it was the last.
  bool lap() {
    ++laps_;
    if (laps_ == begin_) started_ = Clock::now();
    if (laps_ != end_) return laps_ > end_;
    seconds_ = std::chrono::duration<double>(Clock::now() - started_).count();
    return true;
  }
  double seconds() const { return seconds_; }

 private:
  std::int64_t begin_;
  std::int64_t end_;
  std::int64_t laps_ = 0;
  Clock::time_point started_;
  double seconds_ = 0;
};

constexpr std::int64_t kWaits = 400'000;

std::int64_t warm_up(std::int64_t fibers) {
  return 4 * fibers;
}

void report(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * kWaits);
  state.counters["per_wait"] =
      benchmark::Counter(static_cast<double>(kWaits * state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

struct Sleeper final : sim::EventHandler {
  sim::Engine& engine;
  sim::Slot slot;
  explicit Sleeper(sim::Engine& e) : engine(e), slot(e.add_slot(*this)) {}
  bool fire() override { return true; }
};

void EngineWaits(benchmark::State& state) {
  const std::int64_t count = state.range(0);
  for ([[maybe_unused]] auto _ : state) {
    sim::Engine engine;
    Stopwatch watch(warm_up(count), kWaits);
    std::deque<Sleeper> sleepers;
    for (std::int64_t i = 0; i < count; ++i) {
      Sleeper& self = sleepers.emplace_back(engine);
      engine.set_fiber(self.slot, [&engine, &watch, &self] {
        Waits waits(self.slot);
        for (;;) {
          const sim::Time at = engine.now() + waits.next();
          if (!engine.try_advance(self.slot, at)) engine.park_until(self.slot, at);
          if (watch.lap()) engine.stop();
        }
      });
      engine.schedule(self.slot, sim::Time{0});
    }
    engine.run();
    state.SetIterationTime(watch.seconds());
  }
  report(state);
}

// The least that the same waits can cost: no Boost.Fiber, no handlers, no engine. A context picks
// the next one from the queue and jumps to it.
class BareLoop {
 public:
  using Context = boost::context::fiber;

  BareLoop(std::uint32_t count, Stopwatch& watch)
      : watch_(watch), stacks_(std::make_shared<sim::StackPool>(count, sim::Engine::kStackBytes)) {
    for (std::uint32_t i = 0; i < count; ++i) {
      queue_.set(queue_.add_slot(), sim::Time{0});
      contexts_.emplace_back(std::allocator_arg, stacks_, [this, i](Context&& from) {
        *left_ = std::move(from);
        body(i);
        return std::move(main_);
      });
    }
  }
  void run() {
    left_ = &main_;
    Context first = std::move(contexts_[queue_.pop().slot]);
    std::move(first).resume();
  }

 private:
  void body(sim::Slot self) {
    Waits waits(self);
    sim::Time now{0};
    for (;;) {
      const sim::EventKey mine{now + waits.next(), self};
      if (mine < queue_.top()) {
        now = mine.time;
      } else {
        const sim::EventKey next = queue_.exchange_top(mine);
        switch_to(self, next.slot);
        now = mine.time;
      }
      if (watch_.lap()) return;
    }
  }
  void switch_to(sim::Slot self, sim::Slot next) {
    Context target = std::move(contexts_[next]);
    left_ = &contexts_[self];
    Context from = std::move(target).resume();
    *left_ = std::move(from);
  }

  Stopwatch& watch_;
  sim::PooledStackAllocator stacks_;
  sim::EventQueue queue_;
  Context* left_ = nullptr;  // where the context that is being left belongs
  Context main_;
  std::vector<Context> contexts_;
};

void BareContextWaits(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    Stopwatch watch(warm_up(state.range(0)), kWaits);
    BareLoop(static_cast<std::uint32_t>(state.range(0)), watch).run();
    state.SetIterationTime(watch.seconds());
  }
  report(state);
}

// Moves a slot's event, takes the earliest out and puts it back later, as waits and wake-ups do.
void EventQueueSetPop(benchmark::State& state) {
  const auto count = static_cast<sim::Slot>(state.range(0));
  sim::EventQueue queue;
  Waits waits(1);
  for (sim::Slot i = 0; i < count; ++i) queue.set(queue.add_slot(), waits.next());
  for ([[maybe_unused]] auto _ : state) {
    const sim::EventKey key = queue.pop();
    queue.set(key.slot, key.time + waits.next());
  }
  state.SetItemsProcessed(state.iterations());
}

constexpr std::int64_t kFiberCounts[] = {8, 64, 512, 2048, 16384};

void sizes(benchmark::internal::Benchmark* bench) {
  for (const std::int64_t count : kFiberCounts) bench->Arg(count);
}

BENCHMARK(EngineWaits)->Apply(sizes)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BareContextWaits)->Apply(sizes)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(EventQueueSetPop)->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();
