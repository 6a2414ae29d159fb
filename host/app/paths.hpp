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
// The address others can call when the server listens on `bind_address`: itself, or the first of the machine's when it is unspecified.
std::string reachable_address(std::string_view bind_address);
// The address to listen on without --bind-address: 127.0.0.1, or all addresses of the family of an advertised address that other machines
// can use: the server would otherwise be unreachable there.
std::string default_bind_address(std::string_view advertise_address);

// Makes the directory and its parents; the last one is closed to others (0700).
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
