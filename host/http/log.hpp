// The logger of host/http.
#pragma once

#include "base/log.hpp"

namespace backplane {

inline FolderLog& http_log() {
  static FolderLog& logger = folder_logger("http");
  return logger;
}

}  // namespace backplane
