// Paths and addresses: the data directory and its lock.
//
// Thread-safety: start-up, one thread.
// Errors:        kInternalError with the path and the system's reason; kConflict when another instance holds the directory.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/status.hpp"

namespace backplane {

// $XDG_STATE_HOME/backplane, else ~/.local/state/backplane.
Result<std::string> default_data_dir();
std::string absolute_path(std::string_view path);
// The address at which clients reach a server that listens on `bind_address`: that address; or, if it is unspecified, the first address of
// the machine that is not a loopback address.
std::string reachable_address(std::string_view bind_address);
// The address to listen on without --bind-address: 127.0.0.1. If `advertise_address` is not a loopback address, it is the unspecified
// address of the same family: otherwise the server would not be reachable at the advertised address.
std::string default_bind_address(std::string_view advertise_address);

// Makes the directory and its parents. The directory itself is accessible to its owner only (0700).
Status make_private_directory(const std::string& path);

// Locks a data directory for one process; the kernel releases the lock when the process ends.
class DataDirLock {
 public:
  DataDirLock() = default;
  DataDirLock(DataDirLock&& other) noexcept;
  DataDirLock& operator=(DataDirLock&& other) noexcept;
  ~DataDirLock();
  static Result<DataDirLock> take(const std::string& data_dir);

 private:
  int fd_ = -1;
};

}  // namespace backplane
