// The logger of this folder.
#pragma once

#include "base/log.hpp"

namespace backplane {

inline spdlog::logger& storage_log() {
  static spdlog::logger& logger = folder_logger("storage");
  return logger;
}

}  // namespace backplane
