#include "sim/config/suggest.h"

#include <algorithm>
#include <vector>

namespace sim {
namespace {

constexpr std::size_t kLongestQuote = 60;
// Longer names than any that exists: not worth comparing, and the comparison is quadratic.
constexpr std::size_t kLongestName = 64;

std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string quote(std::string_view text) {
  if (text.size() <= kLongestQuote) return '"' + std::string(text) + '"';
  // Never cut a UTF-8 sequence in two.
  std::size_t end = kLongestQuote;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return '"' + std::string(text.substr(0, end)) + "…\"";
}

std::string join(std::span<const std::string_view> names) {
  std::string all;
  for (const std::string_view name : names) {
    if (!all.empty()) all += ", ";
    all += name;
  }
  return all.empty() ? "nothing" : all;
}

std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.size() > kLongestName) return {};
  std::string_view best;
  // A name of which more than half is wrong was not a slip of the finger.
  std::size_t fewest = std::max<std::size_t>(1, name.size() / 2) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edits(name, candidate);
    if (distance < fewest) {
      fewest = distance;
      best = candidate;
    }
  }
  return best;
}

std::string unknown_name(std::string_view kind, std::string_view name,
                         std::span<const std::string_view> allowed) {
  const std::string_view meant = nearest(name, allowed);
  std::string text = "unknown " + std::string(kind) + " " + quote(name);
  if (!meant.empty()) text += ", did you mean " + quote(meant) + "?";
  return text + (meant.empty() ? "; allowed: " : " Allowed: ") + join(allowed);
}

}  // namespace sim
