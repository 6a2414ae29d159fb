// While a FileOwner lives, the process acts as the owner of a directory, if the process runs as root and another user owns the directory.
// Files that a command makes in a service's data directory must be readable by the service.
//
// Thread-safety: the whole process acts as that user.
// Errors:        if the process cannot switch to the user, it continues as root, and root owns the files.
#pragma once

#include <string>
#include <utility>

namespace backplane {

class FileOwner {
 public:
  FileOwner() = default;
  static FileOwner of(const std::string& directory);
  FileOwner(FileOwner&& other) noexcept : active_(std::exchange(other.active_, false)) {}
  FileOwner& operator=(FileOwner&& other) noexcept {
    std::swap(active_, other.active_);
    return *this;
  }
  ~FileOwner();

 private:
  bool active_ = false;
};

}  // namespace backplane
