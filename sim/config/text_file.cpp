#include "sim/config/text_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <system_error>

namespace sim {

std::variant<std::string, FileFault> read_text_file(const std::filesystem::path& path,
                                                    std::size_t limit, FileKind kind) {
  const auto unreadable = [](const std::string& why) {
    return FileFault{"cannot be read: " + why};
  };
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) return unreadable("it is a directory");
  if (kind == FileKind::regular && std::filesystem::exists(status) &&
      !std::filesystem::is_regular_file(status)) {
    return unreadable("it is not a regular file");
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  if (file == nullptr) return unreadable(std::generic_category().message(errno));
  std::string text;
  std::array<char, 16384> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    text.append(buffer.data(), n);
    if (text.size() > limit) {
      return unreadable("it is larger than " + std::to_string(limit / 1024) + " KiB");
    }
  }
  if (std::ferror(file.get()) != 0) return unreadable(std::generic_category().message(errno));
  return text;
}

std::size_t find_invalid_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::uint32_t lead = byte(i);
    const std::size_t length = lead < 0x80             ? 1
                               : (lead & 0xe0) == 0xc0 ? 2
                               : (lead & 0xf0) == 0xe0 ? 3
                               : (lead & 0xf8) == 0xf0 ? 4
                                                       : 0;
    if (length == 0) return i;
    std::uint32_t point = length == 1 ? lead : lead & (0x7fu >> length);
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xc0) != 0x80) return i;
      point = (point << 6) | (byte(i + k) & 0x3f);
    }
    constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = point >= 0xd800 && point <= 0xdfff;
    if (point < kLeast.at(length) || point > 0x10ffff || surrogate) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::uint64_t digest(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace sim
