// One table of a config, read key by key with checks. Internal to sim/config.
//
// Every getter leaves `out` alone and returns false when the key is absent, and throws ConfigError,
// located at the value, when it is there and wrong.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/duration.h"
#include "sim/config/names.h"

namespace sim {

// Where a config comes from.
struct Origin {
  std::string name;                 // for messages
  std::filesystem::path directory;  // paths in the config are relative to it
};

[[noreturn]] void fail(const Origin& origin, const toml::source_region& at, const std::string& key,
                       const std::string& message);

// "the integer 5", "a table", ….
std::string describe(const toml::node& node);

// The length of time that `node` gives, between `least` and `most`.
Time read_duration(const Origin& origin, const toml::node& node, const std::string& path,
                   Time least = Time{0}, Time most = kLongestDuration);

class Section {
 public:
  // `path` is the table's own, "" for the root; `noun` says what the keys belong to ("[machine]").
  // Throws for a key that is not among `keys`.
  Section(const Origin& origin, const toml::table& table, std::string path, std::string_view noun,
          std::span<const std::string_view> keys);

  const Origin& origin() const { return *origin_; }
  const toml::node* find(std::string_view key) const { return table_->get(key); }
  std::string path_of(std::string_view key) const;
  [[noreturn]] void fail(std::string_view key, const std::string& message) const;

  bool boolean(std::string_view key, bool& out) const;
  bool text(std::string_view key, std::string& out) const;
  // A name of a partition, lock or interrupt: short, and safe in --set, file names and CSV.
  bool name(std::string_view key, std::string& out) const;
  bool duration(std::string_view key, Time& out, Time least = Time{0},
                Time most = kLongestDuration) const;
  bool integer(std::string_view key, std::int64_t& out, std::int64_t least,
               std::int64_t most) const;
  bool integer(std::string_view key, std::uint32_t& out, std::uint32_t least,
               std::uint32_t most) const;
  bool real(std::string_view key, double& out) const;
  // CPU numbers below `limit`: a list, or a string of ranges ("0-15", "0-3,8"). At least one.
  bool cpus(std::string_view key, std::vector<std::uint32_t>& out, std::uint32_t limit,
            std::string_view noun) const;
  bool distribution(std::string_view key, Distribution& out) const;
  // nullptr when absent.
  const toml::table* table(std::string_view key) const;
  // The entries of a list of tables ([[key]]); empty when absent.
  std::vector<const toml::table*> tables(std::string_view key) const;

  template <class E>
  bool choice(std::string_view key, E& out, std::span<const Named<E>> names) const {
    std::vector<std::string_view> allowed;
    for (const Named<E>& named : names) allowed.push_back(named.name);
    const std::size_t index = choose(key, allowed);
    if (index == allowed.size()) return false;
    out = names[index].value;
    return true;
  }
  // Index among `allowed`; allowed.size() when absent.
  std::size_t choose(std::string_view key, std::span<const std::string_view> allowed) const;

 private:
  const Origin* origin_;
  const toml::table* table_;
  std::string path_;
};

}  // namespace sim
