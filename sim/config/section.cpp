#include "sim/config/section.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "sim/config/error.h"
#include "sim/config/suggest.h"

namespace sim {
namespace {

constexpr std::size_t kMostEntries = 1000;  // of a list of sections
constexpr std::size_t kLongestName = 64;

bool is_name(std::string_view text) {
  constexpr std::string_view kOthers = "_-:";
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto allowed = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || digit(c) ||
           kOthers.find(c) != std::string_view::npos;
  };
  // All digits would be an index to --set.
  return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, allowed) &&
         !std::ranges::all_of(text, digit);
}

// Of two places in the file, the earlier.
bool before(const toml::source_region& a, const toml::source_region& b) {
  return a.begin.line != b.begin.line ? a.begin.line < b.begin.line
                                      : a.begin.column < b.begin.column;
}

}  // namespace

void fail(const Origin& origin, const toml::source_region& at, const std::string& key,
          const std::string& message) {
  // A value that --set gave carries the option's name as its path.
  if (at.path != nullptr && *at.path != origin.name) {
    throw ConfigError(*at.path, 0, 0, key, message);
  }
  throw ConfigError(origin.name, at.begin.line, at.begin.column, key, message);
}

std::string describe(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "the string " + quote(**node.as_string());
    case toml::node_type::integer:
      return "the integer " + std::to_string(**node.as_integer());
    case toml::node_type::boolean:
      return **node.as_boolean() ? "true" : "false";
    case toml::node_type::floating_point: {
      std::ostringstream text;
      text << "the number " << **node.as_floating_point();
      return text.str();
    }
    default:
      return "a date or time";
  }
}

Time read_duration(const Origin& origin, const toml::node& node, const std::string& path,
                   Time least, Time most) {
  const auto* text = node.as_string();
  if (text == nullptr) {
    const bool number = node.is_number();
    fail(origin, node.source(), path,
         std::string(number ? "needs a duration with a unit (ps, ns, us, ms, s or min)"
                            : "needs a duration") +
             ", a string such as \"10ms\", is " + describe(node));
  }
  const auto parsed = parse_duration(**text);
  if (const auto* wrong = std::get_if<std::string>(&parsed)) {
    fail(origin, node.source(), path, *wrong);
  }
  const Time time = std::get<Time>(parsed);
  if (time < least || time > most) {
    fail(origin, node.source(), path,
         "must be a duration from " + format_duration(least) + " to " + format_duration(most) +
             ", is " + quote(**text));
  }
  return time;
}

Section::Section(const Origin& origin, const toml::table& table, std::string path,
                 std::string_view noun, std::span<const std::string_view> keys)
    : origin_(&origin), table_(&table), path_(std::move(path)) {
  std::string_view unknown;
  toml::source_region at;
  for (const auto& [key, node] : table) {
    if (std::ranges::find(keys, key.str()) != keys.end()) continue;
    const bool from_file = key.source().begin.line != 0 && node.source().path != nullptr &&
                           *node.source().path == origin.name;
    const toml::source_region& here = from_file ? key.source() : node.source();
    if (unknown.data() == nullptr || before(here, at)) {
      unknown = key.str();
      at = here;
    }
  }
  if (unknown.data() == nullptr) return;
  sim::fail(origin, at, path_of(unknown),
            unknown_name(noun.empty() ? "key" : "key of " + std::string(noun), unknown, keys));
}

std::string Section::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void Section::fail(std::string_view key, const std::string& message) const {
  const toml::node* node = find(key);
  const toml::source_region& at = node != nullptr ? node->source() : table_->source();
  sim::fail(*origin_, at, path_of(key), message);
}

bool Section::boolean(std::string_view key, bool& out) const {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  if (!node->is_boolean()) fail(key, "needs true or false, is " + describe(*node));
  out = **node->as_boolean();
  return true;
}

bool Section::text(std::string_view key, std::string& out) const {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  if (!node->is_string()) fail(key, "needs a string, is " + describe(*node));
  out = **node->as_string();
  return true;
}

bool Section::name(std::string_view key, std::string& out) const {
  if (!text(key, out)) return false;
  if (!is_name(out)) {
    fail(key, "needs a name: 1 to " + std::to_string(kLongestName) +
                  " letters, digits, '_', '-' and ':', not digits alone, is " + quote(out));
  }
  return true;
}

bool Section::duration(std::string_view key, Time& out, Time least, Time most) const {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  out = read_duration(*origin_, *node, path_of(key), least, most);
  return true;
}

bool Section::integer(std::string_view key, std::int64_t& out, std::int64_t least,
                      std::int64_t most) const {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  const std::string allowed =
      "an integer from " + std::to_string(least) + " to " + std::to_string(most);
  if (!node->is_integer()) fail(key, "needs " + allowed + ", is " + describe(*node));
  const std::int64_t value = **node->as_integer();
  if (value < least || value > most) {
    fail(key, "must be " + allowed + ", is " + std::to_string(value));
  }
  out = value;
  return true;
}

bool Section::integer(std::string_view key, std::uint32_t& out, std::uint32_t least,
                      std::uint32_t most) const {
  std::int64_t value = 0;
  if (!integer(key, value, std::int64_t{least}, std::int64_t{most})) return false;
  out = static_cast<std::uint32_t>(value);
  return true;
}

bool Section::real(std::string_view key, double& out) const {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  if (!node->is_number()) fail(key, "needs a number, is " + describe(*node));
  const double value = *node->value<double>();
  if (!std::isfinite(value)) fail(key, "needs a finite number, is " + describe(*node));
  out = value;
  return true;
}

const toml::table* Section::table(std::string_view key) const {
  const toml::node* node = find(key);
  if (node == nullptr) return nullptr;
  if (!node->is_table()) {
    const std::string hint = node->is_array_of_tables() ? " (write [" + path_of(key) + "])" : "";
    fail(key, "needs a table" + hint + ", is " + describe(*node));
  }
  return node->as_table();
}

std::vector<const toml::table*> Section::tables(std::string_view key) const {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  const std::string wanted = "needs a list of tables (write [[" + path_of(key) + "]])";
  if (!node->is_array()) fail(key, wanted + ", is " + describe(*node));
  std::vector<const toml::table*> entries;
  for (const toml::node& entry : *node->as_array()) {
    // An entry of a few bytes is one of half a KiB in the effective config, which must still read.
    if (entries.size() == kMostEntries) {
      sim::fail(*origin_, entry.source(), path_of(key),
                "must have at most " + std::to_string(kMostEntries) + " entries");
    }
    if (!entry.is_table()) {
      sim::fail(*origin_, entry.source(), path_of(key) + "." + std::to_string(entries.size()),
                wanted + ", holds " + describe(entry));
    }
    entries.push_back(entry.as_table());
  }
  return entries;
}

std::size_t Section::choose(std::string_view key, std::span<const std::string_view> allowed) const {
  const toml::node* node = find(key);
  if (node == nullptr) return allowed.size();
  if (!node->is_string()) {
    fail(key, "needs one of the strings " + join(allowed) + ", is " + describe(*node));
  }
  const std::string& value = **node->as_string();
  const auto it = std::ranges::find(allowed, std::string_view(value));
  if (it == allowed.end()) fail(key, unknown_name("name", value, allowed));
  return static_cast<std::size_t>(it - allowed.begin());
}

}  // namespace sim
