// Loggers. Each folder has one; its log.hpp contains `inline FolderLog& x_log() { static FolderLog& log = folder_logger("x"); return log;
// }`. Each server of a process has settings for levels and format. A line is written with the settings of the server that the thread works
// for. If the thread works for no server, for example before a server exists, the settings of the process apply.
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

// The logger of a folder. The functions of each level take a text, or a format string of {fmt} and its values; the compiler checks the
// format. Only log.cpp includes spdlog and formats: when every source that logs did this, it took a tenth of the build time.
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
// A second logger of the folder, for details: steps of startup, failed health checks.  Its lines have the level info, but are only written
// if the level is "details" (-v=2) or more verbose.
FolderLog& folder_details(const std::string& folder);
// The three functions below change the settings of the calling thread's server; if the thread works for no server, those of the process. If
// the process has one server, they change the settings of both. A server that sets nothing has the settings of the process.
//
// Sets the level of all loggers, present and future: "trace", "debug", "details", "info", "warn" or "error".
void set_log_level(const std::string& level);
// Sets the levels of loggers whose name matches a pattern (*, ?). The last matching pattern applies, and overrides set_log_level().
void set_log_modules(const std::vector<std::pair<std::string, std::string>>& pattern_levels);
struct LogForm {
  bool json = false;   // each line is a JSON object
  bool split = false;  // true: lines below error are written to standard output; false: all lines are written to standard error
};
void set_log_form(LogForm form);
// Removes the settings of a server that has ended.
void end_server_log(ServerSlot slot);
void flush_logs();

inline FolderLog& base_log() {
  static FolderLog& logger = folder_logger("base");
  return logger;
}

}  // namespace backplane
