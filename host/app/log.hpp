#pragma once

#include "base/log.hpp"

namespace backplane {

inline spdlog::logger& app_log() {
  static spdlog::logger& logger = folder_logger("app");
  return logger;
}
inline spdlog::logger& app_details() {
  static spdlog::logger& logger = folder_details("app");
  return logger;
}

}  // namespace backplane
