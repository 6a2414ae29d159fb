#include "app/file_owner.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace backplane {

FileOwner FileOwner::of(const std::string& directory) {
  FileOwner owner;
  struct stat info {};
  if (geteuid() != 0 || stat(directory.c_str(), &info) != 0 || info.st_uid == 0) return owner;
  if (setegid(info.st_gid) != 0) return owner;
  owner.active_ = seteuid(info.st_uid) == 0;
  if (!owner.active_) (void)!setegid(0);
  return owner;
}

FileOwner::~FileOwner() {
  if (!active_) return;
  (void)!seteuid(0);
  (void)!setegid(0);
}

}  // namespace backplane
