// What people and programs read of a run: a table, JSON, CSV and percentile files.
//
// Every writer is a pure function of config and result, prints no wall-clock time and no locale,
// and copes with runs in which nothing happened: "-", null or an empty field stands where there is
// no number. Times called *_ns are whole nanoseconds, rounded to nearest; only means have
// fractions. A percentile is the smallest histogram value with at least that share of the samples
// at or below it: at most 0.1 % above the exact one, never above the maximum.
#pragma once

#include <ostream>
#include <string_view>

#include "sim/guest/simulation_config.h"
#include "sim/measure/histogram.h"
#include "sim/measure/result.h"

namespace sim {

// For a terminal: at most 60 lines, 100 columns wide, for one lock in one partition.
void write_table(std::ostream& out, const Config& config, const Result& result);

// Schema "trainwreck.result/1". max_min_ratio is null when a vCPU got nothing at all.
void write_json(std::ostream& out, const Config& config, const Result& result);

// RFC 4180, lines end in CR LF: a header, then one record a lock. CPU shares are those of the run.
void write_csv(std::ostream& out, const Config& config, const Result& result);

// HdrHistogram's percentile text (.hgrm), a block for each lock and measure, with a blank line
// between blocks. Plotters want one block a file: write_hgrm_block.
void write_hgrm(std::ostream& out, const Config& config, const Result& result);

// The form that HdrHistogram's Java class prints, five ticks per half distance, in ns, after a
// comment line with title and unit. Mean and maximum are those of the values, not of the buckets;
// the deviation takes each bucket at its middle.
void write_hgrm_block(std::ostream& out, std::string_view title, const Histogram& histogram);

}  // namespace sim
