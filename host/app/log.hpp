#pragma once

#include "base/log.hpp"

namespace backplane {

inline FolderLog& app_log() {
  static FolderLog& logger = folder_logger("app");
  return logger;
}
inline FolderLog& app_details() {
  static FolderLog& logger = folder_details("app");
  return logger;
}

}  // namespace backplane
