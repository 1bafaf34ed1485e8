#include "sim/report/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sim {
namespace {

// Three significant digits of 0 <= value; whole above 99.95. Rounding never yields a fourth digit
// before the point unless the value has one.
std::string three_digits(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

// Divides by 1000 until three digits hold it; returns the number of divisions.
std::size_t scale_down(double& value, std::size_t steps_max) {
  std::size_t steps = 0;
  while (value >= 999.5 && steps < steps_max) {
    value /= 1000;
    ++steps;
  }
  return steps;
}

}  // namespace

std::array<double, kBudget.size()> budget_fractions(const CpuBudget& budget) {
  double total = 0;
  for (const BudgetShare& share : kBudget) {
    total += static_cast<double>((budget.*share.time).count());
  }
  std::array<double, kBudget.size()> fractions{};
  if (total <= 0) return fractions;
  for (std::size_t i = 0; i < kBudget.size(); ++i) {
    fractions[i] = static_cast<double>((budget.*kBudget[i].time).count()) / total;
  }
  return fractions;
}

double per_second(std::uint64_t count, Time window) {
  if (window <= Time{0}) return 0;
  return static_cast<double>(count) * 1e12 / static_cast<double>(window.count());
}

std::string human_time(double ns) {
  constexpr std::array<std::string_view, 4> kUnits{"ns", "us", "ms", "s"};
  const std::size_t unit = scale_down(ns, kUnits.size() - 1);
  return fmt::format("{} {}", three_digits(ns), kUnits[unit]);
}

std::string human_time(Time time) {
  // Whole nanoseconds have no digits after the point to show.
  const std::int64_t ns = to_ns(time);
  return ns < 1000 ? fmt::format("{} ns", ns) : human_time(static_cast<double>(ns));
}

std::string aligned(std::string time) {
  if (time.ends_with(" s")) time += ' ';
  return time;
}

std::string human_number(double value) {
  constexpr std::array<std::string_view, 5> kPrefixes{"", " k", " M", " G", " T"};
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return "inf";
  const std::size_t prefix = scale_down(value, kPrefixes.size() - 1);
  return three_digits(value) + std::string(kPrefixes[prefix]);
}

std::vector<int> per_mille(const std::vector<double>& parts) {
  std::vector<int> shares(parts.size());
  const double whole = std::accumulate(parts.begin(), parts.end(), 0.0);
  if (whole <= 0) return shares;
  std::vector<double> remainders;
  int missing = 1000;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double quota = parts[i] * 1000 / whole;
    shares[i] = static_cast<int>(quota);
    remainders.push_back(quota - shares[i]);
    missing -= shares[i];
  }
  for (; missing > 0; --missing) {
    const auto largest = std::ranges::max_element(remainders);
    ++shares[static_cast<std::size_t>(largest - remainders.begin())];
    *largest = -1;
  }
  return shares;
}

std::string percent(int per_mille) {
  return fmt::format("{}.{} %", per_mille / 10, per_mille % 10);
}

std::string bar(double part, double whole, std::size_t width) {
  const double stars = whole > 0 ? part * static_cast<double>(width) / whole : 0;
  return fmt::format("|{:<{}}|", std::string(std::min(width, static_cast<std::size_t>(stars)), '*'),
                     width);
}

void put_line(std::ostream& out, std::string_view line) {
  out << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
}

}  // namespace sim
