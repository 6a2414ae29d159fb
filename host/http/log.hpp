// The logger of host/http.
#pragma once

#include "base/log.hpp"

namespace backplane {

inline spdlog::logger& http_log() {
  static spdlog::logger& logger = folder_logger("http");
  return logger;
}

}  // namespace backplane
