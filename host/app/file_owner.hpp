// Acts as the owner of a directory while it lives, if the process is root's and the directory another user's: files that a command makes in
// a service's data directory must be readable by the service.
//
// Thread-safety: the whole process acts as that user.
// Errors:        a user that cannot be taken on is ignored: the files are root's.
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
