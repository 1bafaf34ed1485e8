#include "tests/fuzz/config_fuzz.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "sim/config/effective.h"
#include "sim/config/reader.h"

namespace sim {
namespace {

[[noreturn]] void broken(const char* what, const std::string& text) {
  std::fprintf(stderr, "config reader: %s:\n%s\n", what, text.c_str());
  std::abort();
}

void check_round_trip(const Config& config) {
  // A replayed schedule is named without its directory.
  if (config.hypervisor.policy == hv::PolicyKind::replay) return;
  const std::string toml = effective_toml(config);
  try {
    if (effective_toml(parse_config(toml, "effective.toml")) != toml) {
      broken("an effective config reads back to another", toml);
    }
  } catch (const ConfigError& error) {
    broken(error.what(), toml);
  }
}

}  // namespace

void check_config_input(std::string_view input) {
  constexpr std::string_view kMark = "\n---\n";
  const std::size_t mark = input.find(kMark);
  std::vector<Override> overrides;
  if (mark != std::string_view::npos) {
    std::string_view rest = input.substr(mark + kMark.size());
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      overrides.push_back({.text = std::string(line)});
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
  }
  try {
    check_round_trip(parse_config(input.substr(0, mark), "fuzz.toml", overrides));
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    if (message.empty() || message.find_first_of("\n\r") != std::string::npos) {
      broken("a message is not one line", message);
    }
  }
}

}  // namespace sim

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sim::check_config_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
