// Random configs that the reader takes: every setting of the simulator, within bounds that keep a
// run without fast-forward short.
#pragma once

#include <cstdint>

#include "sim/guest/simulation_config.h"

namespace sim {

// A pure function of the number. Policies, algorithms, stages and knobs come from the tables of
// hv/ and lock/, so new ones are drawn without a change here. Throws ConfigError for the odd one
// that the reader refuses.
Config random_config(std::uint64_t number);

}  // namespace sim
