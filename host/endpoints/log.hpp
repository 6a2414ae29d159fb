#pragma once

#include "base/log.hpp"

namespace backplane {

inline spdlog::logger& endpoints_log() {
  static spdlog::logger& logger = folder_logger("endpoints");
  return logger;
}

}  // namespace backplane
