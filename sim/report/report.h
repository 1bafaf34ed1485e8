// Stand-in: the writers of a run's result.
#pragma once

#include <ostream>

#include "sim/config/config.h"
#include "sim/measure/result.h"

namespace sim {

void write_table(std::ostream& out, const Config& config, const Result& result);
void write_json(std::ostream& out, const Config& config, const Result& result);
void write_csv(std::ostream& out, const Config& config, const Result& result);
void write_hgrm(std::ostream& out, const Config& config, const Result& result);

}  // namespace sim
