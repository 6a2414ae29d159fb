// Loggers, one per folder: `inline spdlog::logger& x_log() { static auto& l = folder_logger("x"); return l; }` in the folder's log.hpp.
// Levels and format are settings of each server of the process: those of the server that the thread works for apply to its lines. Lines of
// threads that belong to no server, such as all lines before a server exists, follow the settings of the process.
//
// Thread-safety: any thread.
// Lifetime:      loggers live as long as the process. A server's settings end with end_server_log().
#pragma once

#include <spdlog/logger.h>

#include <string>
#include <utility>
#include <vector>

#include "backplane/core/server_slot.hpp"

namespace backplane {

// The logger of a folder, made at first use.
spdlog::logger& folder_logger(const std::string& folder);
// The same folder's logger for details: steps of a startup, failed health checks.  Its lines look like info lines and are written from
// the level "details" on (-v=2).
spdlog::logger& folder_details(const std::string& folder);
// The settings below are those of the calling thread's server, or of the process on a thread of no server. In a process with one server
// they are the process's as well. A server that sets nothing has the settings of the process.
// "trace" "debug" "details" "info" "warn" "error" for all loggers, present and future.
void set_log_level(const std::string& level);
// Other levels for the loggers whose name is like a pattern (*, ?); the last pattern that fits wins, over set_log_level() too.
void set_log_modules(const std::vector<std::pair<std::string, std::string>>& pattern_levels);
struct LogForm {
  bool json = false;   // one JSON object a line
  bool split = false;  // lines below error go to standard output
};
void set_log_form(LogForm form);
// The server has ended.
void end_server_log(ServerSlot slot);
void flush_logs();

inline spdlog::logger& base_log() {
  static spdlog::logger& logger = folder_logger("base");
  return logger;
}

}  // namespace backplane
