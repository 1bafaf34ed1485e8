// Whole text files, with faults in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>

namespace sim {

struct FileFault {
  std::string message;  // "cannot be read: No such file or directory"
};

enum class FileKind { any, regular };  // `any` allows pipes

// The contents of `path`, at most `limit` bytes.
std::variant<std::string, FileFault> read_text_file(const std::filesystem::path& path,
                                                    std::size_t limit, FileKind kind);

// Offset of the first byte that is not part of well-formed UTF-8, or npos.
std::size_t find_invalid_utf8(std::string_view text);

// FNV-1a, 64 bits: to notice that a file has changed, not to stop anybody from forging one.
std::uint64_t digest(std::string_view text);

}  // namespace sim
