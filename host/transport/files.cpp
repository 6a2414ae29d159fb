#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "transport/certificates.hpp"

namespace backplane {
namespace {

Status file_failure(const std::string& path, int error) { return internal_error(path + ": " + std::strerror(error)); }

// Writes and syncs a new file. Returns 0 or an errno value.
int write_new(const std::string& path, std::string_view text, unsigned mode) {
  ::unlink(path.c_str());
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, static_cast<mode_t>(mode));
  if (fd < 0) return errno;
  int error = ::fchmod(fd, static_cast<mode_t>(mode)) == 0 ? 0 : errno;
  while (error == 0 && !text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno != EINTR) error = errno;
    if (put > 0) text.remove_prefix(static_cast<std::size_t>(put));
  }
  if (error == 0 && ::fsync(fd) != 0) error = errno;
  ::close(fd);
  return error;
}

}  // namespace

Status write_file_atomically(const std::string& path, std::string_view text, unsigned mode) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!parent.empty() && !std::filesystem::exists(parent, error)) {
    std::filesystem::create_directories(parent, error);
    if (error) return file_failure(parent.string(), error.value());
    std::filesystem::permissions(parent, std::filesystem::perms::owner_all, error);
  }
  const std::string temporary = path + ".new";
  if (const int why = write_new(temporary, text, mode); why != 0) return file_failure(temporary, why);
  if (::rename(temporary.c_str(), path.c_str()) != 0) return file_failure(path, errno);
  return {};
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return file_failure(path, errno);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) return file_failure(path, EIO);
  return text;
}

}  // namespace backplane
