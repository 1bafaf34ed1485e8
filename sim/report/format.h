// Shared by the writers: the words and the number formats of reports.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "lock/platform.h"
#include "sim/measure/result.h"

namespace sim {

struct Measure {
  std::string_view name;
  Histogram LockResult::*histogram;
};
inline constexpr std::array kMeasures{
    Measure{"wait", &LockResult::wait},
    Measure{"hold", &LockResult::hold},
    Measure{"handover", &LockResult::handover},
};

struct Quantile {
  std::string_view key;    // for programs
  std::string_view title;  // for people
  double percentile;
};
inline constexpr std::array kQuantiles{
    Quantile{"p50", "p50", 50},      Quantile{"p90", "p90", 90},         Quantile{"p99", "p99", 99},
    Quantile{"p999", "p99.9", 99.9}, Quantile{"p9999", "p99.99", 99.99},
};

// In the order of lock::Path and StallCause.
inline constexpr std::array<std::string_view, lock::kPaths> kPathNames{"fast", "steal", "head",
                                                                       "queued"};
inline constexpr std::array<std::string_view, kStallCauses> kCauseNames{"holder", "head", "waiter"};

struct BudgetShare {
  std::string_view name;
  Time CpuBudget::*time;
};
inline constexpr std::array kBudget{
    BudgetShare{"useful", &CpuBudget::useful},
    BudgetShare{"spin", &CpuBudget::spin},
    BudgetShare{"hypervisor", &CpuBudget::hypervisor},
    BudgetShare{"idle", &CpuBudget::idle},
};
// Fractions in the order of kBudget; all 0 when no time passed.
std::array<double, kBudget.size()> budget_fractions(const CpuBudget& budget);

// 0 when no time passed.
double per_second(std::uint64_t count, Time window);

// A time with three significant digits in the unit that fits, "1.21 us". Not negative.
std::string human_time(double ns);
std::string human_time(Time time);
// The same text with the unit two columns wide, so that right-aligned figures line up.
std::string aligned(std::string time);

// Three significant digits with a decimal prefix, "2.31 M"; no unit. Infinity is "inf", NaN "-".
std::string human_number(double value);

// Parts of a whole in tenths of a percent that add up to exactly 1000, each within one of its
// rounded value (largest remainders, ties to the first); all 0 when the whole is 0.
std::vector<int> per_mille(const std::vector<double>& parts);
// "65.1 %"
std::string percent(int per_mille);

// `width` columns between bars, of which part/whole are stars; bcc's.
std::string bar(double part, double whole, std::size_t width = 40);

// Writes the line without the blanks at its end.
void put_line(std::ostream& out, std::string_view line);

}  // namespace sim
