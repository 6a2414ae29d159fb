// The logger of this folder.
#pragma once

#include "base/log.hpp"

namespace backplane {

inline FolderLog& runner_log() {
  static FolderLog& logger = folder_logger("runner");
  return logger;
}

}  // namespace backplane
