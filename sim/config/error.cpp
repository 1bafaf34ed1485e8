#include "sim/config/error.h"

#include <string_view>

namespace sim {
namespace {

std::string compose(const std::string& origin, std::uint32_t line, std::uint32_t column,
                    const std::string& key, const std::string& message) {
  std::string text = origin;
  if (line != 0)
    text.append(":").append(std::to_string(line)).append(":").append(std::to_string(column));
  // "--set lock.0.algorithm" says the key already.
  const bool said = !key.empty() && line == 0 && origin.ends_with(" " + key);
  if (!key.empty() && !said) text.append(": ").append(key);
  return one_line(text.append(": ").append(message));
}

}  // namespace

ConfigError::ConfigError(const std::string& origin, std::uint32_t line, std::uint32_t column,
                         const std::string& key, const std::string& message)
    : std::runtime_error(compose(origin, line, column, key, message)),
      origin_(origin),
      line_(line),
      column_(column),
      key_(key) {}

std::string one_line(const std::string& text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string line;
  line.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      line += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace sim
