// Loggers, one per folder: `inline spdlog::logger& x_log() { static auto& l = folder_logger("x"); return l; }` in the folder's log.hpp.
//
// Thread-safety: any thread.
#pragma once

#include <spdlog/logger.h>

#include <string>
#include <utility>
#include <vector>

namespace backplane {

// The logger of a folder, made at first use with the process's sinks and level.
spdlog::logger& folder_logger(const std::string& folder);
// The same folder's logger for details: steps of a startup, failed health checks.  Its lines look like info lines and are written from
// the level "details" on (-v=2).
spdlog::logger& folder_details(const std::string& folder);
// "trace" "debug" "details" "info" "warn" "error" for all loggers, present and future.
void set_log_level(const std::string& level);
// Other levels for the loggers whose name is like a pattern (*, ?); the last pattern that fits wins, whatever set_log_level() says.
void set_log_modules(std::vector<std::pair<std::string, std::string>> pattern_levels);
struct LogForm {
  bool json = false;   // one JSON object a line
  bool split = false;  // lines below error go to standard output
};
// Before anything is logged.
void set_log_form(LogForm form);
void flush_logs();

inline spdlog::logger& base_log() {
  static spdlog::logger& logger = folder_logger("base");
  return logger;
}

}  // namespace backplane
