// The logger of host/transport.
#pragma once

#include "base/log.hpp"

namespace backplane {

inline spdlog::logger& transport_log() {
  static spdlog::logger& logger = folder_logger("transport");
  return logger;
}

}  // namespace backplane
