#pragma once

#include "base/log.hpp"

namespace backplane {

inline FolderLog& routing_log() {
  static FolderLog& logger = folder_logger("routing");
  return logger;
}
inline FolderLog& routing_details() {
  static FolderLog& logger = folder_details("routing");
  return logger;
}

}  // namespace backplane
