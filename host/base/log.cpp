#include "base/log.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/sink.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "backplane/core/server_slot.hpp"
#include "base/log_streams.hpp"

namespace backplane {
namespace {

// spdlog has no level between debug and info. The logger of folder_details() writes info lines, and only if `details` is set.
struct Level {
  spdlog::level::level_enum lines = spdlog::level::info;
  bool details = false;

  static Level of(const std::string& word) {
    if (word == "details") return {spdlog::level::info, true};
    const auto lines = spdlog::level::from_str(word);
    return {lines, lines < spdlog::level::info};
  }
};

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return spdlog::level::trace;
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kCritical:
      break;
  }
  return spdlog::level::critical;
}

// The log settings of one server, or of the process.
struct ServerLog {
  bool own = false;  // these settings have been set; otherwise those of the process apply
  LogForm form;
  Level level;
  std::vector<std::pair<std::string, Level>> modules;

  Level level_of(const std::string& folder) const {
    Level wanted = level;
    for (const auto& [pattern, other] : modules) {
      if (fnmatch(pattern.c_str(), folder.c_str(), 0) == 0) wanted = other;
    }
    return wanted;
  }
};

// The output stream of each server.  A line that is logged while the settings change is written to the former or to the new stream.
constinit PerServer<std::atomic<spdlog::sinks::sink*>> stream_of_server;

// Writes the lines of one logger to the stream of the thread's server.  The logger has the most verbose level of all servers, so log()
// drops the lines that the level of the thread's server excludes.
class ServersSink final : public spdlog::sinks::sink {
 public:
  void log(const spdlog::details::log_msg& message) override {
    if (message.level >= levels_.here().load(std::memory_order_relaxed)) stream().log(message);
  }
  void flush() override { stream().flush(); }
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}
  void set_level_of(ServerSlot slot, spdlog::level::level_enum level) { levels_.of(slot).store(level, std::memory_order_relaxed); }

 private:
  static spdlog::sinks::sink& stream() { return *stream_of_server.here().load(std::memory_order_acquire); }

  PerServer<std::atomic<int>> levels_;
};

// A logger and its sink.
struct ServersLogger {
  explicit ServersLogger(const std::string& folder) : logger(folder, sink) {}
  // `levels`: ServerSlot → level.
  void use(const std::array<spdlog::level::level_enum, kMostServers + 1>& levels) {
    for (ServerSlot slot = 0; slot < levels.size(); ++slot) sink->set_level_of(slot, levels[slot]);
    logger.set_level(*std::min_element(levels.begin(), levels.end()));
  }

  const std::shared_ptr<ServersSink> sink = std::make_shared<ServersSink>();
  spdlog::logger logger;
  FolderLog log{logger};
};

struct FolderLoggers {
  ServersLogger lines, details;
  explicit FolderLoggers(const std::string& folder) : lines(folder), details(folder) { lines.logger.flush_on(spdlog::level::warn); }
};

struct Loggers {
  std::mutex mutex;
  std::array<ServerLog, kMostServers + 1> logs;
  std::map<std::string, std::unique_ptr<FolderLoggers>> by_folder;
  Loggers() { set_streams(); }

  const ServerLog& log_of(ServerSlot slot) const { return logs[slot].own ? logs[slot] : logs[kNoServer]; }
  void set_streams() const {
    for (ServerSlot slot = 0; slot < logs.size(); ++slot) stream_of_server.of(slot).store(&log_stream(log_of(slot).form));
  }
  void set_levels(const std::string& folder, FolderLoggers& loggers) const {
    std::array<spdlog::level::level_enum, kMostServers + 1> lines{}, details{};
    for (ServerSlot slot = 0; slot < logs.size(); ++slot) {
      const Level level = log_of(slot).level_of(folder);
      lines[slot] = level.lines;
      details[slot] = level.details ? spdlog::level::info : spdlog::level::warn;
    }
    loggers.lines.use(lines);
    loggers.details.use(details);
  }
  FolderLoggers& of(const std::string& folder) {
    std::lock_guard lock(mutex);
    auto& slot = by_folder[folder];
    if (!slot) {
      slot = std::make_unique<FolderLoggers>(folder);
      set_levels(folder, *slot);
    }
    return *slot;
  }
  // Calls `change` with the settings of the thread's server.  If the process has one server, also with the settings of the process.
  template <class Change>
  void change(const Change& change) {
    const ServerSlot slot = current_server_slot();
    std::lock_guard lock(mutex);
    if (!logs[slot].own) logs[slot] = logs[kNoServer];
    logs[slot].own = true;
    change(logs[slot]);
    if (servers() == 1) change(logs[kNoServer]);
    apply();
  }
  std::ptrdiff_t servers() const {
    return std::count_if(logs.begin() + 1, logs.end(), [](const ServerLog& log) { return log.own; });
  }
  void apply() const {
    set_streams();
    for (const auto& [folder, loggers] : by_folder) set_levels(folder, *loggers);
  }
};

Loggers& loggers() {
  static auto* all = new Loggers;  // Outlives every static destructor that logs.
  return *all;
}

}  // namespace

bool FolderLog::should_log(LogLevel level) const { return logger_.should_log(spdlog_level(level)); }

void FolderLog::log(LogLevel level, std::string_view text) {
  logger_.log(spdlog_level(level), spdlog::string_view_t(text.data(), text.size()));
}

void FolderLog::write(LogLevel level, fmt::string_view format, fmt::format_args values) {
  if (!should_log(level)) return;
  // Throws nothing, as spdlog's functions, because lines are logged in catch blocks and in functions that must not throw.
  try {
    fmt::memory_buffer text;
    fmt::vformat_to(fmt::appender(text), format, values);
    log(level, {text.data(), text.size()});
  } catch (const std::exception&) {
    log(level, {format.data(), format.size()});
  }
}

FolderLog& folder_logger(const std::string& folder) { return loggers().of(folder).lines.log; }
FolderLog& folder_details(const std::string& folder) { return loggers().of(folder).details.log; }

void set_log_level(const std::string& level) {
  loggers().change([&](ServerLog& log) { log.level = Level::of(level); });
}

void set_log_modules(const std::vector<std::pair<std::string, std::string>>& pattern_levels) {
  loggers().change([&](ServerLog& log) {
    log.modules.clear();
    for (const auto& [pattern, level] : pattern_levels) log.modules.emplace_back(pattern, Level::of(level));
  });
}

void set_log_form(LogForm form) {
  loggers().change([&](ServerLog& log) { log.form = form; });
}

void end_server_log(ServerSlot slot) {
  auto& all = loggers();
  std::lock_guard lock(all.mutex);
  if (slot == kNoServer) return;
  all.logs[slot] = {};
  all.apply();
}

void flush_logs() { flush_log_streams(); }

}  // namespace backplane
