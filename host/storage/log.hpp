// The logger of this folder.
#pragma once

#include "base/log.hpp"

namespace backplane {

inline FolderLog& storage_log() {
  static FolderLog& logger = folder_logger("storage");
  return logger;
}

}  // namespace backplane
