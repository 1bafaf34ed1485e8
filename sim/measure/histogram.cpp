#include "sim/measure/histogram.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace sim {
namespace {

constexpr std::size_t kHalf = Histogram::kSubBuckets / 2;
constexpr int kHalfBits = std::bit_width(kHalf) - 1;

static_assert(std::has_single_bit(Histogram::kSubBuckets));
static_assert(Histogram::kCounters == 33'792);
// The last bucket holds the highest value, and no bucket is spare.
static_assert((std::uint64_t{Histogram::kSubBuckets} << (Histogram::kBuckets - 1)) >
              std::uint64_t{Histogram::kHighestNs});
static_assert((std::uint64_t{Histogram::kSubBuckets} << (Histogram::kBuckets - 2)) <=
              std::uint64_t{Histogram::kHighestNs});

// Bucket b counts in steps of 2^b ns. Bucket 0 uses all its sub-buckets; the lower half of every
// other would repeat the bucket before it, so only the upper half has counters.
int bucket_of(std::size_t index) {
  return index < 2 * kHalf ? 0 : static_cast<int>(index / kHalf) - 1;
}

}  // namespace

void Histogram::record(Time value) {
  // The comparison comes before the rounding, which would overflow on kNever.
  const std::int64_t ns = value < Time{0}                    ? 0
                          : value >= nanoseconds(kHighestNs) ? kHighestNs
                                                             : to_ns(value);
  const std::size_t index = index_of(ns);
  if (index >= counts_.size()) counts_.resize(index + 1);
  ++counts_[index];
  min_ns_ = count_ == 0 ? ns : std::min(min_ns_, ns);
  max_ns_ = std::max(max_ns_, ns);
  sum_ns_ += static_cast<std::uint64_t>(ns);
  ++count_;
}

void Histogram::merge(const Histogram& other) {
  if (other.count_ == 0) return;
  if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  min_ns_ = count_ == 0 ? other.min_ns_ : std::min(min_ns_, other.min_ns_);
  max_ns_ = std::max(max_ns_, other.max_ns_);
  sum_ns_ += other.sum_ns_;
  count_ += other.count_;
}

void Histogram::clear() {
  *this = Histogram{};
}

double Histogram::mean_ns() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_ns_) / static_cast<double>(count_);
}

std::int64_t Histogram::percentile_ns(double percentile) const {
  assert(percentile >= 0 && percentile <= 100);
  if (count_ == 0) return 0;
  // 99.9 % of 1000 is 999 although 99.9 has no exact double: a hair is taken off before the
  // ceiling.
  const double exact = percentile * static_cast<double>(count_) / 100;
  const double hair = exact * 0x1p-50;
  const auto rank = static_cast<std::uint64_t>(std::max(1.0, std::ceil(exact - hair)));
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    below += counts_[i];
    if (below >= rank) return std::min(highest_equivalent_ns(i), max_ns_);
  }
  return max_ns_;
}

std::size_t Histogram::index_of(std::int64_t ns) {
  assert(ns >= 0 && ns <= kHighestNs);
  const auto value = static_cast<std::uint64_t>(ns);
  const int bucket = std::max(0, static_cast<int>(std::bit_width(value)) - kHalfBits - 1);
  return static_cast<std::size_t>(bucket) * kHalf + (value >> bucket);
}

std::int64_t Histogram::lowest_equivalent_ns(std::size_t index) {
  assert(index < kCounters);
  const int bucket = bucket_of(index);
  return static_cast<std::int64_t>(index - static_cast<std::size_t>(bucket) * kHalf) << bucket;
}

std::int64_t Histogram::highest_equivalent_ns(std::size_t index) {
  return lowest_equivalent_ns(index) + (std::int64_t{1} << bucket_of(index)) - 1;
}

}  // namespace sim
