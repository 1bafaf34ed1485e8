// Reads a config (TOML) into plain data: parsing, overrides, defaults, validation, in that order.
//
// Every key is optional but one file must say something. Times carry units, unknown keys are
// errors, and whatever passes is fit to be simulated: nothing behind the reader checks again.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "sim/config/error.h"
#include "sim/config/overrides.h"
#include "sim/guest/simulation_config.h"

namespace sim {

// Most vCPUs of all partitions together.
inline constexpr std::uint32_t kMaxTotalVcpus = 65536;

// `name` stands for the file in messages, and files that the config names are relative to its
// directory. Throws ConfigError.
Config parse_config(std::string_view text, const std::string& name,
                    std::span<const Override> overrides = {});

// The same for a file (or a pipe). Throws ConfigError also when it cannot be read.
Config read_config(const std::filesystem::path& path, std::span<const Override> overrides = {});

}  // namespace sim
