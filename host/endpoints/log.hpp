#pragma once

#include "base/log.hpp"

namespace backplane {

inline FolderLog& endpoints_log() {
  static FolderLog& logger = folder_logger("endpoints");
  return logger;
}

}  // namespace backplane
