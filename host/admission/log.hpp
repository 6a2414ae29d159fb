// The logger of host/admission.
//
// Thread-safety: any thread.
#pragma once

#include "base/log.hpp"

namespace backplane {

inline FolderLog& admission_log() {
  static auto& log = folder_logger("admission");
  return log;
}

}  // namespace backplane
