#include "log_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "file_error.hpp"
#include "old_files.hpp"

namespace backplane::audit {
namespace {

constexpr std::string_view kStandardOutput = "-";

}  // namespace

LogFile::~LogFile() { close(); }

Status LogFile::ensure(const LogFileOptions& options) {
  if (options.path == kStandardOutput) return {};
  const std::string folder = std::filesystem::path(options.path).parent_path().string();
  for (std::size_t slash = 0; slash != std::string::npos && !folder.empty();) {
    slash = folder.find('/', slash + 1);
    const std::string each = folder.substr(0, slash);
    if (::mkdir(each.c_str(), 0700) != 0 && errno != EEXIST && errno != EISDIR) {
      return Status(Reason::kInternalError, "ensureLogFile: " + file_error("mkdir", each, errno));
    }
  }
  const int descriptor = ::open(options.path.c_str(), O_CREAT | O_APPEND | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) return Status(Reason::kInternalError, "ensureLogFile: " + file_error("open", options.path, errno));
  ::close(descriptor);
  return {};
}

Status LogFile::open() {
  if (descriptor_ >= 0) return {};
  if (options_.path == kStandardOutput) {
    descriptor_ = STDOUT_FILENO;
    return {};
  }
  descriptor_ = ::open(options_.path.c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, mode_);
  if (descriptor_ < 0) return Status(Reason::kInternalError, "can't open new logfile: " + file_error("open", options_.path, errno));
  struct stat found {};
  size_ = ::fstat(descriptor_, &found) == 0 ? static_cast<std::uint64_t>(found.st_size) : 0;
  mode_ = found.st_mode & 0777;
  return {};
}

void LogFile::close() noexcept {
  if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
  descriptor_ = -1;
  size_ = 0;
}

bool LogFile::is_full(std::size_t pending, std::size_t more) const noexcept {
  if (options_.max_bytes == 0 || options_.path == kStandardOutput) return false;
  const std::uint64_t size = size_ + pending;
  return size > 0 && size + more > options_.max_bytes;
}

std::string LogFile::too_long(std::size_t bytes) const {
  if (options_.max_bytes == 0 || options_.path == kStandardOutput || bytes <= options_.max_bytes) return {};
  return "write length " + std::to_string(bytes) + " exceeds maximum file size " + std::to_string(options_.max_bytes);
}

Status LogFile::rotate(std::chrono::system_clock::time_point now) {
  close();
  const std::string to = backup_name(options_.path, now);
  if (::rename(options_.path.c_str(), to.c_str()) == 0 || errno == ENOENT) return {};
  return Status(Reason::kInternalError, "can't rename log file: " + file_error("rename", options_.path, errno));
}

LogFile::Written LogFile::write(std::string_view bytes, const std::vector<std::size_t>& ends) {
  Written out;
  out.status = open();
  if (!out.status.ok()) return out;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      out.status = Status(Reason::kInternalError, file_error("write", options_.path, errno));
      break;
    }
    done += static_cast<std::size_t>(count);
  }
  out.lines = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), done) - ends.begin());
  const std::size_t whole = out.lines == 0 ? 0 : ends[out.lines - 1];
  // Removes an incomplete line, because readers would take it for a part of the next line.
  if (whole < done && descriptor_ != STDOUT_FILENO && ::ftruncate(descriptor_, static_cast<off_t>(size_ + whole)) == 0) done = whole;
  size_ += done;
  return out;
}

void LogFile::sync() noexcept {
  if (descriptor_ >= 0) (void)::fdatasync(descriptor_);
}

}  // namespace backplane::audit
