#include "app/throwaway.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace backplane {
namespace {

// Flags that name a store or a place for one.
constexpr std::string_view kContradictions[] = {"data-dir", "storage-backend", "etcd-servers"};

}  // namespace

Result<Throwaway> Throwaway::make(Options& options) {
  for (const std::string_view flag : kContradictions) {
    if (options.flags.changed(flag)) {
      return bad_request("--throwaway: cannot be combined with --" + std::string(flag) +
                         "; it uses a store in memory and a temporary directory");
    }
  }
  std::error_code error;
  std::string path = std::filesystem::temp_directory_path(error).string();
  if (error) path = "/tmp";
  path += "/backplane-throwaway-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return internal_error("--throwaway: cannot make " + path + ": " + std::strerror(errno));
  options.backplane.data_dir = path;
  options.storage.backend = "memory";
  if (!options.flags.changed("secure-port")) options.secure_serving.secure_port = 0;
  return Throwaway(std::move(path));
}

Throwaway::~Throwaway() {
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

ParentWatch::ParentWatch(StopEvent& stop) : end_(eventfd(0, EFD_CLOEXEC)) {
  // The wrapper of pidfd_open() is newer than the C library of Debian 12.
  parent_ = static_cast<int>(syscall(SYS_pidfd_open, getppid(), 0));
  if (parent_ < 0 || end_ < 0) return;
  thread_ = std::thread([parent = parent_, end = end_, &stop] {
    std::array<pollfd, 2> watched{pollfd{parent, POLLIN, 0}, pollfd{end, POLLIN, 0}};
    while (poll(watched.data(), watched.size(), -1) < 0 && errno == EINTR) {
    }
    if (watched[0].revents != 0) stop.request();
  });
}

ParentWatch::~ParentWatch() {
  if (thread_.joinable()) {
    eventfd_write(end_, 1);
    thread_.join();
  }
  for (const int descriptor : {parent_, end_}) {
    if (descriptor >= 0) close(descriptor);
  }
}

}  // namespace backplane
