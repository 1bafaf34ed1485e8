// Words for messages about names that do not exist.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sim {

// `text` in double quotes, cut to a readable length.
std::string quote(std::string_view text);

// "a, b, c"; "nothing" when empty.
std::string join(std::span<const std::string_view> names);

// The candidate with the fewest edits (insert, delete, replace, swap of neighbours) from `name`,
// the first of equals; empty when none is near enough to have been meant.
std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates);

// "unknown KIND "name"; did you mean "x"? Allowed: a, b, c", without the question when nothing is
// near.
std::string unknown_name(std::string_view kind, std::string_view name,
                         std::span<const std::string_view> allowed);

}  // namespace sim
