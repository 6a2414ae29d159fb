// The logger of this folder.
#pragma once

#include "base/log.hpp"

namespace backplane {

inline spdlog::logger& plugin_log() {
  static spdlog::logger& logger = folder_logger("plugin");
  return logger;
}
inline spdlog::logger& plugin_details() {
  static spdlog::logger& logger = folder_details("plugin");
  return logger;
}

}  // namespace backplane
