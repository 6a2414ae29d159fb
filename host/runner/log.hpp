// The logger of this folder.
#pragma once

#include "base/log.hpp"

namespace backplane {

inline spdlog::logger& runner_log() {
  static spdlog::logger& logger = folder_logger("runner");
  return logger;
}

}  // namespace backplane
