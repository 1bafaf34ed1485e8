// Changes to a config from outside its file: --set lock.hot.knobs.steal_spins=0.
#pragma once

#include <span>
#include <string>

namespace toml {
inline namespace v3 {
class table;
}
}  // namespace toml

namespace sim {

// `text` is PATH=VALUE. The path's parts are keys, and for an entry of a list its index or its
// `name`. The value is TOML, or where it is not, a string: algorithm=mcs needs no quotes.
struct Override {
  std::string text;
  std::string option = {};  // for messages; empty: "--set PATH"
};

// Applies one after the other. Missing tables are made, missing entries of lists are not. Throws
// ConfigError; its origin is the option.
void apply_overrides(toml::table& tree, std::span<const Override> overrides);

}  // namespace sim
