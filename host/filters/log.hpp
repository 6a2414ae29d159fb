#pragma once

#include "base/log.hpp"

namespace backplane {

inline FolderLog& filters_log() {
  static FolderLog& logger = folder_logger("filters");
  return logger;
}

}  // namespace backplane
