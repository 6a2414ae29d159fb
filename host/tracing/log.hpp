#pragma once

#include "base/log.hpp"

namespace backplane::tracing {

inline FolderLog& tracing_log() {
  static FolderLog& logger = folder_logger("tracing");
  return logger;
}

}  // namespace backplane::tracing
