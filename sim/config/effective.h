// The effective config: every setting with its value, defaults filled in. A pure function of what
// is simulated, not of how the file spelled it or where it lies, so equal text means equal runs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sim/guest/simulation_config.h"

namespace sim {

// Keys as in a config, in a fixed order; durations as strings, exact. A replayed schedule appears
// by its file's last name and its digest, an empirical distribution by its values.
nlohmann::ordered_json effective_json(const Config& config);

// The same as a config that the reader takes: it reads back to the same effective config (with a
// replayed schedule, if that lies beside it).
std::string effective_toml(const Config& config);

}  // namespace sim
