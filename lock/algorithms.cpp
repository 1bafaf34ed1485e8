#include "lock/algorithms.h"

#include <algorithm>
#include <array>

#include "lock/qspinlock_knobs.h"
#include "lock/simple.h"

namespace lock {
namespace {

template <class Knobs, std::size_t N>
constexpr std::array<Knob, N> describe(const std::array<KnobField<Knobs>, N>& fields) {
  std::array<Knob, N> knobs{};
  for (std::size_t i = 0; i < N; ++i) knobs[i] = fields[i].describe();
  return knobs;
}

constexpr auto kQSpinlockKnobs = describe(kQSpinlockKnobFields);
constexpr auto kSimpleKnobs = describe(kSimpleKnobFields);

constexpr std::array kAlgorithms{
    Algorithm{"qspinlock", "powerpc queued spinlock: steals, queues, confers to preempted vCPUs",
              kQSpinlockKnobs, kStageNames},
    Algorithm{"simple",
              "powerpc test-and-set spinlock that confers to a preempted owner",
              kSimpleKnobs,
              {}},
    Algorithm{"ticket", "ticket lock: strictly FIFO, all waiters poll one word, no yields", {}, {}},
    Algorithm{
        "mcs", "MCS queue lock: strictly FIFO, each waiter polls its own node, no yields", {}, {}},
};

}  // namespace

bool QSpinlockKnobs::set(std::string_view name, std::int64_t value) {
  return set_knob<QSpinlockKnobs>(*this, kQSpinlockKnobFields, name, value);
}

bool SimpleKnobs::set(std::string_view name, std::int64_t value) {
  return set_knob<SimpleKnobs>(*this, kSimpleKnobFields, name, value);
}

std::span<const Algorithm> algorithms() {
  return kAlgorithms;
}

const Algorithm* find_algorithm(std::string_view name) {
  const auto all = algorithms();
  const auto it = std::ranges::find(all, name, &Algorithm::name);
  return it == all.end() ? nullptr : &*it;
}

}  // namespace lock
