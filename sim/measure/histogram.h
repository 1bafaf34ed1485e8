// A latency histogram with HdrHistogram's layout: 1 ns to 3600 s, 3 significant digits.
//
// Values are whole nanoseconds; counts are integers, so a merge in any order gives the same bits.
// Count, sum, minimum and maximum are kept exactly beside the buckets; the sum holds 584 years.
// Memory is taken as values come: nothing when empty, 264 KiB at most.
// Layout: G. Tene, HdrHistogram (hdrhistogram.org): 2048 sub-buckets, 32 buckets, 33,792 counters.
// Values below 2048 ns have a counter each; above, a counter covers less than 0.1 % of its values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/time.h"

namespace sim {

class Histogram {
 public:
  static constexpr std::int64_t kHighestNs = 3'600'000'000'000;
  static constexpr int kSignificantDigits = 3;
  static constexpr std::size_t kSubBuckets = 2048;
  static constexpr std::size_t kBuckets = 32;
  static constexpr std::size_t kCounters = (kBuckets + 1) * kSubBuckets / 2;

  // Records one value, rounded to ns, clamped to 0..kHighestNs.
  void record(Time value);
  void merge(const Histogram& other);
  void clear();

  std::uint64_t count() const { return count_; }
  std::int64_t min_ns() const { return count_ == 0 ? 0 : min_ns_; }
  std::int64_t max_ns() const { return count_ == 0 ? 0 : max_ns_; }
  // Mean of the values recorded, not of their buckets, in ns; 0 when empty.
  double mean_ns() const;
  // Smallest bucket value (highest equivalent, at most max_ns) with at least that share of the
  // counts at or below it. 0 <= percentile <= 100; 0 when empty.
  std::int64_t percentile_ns(double percentile) const;

  // For writers: counters in order of value, up to that of the largest value recorded.
  std::size_t buckets() const { return counts_.size(); }
  std::uint64_t count_at(std::size_t index) const { return counts_[index]; }
  // 0 <= ns <= kHighestNs; index < kCounters. A counter covers the values from the lowest to the
  // highest equivalent, both included.
  static std::size_t index_of(std::int64_t ns);
  static std::int64_t lowest_equivalent_ns(std::size_t index);
  static std::int64_t highest_equivalent_ns(std::size_t index);

  bool operator==(const Histogram&) const = default;

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::int64_t min_ns_ = 0;
  std::int64_t max_ns_ = 0;
  std::uint64_t sum_ns_ = 0;
};

}  // namespace sim
