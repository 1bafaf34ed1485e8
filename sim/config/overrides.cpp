#include "sim/config/overrides.h"

#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "sim/config/error.h"
#include "sim/config/section.h"
#include "sim/config/suggest.h"
#include "sim/config/text_file.h"

namespace sim {
namespace {

constexpr std::size_t kLongestPath = 256;
constexpr std::size_t kMostParts = 8;  // no key lies deeper than workload.0.think.mean

// What one override needs in order to complain.
struct Change {
  std::string option;
  std::string path;

  [[noreturn]] void fail(const std::string& message) const {
    throw ConfigError(option, 0, 0, path, message);
  }
};

// `text` as the value of a TOML document, or nullopt. Its nodes carry `option` as their source, so
// that a later complaint about the value names the option.
std::optional<toml::table> parse_value(const std::string& text, const std::string& option) {
  try {
    toml::table document = toml::parse(std::string_view(text), std::string_view(option));
    // A line break in the value would make a second key of what follows.
    if (document.size() != 1) return std::nullopt;
    return document;
  } catch (const toml::parse_error&) {
    return std::nullopt;
  }
}

std::string quoted_toml(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += "\\u00";
      quoted += {kHex[byte >> 4], kHex[byte & 15]};
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::vector<std::string> split_path(const Change& change) {
  if (change.path.size() > kLongestPath) change.fail("is longer than any key");
  std::vector<std::string> parts(1);
  for (const char c : change.path) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.size() > kMostParts || std::ranges::any_of(parts, &std::string::empty)) {
    change.fail("needs the path of a key, such as lock.0.algorithm");
  }
  return parts;
}

std::string join_parts(std::span<const std::string> parts) {
  std::string path;
  for (const std::string& part : parts) path += (path.empty() ? "" : ".") + part;
  return path;
}

std::string name_of_entry(const toml::node& entry, const std::string& list, std::size_t index) {
  const toml::table* table = entry.as_table();
  const toml::node* name = table == nullptr ? nullptr : table->get("name");
  if (name == nullptr) return default_name(list, index);
  return name->is_string() ? **name->as_string() : std::string{};
}

// Index in `list` of the entry that `part` means, by number or by name.
std::size_t find_entry(const Change& change, const toml::array& list, const std::string& part,
                       const std::string& list_path) {
  const bool number = std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
  std::string entries;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string name = name_of_entry(list[i], list_path, i);
    if (number ? part == std::to_string(i) : part == name) return i;
    if (i < 16) {
      entries += (i == 0 ? "" : ", ") + std::to_string(i);
      if (!name.empty()) entries += " (" + name + ")";
    }
  }
  if (list.size() > 16) entries += ", … " + std::to_string(list.size() - 1);
  change.fail("there is no " + list_path + "." + part + "; entries of " + list_path + ": " +
              (entries.empty() ? "none" : entries));
}

toml::node* step(const Change& change, toml::node& node, std::span<const std::string> parts,
                 std::size_t depth) {
  const std::string& part = parts[depth];
  if (auto* list = node.as_array()) {
    return list->get(find_entry(change, *list, part, join_parts(parts.first(depth))));
  }
  auto* table = node.as_table();
  if (table == nullptr) {
    change.fail(join_parts(parts.first(depth)) + " has no keys of its own, is " + describe(node));
  }
  if (toml::node* child = table->get(part)) return child;
  // Parsed, not constructed, so that it knows its source.
  toml::table made = *parse_value("made = {}", change.option);
  return &table->insert_or_assign(part, std::move(*made.get_as<toml::table>("made"))).first->second;
}

void apply(toml::table& tree, const Override& override_) {
  const std::size_t equals = override_.text.find('=');
  Change change;
  change.path = override_.text.substr(0, equals);
  change.option = override_.option.empty() ? one_line("--set " + change.path) : override_.option;
  if (find_invalid_utf8(override_.text) != std::string::npos) {
    throw ConfigError("--set", 0, 0, "", "needs UTF-8 text");
  }
  if (equals == std::string::npos) {
    change.fail("needs KEY=VALUE, such as lock.0.algorithm=mcs");
  }
  const std::vector<std::string> parts = split_path(change);
  const std::string text = override_.text.substr(equals + 1);
  std::optional<toml::table> value = parse_value("value = " + text, change.option);
  if (!value) value = parse_value("value = " + quoted_toml(text), change.option);
  if (!value) change.fail("cannot be read as a value");

  toml::node* node = &tree;
  for (std::size_t depth = 0; depth + 1 < parts.size(); ++depth) {
    node = step(change, *node, parts, depth);
  }
  auto* list = node->as_array();
  auto* table = node->as_table();
  const std::span<const std::string> parents(parts.data(), parts.size() - 1);
  if (list == nullptr && table == nullptr) {
    change.fail(join_parts(parents) + " has no keys of its own, is " + describe(*node));
  }
  value->begin()->second.visit([&](auto& given) {
    if (list != nullptr) {
      const std::size_t index = find_entry(change, *list, parts.back(), join_parts(parents));
      list->replace(list->cbegin() + static_cast<std::ptrdiff_t>(index), std::move(given));
    } else {
      table->insert_or_assign(parts.back(), std::move(given));
    }
  });
}

}  // namespace

void apply_overrides(toml::table& tree, std::span<const Override> overrides) {
  for (const Override& override_ : overrides) apply(tree, override_);
}

}  // namespace sim
