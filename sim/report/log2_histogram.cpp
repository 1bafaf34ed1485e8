#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/report/format.h"
#include "sim/report/sections.h"

namespace sim {
namespace {

// As many as keep the table of one lock within 60 lines.
constexpr std::size_t kRowsMax = 18;

// Row k counts the values 2^k … 2^(k+1)-1; row 0 also counts 0.
std::size_t row_of(std::int64_t value) {
  const auto width = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(value)));
  return width == 0 ? 0 : width - 1;
}

std::int64_t row_start(std::size_t row) {
  return row == 0 ? 0 : std::int64_t{1} << row;
}

}  // namespace

void write_log2_histogram(std::ostream& out, std::string_view title, const Histogram& histogram) {
  if (histogram.count() == 0) return;
  // Columns hold ten digits. The largest value is an hour, which fits in us.
  const bool fits = histogram.max_ns() < (std::int64_t{1} << 32);
  const std::int64_t unit = fits ? 1 : 1000;
  std::vector<std::uint64_t> rows(row_of(histogram.max_ns() / unit) + 1);
  for (std::size_t i = 0; i < histogram.buckets(); ++i) {
    const std::int64_t low = Histogram::lowest_equivalent_ns(i);
    rows[row_of(low / unit)] += histogram.count_at(i);
  }
  auto first = static_cast<std::size_t>(
      std::ranges::find_if(rows, [](std::uint64_t n) { return n != 0; }) - rows.begin());
  bool from_zero = false;
  if (rows.size() - first > kRowsMax) {
    for (; rows.size() - first > kRowsMax; ++first) rows[first + 1] += rows[first];
    from_zero = true;
  }
  const std::uint64_t most =
      *std::max_element(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end());
  const std::size_t width = std::max<std::size_t>(8, fmt::formatted_size("{}", most));
  put_line(out,
           fmt::format("{:5}{:<19} : {:<{}} distribution", "",
                       fmt::format("{}, {}", title, fits ? "nsecs" : "usecs"), "count", width));
  for (std::size_t k = first; k < rows.size(); ++k) {
    const std::int64_t start = from_zero && k == first ? 0 : row_start(k);
    put_line(out, fmt::format("{:10} -> {:<10} : {:<{}} {}", start, row_start(k + 1) - 1, rows[k],
                              width, bar(static_cast<double>(rows[k]), static_cast<double>(most))));
  }
}

}  // namespace sim
