#include "lock/algorithms.h"

#include <algorithm>
#include <array>

namespace lock {
namespace {

constexpr auto kBool = Knob::Type::boolean;
constexpr auto kInt = Knob::Type::integer;

constexpr std::array kQspinlockKnobs{
    Knob{"steal_spins", kInt, 32, 0, 1 << 30, "steal-loop iterations; 0: no stealing"},
    Knob{"head_spins", kInt, 256, 0, 1 << 30, "head iterations before it forbids stealing"},
    Knob{"pv_yield_owner", kBool, 1, 0, 1, "yield to a preempted owner"},
    Knob{"pv_yield_prev", kBool, 1, 0, 1, "a queued waiter yields to a preempted predecessor"},
};
constexpr std::array<std::string_view, 3> kQspinlockStages{"mcs_queue", "steal", "current"};

constexpr std::array kAlgorithms{
    Algorithm{"qspinlock", "powerpc queued spinlock with stealing and owner yield", kQspinlockKnobs,
              kQspinlockStages},
    Algorithm{"simple", "powerpc simple spinlock with the owner in the word", {}, {}},
    Algorithm{"ticket", "ticket lock", {}, {}},
    Algorithm{"mcs", "MCS queue lock", {}, {}},
};

}  // namespace

std::span<const Algorithm> algorithms() {
  return kAlgorithms;
}

const Algorithm* find_algorithm(std::string_view name) {
  const auto all = algorithms();
  const auto it = std::ranges::find(all, name, &Algorithm::name);
  return it == all.end() ? nullptr : &*it;
}

}  // namespace lock
