// The one way in which a config is refused.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace sim {

// what() is exactly one line: "FILE:LINE:COLUMN: KEY: what is wrong and what is allowed". A fault
// in an override names the option ("--set lock.0.algorithm") in place of the file.
class ConfigError : public std::runtime_error {
 public:
  // `line` 0: not known (a whole file, an override, a default). `key` empty: not of one key.
  ConfigError(const std::string& origin, std::uint32_t line, std::uint32_t column,
              const std::string& key, const std::string& message);

  const std::string& origin() const { return origin_; }
  std::uint32_t line() const { return line_; }
  std::uint32_t column() const { return column_; }
  const std::string& key() const { return key_; }

 private:
  std::string origin_;
  std::uint32_t line_;
  std::uint32_t column_;
  std::string key_;
};

// `text` with control characters escaped, so that it stays on its line.
std::string one_line(const std::string& text);

}  // namespace sim
