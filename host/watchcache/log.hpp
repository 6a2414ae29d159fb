// The logger of this folder.
#pragma once

#include "base/log.hpp"

namespace backplane {

inline spdlog::logger& watchcache_log() {
  static spdlog::logger& logger = folder_logger("watchcache");
  return logger;
}

}  // namespace backplane
