// A result file that is there whole or not at all.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sim {

// what() is one line: the path and why.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Opened before a long run, so that a path that cannot be written is known at once; written after
// it. The text goes to a temporary file beside the target, which is synced and renamed over it.
// What is not a regular file (a pipe, /dev/null) is written in place.
class AtomicFile {
 public:
  // Throws FileError when the path cannot be written.
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  AtomicFile& operator=(AtomicFile&&) = delete;
  // Leaves nothing behind unless commit() came first.
  ~AtomicFile();

  // Writes `text` and puts the file in its place. Throws FileError; then the old file, if there was
  // one, is untouched. Call once.
  void commit(std::string_view text);

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;  // empty: written in place
  int fd_ = -1;
};

// Writes all of `text`; false with errno set when that fails.
bool write_all(int fd, std::string_view text);

}  // namespace sim
