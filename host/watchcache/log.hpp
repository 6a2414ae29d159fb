// The logger of this folder.
#pragma once

#include "base/log.hpp"

namespace backplane {

inline FolderLog& watchcache_log() {
  static FolderLog& logger = folder_logger("watchcache");
  return logger;
}

}  // namespace backplane
