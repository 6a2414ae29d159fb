#pragma once

#include "base/log.hpp"

namespace backplane {

inline FolderLog& security_log() {
  static FolderLog& logger = folder_logger("security");
  return logger;
}

}  // namespace backplane
