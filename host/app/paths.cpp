#include "app/paths.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace backplane {
namespace {

Status system_error(std::string_view what, const std::string& path) {
  return internal_error(std::string(what) + " " + path + ": " + std::strerror(errno));
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string home_directory() {
  if (auto home = environment("HOME"); !home.empty()) return home;
  const passwd* entry = getpwuid(getuid());
  return entry == nullptr || entry->pw_dir == nullptr ? "" : entry->pw_dir;
}

}  // namespace

Result<std::string> default_data_dir() {
  // The XDG specification says that a relative path is invalid and ignored.
  if (auto state = environment("XDG_STATE_HOME"); !state.empty() && state.front() == '/') return state + "/backplane";
  const std::string home = home_directory();
  if (home.empty()) return bad_request("--data-dir: must be set, because neither XDG_STATE_HOME nor HOME is");
  return home + "/.local/state/backplane";
}

std::string absolute_path(std::string_view path) {
  std::error_code error;
  auto absolute = std::filesystem::absolute(std::filesystem::path(path), error);
  std::string text = error ? std::string(path) : absolute.lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

std::string default_bind_address(std::string_view advertise_address) {
  const std::string text(advertise_address);
  in6_addr v6{};
  if (inet_pton(AF_INET6, text.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6) ? "127.0.0.1" : "::";
  in_addr v4{};
  return inet_pton(AF_INET, text.c_str(), &v4) == 1 && (ntohl(v4.s_addr) >> 24) != 127 ? "0.0.0.0" : "127.0.0.1";
}

std::string reachable_address(std::string_view bind_address) {
  if (bind_address != "0.0.0.0" && bind_address != "::") return std::string(bind_address);
  ifaddrs* first = nullptr;
  std::string found = "127.0.0.1";
  if (getifaddrs(&first) != 0) return found;
  for (const ifaddrs* it = first; it != nullptr; it = it->ifa_next) {
    if (it->ifa_addr == nullptr || it->ifa_addr->sa_family != AF_INET) continue;
    const auto& address = reinterpret_cast<const sockaddr_in*>(it->ifa_addr)->sin_addr;
    if ((ntohl(address.s_addr) >> 24) == 127) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    found = inet_ntop(AF_INET, &address, text.data(), text.size());
    break;
  }
  freeifaddrs(first);
  return found;
}

Status make_private_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (mkdir(path.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return system_error("unable to create directory", path);
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return system_error("unable to look at", path);
  if (!S_ISDIR(info.st_mode)) return internal_error(path + " is not a directory");
  // The folder holds credentials with all rights on the cluster.
  if ((info.st_mode & 077) != 0 && chmod(path.c_str(), 0700) != 0) return system_error("unable to make private", path);
  return {};
}

DataDirLock::DataDirLock(DataDirLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
DataDirLock& DataDirLock::operator=(DataDirLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}
DataDirLock::~DataDirLock() {
  if (fd_ >= 0) close(fd_);
}

Result<DataDirLock> DataDirLock::take(const std::string& data_dir) {
  const std::string path = data_dir + "/lock";
  DataDirLock lock;
  lock.fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock.fd_ < 0) return system_error("unable to open", path);
  if (flock(lock.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_error("unable to lock", path);
    std::array<char, 32> holder{};
    const ssize_t size = read(lock.fd_, holder.data(), holder.size() - 1);
    std::string pid(holder.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    while (!pid.empty() && pid.back() == '\n') pid.pop_back();
    return Status(Reason::kConflict, "data directory " + data_dir + " is in use by another instance" +
                                         (pid.empty() ? "" : " (process " + pid + ")") + "; give each instance another --data-dir");
  }
  const std::string pid = std::to_string(getpid()) + "\n";
  if (ftruncate(lock.fd_, 0) != 0 || pwrite(lock.fd_, pid.data(), pid.size(), 0) < 0) return system_error("unable to write", path);
  return lock;
}

}  // namespace backplane
