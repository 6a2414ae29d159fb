#pragma once

#include "base/log.hpp"

namespace backplane::tracing {

inline spdlog::logger& tracing_log() {
  static spdlog::logger& logger = folder_logger("tracing");
  return logger;
}

}  // namespace backplane::tracing
