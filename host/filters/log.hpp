#pragma once

#include "base/log.hpp"

namespace backplane {

inline spdlog::logger& filters_log() {
  static spdlog::logger& logger = folder_logger("filters");
  return logger;
}

}  // namespace backplane
