// What the config tests share.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/reader.h"

namespace sim {

inline Config parse(std::string_view text, const std::vector<std::string>& sets = {}) {
  std::vector<Override> overrides;
  for (const std::string& set : sets) overrides.push_back({.text = set});
  return parse_config(text, "test.toml", overrides);
}

// The error with which `text` is refused; fails the test when it is accepted.
inline ConfigError refusal(std::string_view text, const std::vector<std::string>& sets = {}) {
  try {
    parse(text, sets);
  } catch (const ConfigError& error) {
    return error;
  }
  ADD_FAILURE() << "accepted: " << text;
  return {"", 0, 0, "", ""};
}

inline void expect_words(const std::string& message, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    EXPECT_NE(message.find(word), std::string::npos) << "no \"" << word << "\" in: " << message;
  }
}

// Refused at that line, for that key, in those words.
inline void expect_refused(std::string_view text, std::uint32_t line, const std::string& key,
                           const std::vector<std::string>& words) {
  SCOPED_TRACE(std::string(text));
  const ConfigError error = refusal(text);
  EXPECT_EQ(error.line(), line) << error.what();
  EXPECT_EQ(error.key(), key) << error.what();
  expect_words(error.what(), words);
}

// A directory that goes with the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "trainwreck.XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, std::string_view text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace sim
