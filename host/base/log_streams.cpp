#include "base/log_streams.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <memory>
#include <mutex>

#include "backplane/core/json.hpp"
#include "base/log_fields.hpp"

namespace backplane {
namespace {

// Formats %* in the JSON pattern: the message as JSON members, "msg":"words","key":value,…
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

// Writes errors to standard error, and all other lines to standard output.
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

spdlog::sinks::sink* make_stream(LogForm form) {
  std::unique_ptr<spdlog::sinks::sink> made = std::make_unique<ErrorSink>();
  if (form.split) made = std::make_unique<SplitSink>();
  made->set_formatter(make_formatter(form.json));
  return made.release();
}

// The streams; the index is made of the members of LogForm.
struct Streams {
  std::mutex mutex;
  std::array<spdlog::sinks::sink*, 4> made{};
};
constinit Streams streams;

}  // namespace

spdlog::sinks::sink& log_stream(LogForm form) {
  const std::lock_guard lock(streams.mutex);
  auto& stream = streams.made[(form.json ? 1U : 0U) + (form.split ? 2U : 0U)];
  if (stream == nullptr) stream = make_stream(form);
  return *stream;
}

void flush_log_streams() {
  const std::lock_guard lock(streams.mutex);
  for (auto* const stream : streams.made) {
    if (stream != nullptr) stream->flush();
  }
}

}  // namespace backplane
