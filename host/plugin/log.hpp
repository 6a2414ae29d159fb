// The logger of this folder.
#pragma once

#include "base/log.hpp"

namespace backplane {

inline FolderLog& plugin_log() {
  static FolderLog& logger = folder_logger("plugin");
  return logger;
}
inline FolderLog& plugin_details() {
  static FolderLog& logger = folder_details("plugin");
  return logger;
}

}  // namespace backplane
