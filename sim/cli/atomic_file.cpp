#include "sim/cli/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace sim {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw FileError(path.string() + ": cannot be written: " + std::generic_category().message(errno));
}

// Where a path leads in the end; itself when nothing is there yet.
std::filesystem::path resolve(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real;
}

}  // namespace

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

AtomicFile::AtomicFile(const std::filesystem::path& path) : target_(resolve(path)) {
  struct stat status {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    fail(path);
  }
  if (exists && !S_ISREG(status.st_mode)) {
    fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail(path);
    return;
  }
  if (exists && ::access(target_.c_str(), W_OK) != 0) fail(path);
  const std::filesystem::path directory = target_.parent_path();
  temporary_ = directory / ("." + target_.filename().string() + "." + std::to_string(::getpid()));
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) {
    temporary_.clear();
    fail(path);
  }
  if (exists && ::fchmod(fd_, status.st_mode & 07777) != 0) {
    // Another owner's file: the new one gets the usual mode.
  }
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)) {}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::commit(std::string_view text) {
  if (!write_all(fd_, text)) fail(target_);
  if (temporary_.empty()) return;
  // The name must not appear before the data is safe.
  if (::fsync(fd_) != 0) fail(target_);
  if (::close(std::exchange(fd_, -1)) != 0) fail(target_);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(target_);
  temporary_.clear();
  std::filesystem::path directory = target_.parent_path();
  if (directory.empty()) directory = ".";
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // the file is there; only a crash right now could lose its name
  ::fsync(fd);
  ::close(fd);
}

}  // namespace sim
