#include "base/log.hpp"

#include <fnmatch.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <map>
#include <memory>
#include <mutex>

#include "backplane/core/json.hpp"
#include "base/log_fields.hpp"

namespace backplane {
namespace {

// The message as JSON members, for %* of the JSON pattern: "msg":"words","key":value,…
class JsonText final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const LogFields fields = split_log_message(std::string_view(message.payload.data(), message.payload.size()));
    std::string text = "\"msg\":";
    append_json_string(text, fields.words);
    for (const auto& [key, value] : fields.values) {
      text += ',';
      append_json_string(text, key);
      text += ':';
      append_log_value(text, value);
    }
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<JsonText>(); }
};

std::unique_ptr<spdlog::formatter> make_formatter(bool json) {
  if (!json) return std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%fZ %L %n %v", spdlog::pattern_time_type::utc);
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<JsonText>('*').set_pattern(R"({"ts":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l","logger":"%n",%*})");
  return formatter;
}

using ErrorSink = spdlog::sinks::stderr_sink_mt;
using OutputSink = spdlog::sinks::stdout_sink_mt;

// Errors to one stream, everything else to the other.
class SplitSink final : public spdlog::sinks::sink {
 public:
  void log(const spdlog::details::log_msg& message) override { of(message.level).log(message); }
  void flush() override {
    errors_.flush();
    rest_.flush();
  }
  void set_pattern(const std::string& pattern) override {
    errors_.set_pattern(pattern);
    rest_.set_pattern(pattern);
  }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    errors_.set_formatter(formatter->clone());
    rest_.set_formatter(std::move(formatter));
  }

 private:
  spdlog::sinks::sink& of(spdlog::level::level_enum level) {
    if (level >= spdlog::level::err) return errors_;
    return rest_;
  }
  ErrorSink errors_;
  OutputSink rest_;
};

// spdlog has no level between debug and info: details are info lines of a logger that is silent above them.
struct Level {
  spdlog::level::level_enum lines = spdlog::level::info;
  bool details = false;

  static Level of(const std::string& word) {
    if (word == "details") return {spdlog::level::info, true};
    const auto lines = spdlog::level::from_str(word);
    return {lines, lines < spdlog::level::info};
  }
};

struct FolderLoggers {
  spdlog::logger lines, details;
  FolderLoggers(const std::string& folder, const spdlog::sink_ptr& sink) : lines(folder, sink), details(folder, sink) {
    lines.flush_on(spdlog::level::warn);
  }
  void use(const Level& level) {
    lines.set_level(level.lines);
    details.set_level(level.details ? spdlog::level::info : spdlog::level::warn);
  }
  void use(const spdlog::sink_ptr& sink) {
    lines.sinks() = {sink};
    details.sinks() = {sink};
  }
};

struct Loggers {
  std::mutex mutex;
  spdlog::sink_ptr sink = std::make_shared<ErrorSink>();
  Level level;
  std::vector<std::pair<std::string, Level>> modules;
  std::map<std::string, std::unique_ptr<FolderLoggers>> by_folder;
  Loggers() { sink->set_formatter(make_formatter(false)); }

  Level level_of(const std::string& folder) const {
    Level wanted = level;
    for (const auto& [pattern, own] : modules) {
      if (fnmatch(pattern.c_str(), folder.c_str(), 0) == 0) wanted = own;
    }
    return wanted;
  }
  void set_levels() const {
    for (const auto& [folder, loggers] : by_folder) loggers->use(level_of(folder));
  }
  FolderLoggers& of(const std::string& folder) {
    std::lock_guard lock(mutex);
    auto& slot = by_folder[folder];
    if (!slot) {
      slot = std::make_unique<FolderLoggers>(folder, sink);
      slot->use(level_of(folder));
    }
    return *slot;
  }
};

Loggers& loggers() {
  static auto* all = new Loggers;  // Outlives every static destructor that logs.
  return *all;
}

}  // namespace

spdlog::logger& folder_logger(const std::string& folder) { return loggers().of(folder).lines; }
spdlog::logger& folder_details(const std::string& folder) { return loggers().of(folder).details; }

void set_log_level(const std::string& level) {
  auto& all = loggers();
  std::lock_guard lock(all.mutex);
  all.level = Level::of(level);
  all.set_levels();
}

void set_log_modules(std::vector<std::pair<std::string, std::string>> pattern_levels) {
  auto& all = loggers();
  std::lock_guard lock(all.mutex);
  all.modules.clear();
  for (auto& [pattern, level] : pattern_levels) all.modules.emplace_back(std::move(pattern), Level::of(level));
  all.set_levels();
}

void set_log_form(LogForm form) {
  auto& all = loggers();
  std::lock_guard lock(all.mutex);
  spdlog::sink_ptr sink = std::make_shared<ErrorSink>();
  if (form.split) sink = std::make_shared<SplitSink>();
  sink->set_formatter(make_formatter(form.json));
  all.sink = std::move(sink);
  for (auto& [folder, loggers] : all.by_folder) loggers->use(all.sink);
}

void flush_logs() { loggers().sink->flush(); }

}  // namespace backplane
