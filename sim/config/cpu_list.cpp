// Section::cpus: which vCPUs or physical CPUs, as a list or as ranges.
#include <algorithm>
#include <charconv>

#include "sim/config/section.h"
#include "sim/config/suggest.h"

namespace sim {
namespace {

// One number of `text`, which is shortened by it; false when there is none.
bool take_number(std::string_view& text, std::uint32_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

// "0-3,8": false when it is not that, or names a CPU that is not below `limit`.
bool parse_ranges(std::string_view text, std::uint32_t limit, std::vector<std::uint32_t>& out) {
  while (true) {
    std::uint32_t first = 0;
    if (!take_number(text, first)) return false;
    std::uint32_t last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      if (!take_number(text, last)) return false;
    }
    // Bounds first, and no more than there are CPUs: a range must not be a way to fill the memory.
    if (last < first || last >= limit || out.size() > limit) return false;
    for (std::uint32_t cpu = first; cpu <= last; ++cpu) out.push_back(cpu);
    if (text.empty()) return true;
    if (!text.starts_with(',')) return false;
    text.remove_prefix(1);
  }
}

}  // namespace

bool Section::cpus(std::string_view key, std::vector<std::uint32_t>& out, std::uint32_t limit,
                   std::string_view noun) const {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  const std::string allowed = "a list of " + std::string(noun) + " 0 to " +
                              std::to_string(limit - 1) + " such as [0] or \"0-" +
                              std::to_string(limit - 1) + "\"";
  std::vector<std::uint32_t> list;
  if (const auto* ranges = node->as_string()) {
    if (!parse_ranges(**ranges, limit, list)) {
      fail(key, "needs " + allowed + ", is " + describe(*node));
    }
  } else if (const auto* array = node->as_array()) {
    for (const toml::node& entry : *array) {
      const auto* number = entry.as_integer();
      if (number == nullptr || **number < 0 || **number >= limit) {
        sim::fail(*origin_, entry.source(), path_of(key),
                  "needs " + allowed + ", holds " + describe(entry));
      }
      list.push_back(static_cast<std::uint32_t>(**number));
    }
  } else {
    fail(key, "needs " + allowed + ", is " + describe(*node));
  }
  if (list.empty()) fail(key, "needs " + allowed + ", is an empty list");
  out = std::move(list);
  return true;
}

}  // namespace sim
