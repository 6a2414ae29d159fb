#pragma once

#include "base/log.hpp"

namespace backplane {

inline spdlog::logger& security_log() {
  static spdlog::logger& logger = folder_logger("security");
  return logger;
}

}  // namespace backplane
