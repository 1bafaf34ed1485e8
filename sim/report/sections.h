// The longer parts of the table, one file each. They end in a line break and begin without a blank
// line.
#pragma once

#include <ostream>
#include <string_view>

#include "sim/guest/simulation_config.h"
#include "sim/measure/result.h"

namespace sim {

// The settings that a reader needs to know what the figures are of, as `# name=value …` lines. Long
// lists of partitions, locks and the like are cut short, with a line that says so.
void write_echo(std::ostream& out, const Config& config, const Result& result);

// A histogram by powers of two in the shape of the bcc tools; nothing when empty. It begins at the
// first row that is not empty. Where that leaves too many rows, the first one reaches down to 0 and
// takes in the rest. In ns, or in us when 4.3 s are exceeded.
void write_log2_histogram(std::ostream& out, std::string_view title, const Histogram& histogram);

// Train wrecks in a line, then the costliest with its chain: who was missing, why, since when
// (after the wreck's start), how long, and who stood behind it in order of arrival.
void write_wrecks(std::ostream& out, const LockResult& lock);

}  // namespace sim
