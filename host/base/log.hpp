// Loggers, one per folder: `inline FolderLog& x_log() { static FolderLog& log = folder_logger("x"); return log; }` in the folder's log.hpp.
// Levels and format are settings of each server of the process: those of the server that the thread works for apply to its lines. Lines of
// threads that belong to no server, such as all lines before a server exists, follow the settings of the process.
//
// Thread-safety: any thread.
// Lifetime:      loggers live as long as the process. A server's settings end with end_server_log().
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/core/server_slot.hpp"

namespace spdlog {
class logger;
}

namespace backplane {

enum class LogLevel : unsigned char { kTrace, kDebug, kInfo, kWarn, kError, kCritical };

// The logger of a folder. Each level takes a text, or a format string of {fmt} with its values; the compiler checks the format.
// spdlog's header and the formatting are in log.cpp: as templates of each source that logs they took a tenth of the build.
class FolderLog {
 public:
  // `logger` outlives the object.
  explicit FolderLog(spdlog::logger& logger) : logger_(logger) {}

  bool should_log(LogLevel level) const;
  void log(LogLevel level, std::string_view text);
  void trace(std::string_view text) { log(LogLevel::kTrace, text); }
  void debug(std::string_view text) { log(LogLevel::kDebug, text); }
  void info(std::string_view text) { log(LogLevel::kInfo, text); }
  void warn(std::string_view text) { log(LogLevel::kWarn, text); }
  void error(std::string_view text) { log(LogLevel::kError, text); }
  void critical(std::string_view text) { log(LogLevel::kCritical, text); }

  template <class First, class... Rest>
  void log(LogLevel level, fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
    write(level, format, fmt::make_format_args(first, rest...));
  }
  template <class First, class... Rest>
  void trace(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
    write(LogLevel::kTrace, format, fmt::make_format_args(first, rest...));
  }
  template <class First, class... Rest>
  void debug(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
    write(LogLevel::kDebug, format, fmt::make_format_args(first, rest...));
  }
  template <class First, class... Rest>
  void info(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
    write(LogLevel::kInfo, format, fmt::make_format_args(first, rest...));
  }
  template <class First, class... Rest>
  void warn(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
    write(LogLevel::kWarn, format, fmt::make_format_args(first, rest...));
  }
  template <class First, class... Rest>
  void error(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
    write(LogLevel::kError, format, fmt::make_format_args(first, rest...));
  }
  template <class First, class... Rest>
  void critical(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
    write(LogLevel::kCritical, format, fmt::make_format_args(first, rest...));
  }

 private:
  void write(LogLevel level, fmt::string_view format, fmt::format_args values);

  spdlog::logger& logger_;
};

// The logger of a folder, made at first use.
FolderLog& folder_logger(const std::string& folder);
// The same folder's logger for details: steps of a startup, failed health checks.  Its lines look like info lines and are written from
// the level "details" on (-v=2).
FolderLog& folder_details(const std::string& folder);
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

inline FolderLog& base_log() {
  static FolderLog& logger = folder_logger("base");
  return logger;
}

}  // namespace backplane
