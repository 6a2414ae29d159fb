// Loggers, one per folder: `inline spdlog::logger& x_log() { static auto& l = folder_logger("x"); return l; }` in the folder's log.hpp.
//
// Thread-safety: any thread.
#pragma once

#include <spdlog/logger.h>

#include <string>

namespace backplane {

// The logger of a folder, made at first use with the process's sinks and level.
spdlog::logger& folder_logger(const std::string& folder);
// "trace" "debug" "info" "warn" "error" for all loggers, present and future.
void set_log_level(const std::string& level);
// true: one JSON object a line on stderr.
void set_log_json(bool json);
void flush_logs();

inline spdlog::logger& base_log() {
  static spdlog::logger& logger = folder_logger("base");
  return logger;
}

}  // namespace backplane
