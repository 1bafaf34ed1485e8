// What must hold for every input of the config reader, however mangled.
#pragma once

#include <string_view>

namespace sim {

// `input` is a config; after a line "---" come overrides, one a line. Either it is refused by a
// ConfigError of one line, or its effective config reads back to itself. Aborts with a message
// otherwise.
void check_config_input(std::string_view input);

}  // namespace sim
