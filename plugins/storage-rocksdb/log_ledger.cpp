#include "log_ledger.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "log_tail.hpp"
#include "reserved_log.hpp"

namespace backplane::rocks {
namespace {

constexpr std::string_view kFile = "/live-logs";

bool is_log(std::string_view path) { return path.ends_with(".log"); }

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The file system of the ledger's Env: updates the ledger when a log is created or deleted, and reserves the space of logs.
class LedgerFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  explicit LedgerFileSystem(LogLedger& ledger) : FileSystemWrapper(rocksdb::FileSystem::Default()), ledger_(ledger) {}

  const char* Name() const override { return "BackplaneFiles"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* made, rocksdb::IODebugContext* debug) override {
    auto status = FileSystemWrapper::NewWritableFile(path, options, made, debug);
    if (!status.ok() || !is_log(path)) return status;
    if (ledger_.reserves()) *made = make_reserved_log(std::move(*made), path);
    return ledger_.add(path);
  }

  // Cuts the end of a log before RocksDB reads it. This is safe: during recovery RocksDB has locked the directory, and no log has a writer.
  rocksdb::IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSSequentialFile>* made, rocksdb::IODebugContext* debug) override {
    if (is_log(path) && ledger_.is_recovering()) {
      if (auto status = cut_log_tail(path); !status.ok()) return status;
    }
    return FileSystemWrapper::NewSequentialFile(path, options, made, debug);
  }

  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    if (is_log(path)) {
      if (auto status = ledger_.remove(path); !status.ok()) return status;
    }
    return FileSystemWrapper::DeleteFile(path, options, debug);
  }

 private:
  LogLedger& ledger_;
};

bool write_durably(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
  const int error = errno;
  ::close(fd);
  errno = error;
  return written;
}

bool sync_directory(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool synced = ::fsync(fd) == 0;
  const int error = errno;
  ::close(fd);
  errno = error;
  return synced;
}

}  // namespace

LogLedger::LogLedger(std::string directory, bool reserves)
    : directory_(std::move(directory)), reserves_(reserves), env_(rocksdb::NewCompositeEnv(std::make_shared<LedgerFileSystem>(*this))) {
  std::ifstream lines(directory_ + std::string(kFile));
  for (std::string line; std::getline(lines, line);) {
    if (is_log(line)) names_.insert(line);
  }
}

std::string LogLedger::missing() const {
  const std::lock_guard lock(mutex_);
  for (const std::string& name : names_) {
    std::error_code error;
    if (!std::filesystem::exists(directory_ + "/" + name, error)) return name;
  }
  return {};
}

rocksdb::IOStatus LogLedger::write(const std::set<std::string>& names) const {
  std::string text;
  for (const std::string& name : names) text.append(name).push_back('\n');
  const std::string path = directory_ + std::string(kFile);
  const std::string fresh = path + ".new";
  if (write_durably(fresh, text) && ::rename(fresh.c_str(), path.c_str()) == 0 && sync_directory(directory_))
    return rocksdb::IOStatus::OK();
  const int error = errno;
  const std::string what = std::generic_category().message(error);
  return error == ENOSPC ? rocksdb::IOStatus::NoSpace(path, what) : rocksdb::IOStatus::IOError(path, what);
}

rocksdb::IOStatus LogLedger::add(const std::string& path) {
  const std::lock_guard lock(mutex_);
  auto names = names_;
  if (!names.insert(name_of(path)).second) return rocksdb::IOStatus::OK();
  auto status = write(names);
  if (status.ok()) names_ = std::move(names);
  return status;
}

rocksdb::IOStatus LogLedger::remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  auto names = names_;
  if (names.erase(name_of(path)) == 0) return rocksdb::IOStatus::OK();
  auto status = write(names);
  if (status.ok()) names_ = std::move(names);
  return status;
}

Status LogLedger::clear() {
  const std::lock_guard lock(mutex_);
  if (names_.empty()) return {};
  if (const auto status = write({}); !status.ok()) return internal_error("cannot write the store's list of logs: " + status.ToString());
  names_.clear();
  return {};
}

}  // namespace backplane::rocks
