#pragma once

#include "base/log.hpp"

namespace backplane {

inline spdlog::logger& routing_log() {
  static spdlog::logger& logger = folder_logger("routing");
  return logger;
}
inline spdlog::logger& routing_details() {
  static spdlog::logger& logger = folder_details("routing");
  return logger;
}

}  // namespace backplane
