#include "base/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <map>
#include <memory>
#include <mutex>

#include "backplane/json.hpp"
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

struct Loggers {
  std::mutex mutex;
  spdlog::sink_ptr sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  spdlog::level::level_enum level = spdlog::level::info;
  std::map<std::string, std::unique_ptr<spdlog::logger>> by_folder;
  Loggers() { set_text(); }
  void set_text() {
    sink->set_formatter(std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%fZ %L %n %v", spdlog::pattern_time_type::utc));
  }
};

Loggers& loggers() {
  static auto* all = new Loggers;  // Outlives every static destructor that logs.
  return *all;
}

}  // namespace

spdlog::logger& folder_logger(const std::string& folder) {
  auto& all = loggers();
  std::lock_guard lock(all.mutex);
  auto& slot = all.by_folder[folder];
  if (!slot) {
    slot = std::make_unique<spdlog::logger>(folder, all.sink);
    slot->set_level(all.level);
    slot->flush_on(spdlog::level::warn);
  }
  return *slot;
}

void set_log_level(const std::string& level) {
  auto& all = loggers();
  std::lock_guard lock(all.mutex);
  all.level = spdlog::level::from_str(level);
  for (auto& [_, logger] : all.by_folder) logger->set_level(all.level);
}

void set_log_json(bool json) {
  auto& all = loggers();
  std::lock_guard lock(all.mutex);
  if (!json) return all.set_text();
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<JsonText>('*').set_pattern(R"({"ts":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l","logger":"%n",%*})");
  all.sink->set_formatter(std::move(formatter));
}

void flush_logs() { loggers().sink->flush(); }

}  // namespace backplane
