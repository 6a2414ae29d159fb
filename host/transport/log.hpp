// The logger of host/transport.
#pragma once

#include "base/log.hpp"

namespace backplane {

inline FolderLog& transport_log() {
  static FolderLog& logger = folder_logger("transport");
  return logger;
}

}  // namespace backplane
