// The effective config: every setting with the value that the run uses.
#pragma once

#include <nlohmann/json.hpp>

#include "sim/config/config.h"

namespace sim {

nlohmann::ordered_json effective_json(const Config& config);

}  // namespace sim
