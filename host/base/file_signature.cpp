#include "base/file_signature.hpp"

#include <sys/stat.h>

namespace backplane {

std::string file_signature(const std::string& path) {
  struct stat what {};
  if (path.empty() || ::stat(path.c_str(), &what) != 0) return {};
  std::string out;
  for (const long long part : {static_cast<long long>(what.st_ino), static_cast<long long>(what.st_size),
                               static_cast<long long>(what.st_mtim.tv_sec), static_cast<long long>(what.st_mtim.tv_nsec)}) {
    out += std::to_string(part) + ",";
  }
  return out;
}

}  // namespace backplane
