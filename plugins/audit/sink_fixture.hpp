// Sinks on an executor that the test drives.
//
// Thread-safety: one test.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "backplane/core/metrics.hpp"
#include "backplane/points/audit.hpp"
#include "settings.hpp"
#include "turn_executor.hpp"

namespace backplane::audit {

inline std::shared_ptr<const AuditEvent> event_named(const std::string& id, AuditStage stage = AuditStage::kResponseComplete,
                                                     std::size_t object_bytes = 0) {
  auto request = std::make_shared<AuditRequest>();
  request->audit_id = id;
  request->verb = "get";
  auto event = std::make_shared<AuditEvent>();
  event->request = std::move(request);
  event->stage = stage;
  event->response_code = 200;
  if (object_bytes > 0) {
    event->level = AuditLevel::kRequest;
    event->request_object = SharedBytes("\"" + std::string(object_bytes, 'x') + "\"");
  }
  return event;
}

inline double lost_by(std::string_view part) {
  for (const Metric::Snapshot& metric : Metric::all()) {
    if (metric.name != "apiserver_audit_error_total") continue;
    const auto found = metric.series.find({std::string(part)});
    return found == metric.series.end() ? 0 : found->second.value;
  }
  return 0;
}

// The ids of events in their order, of lines or of an EventList.
inline std::string ids_in(const std::string& text) {
  constexpr std::string_view kMember = "\"auditID\":\"";
  std::string out;
  for (auto at = text.find(kMember); at != std::string::npos; at = text.find(kMember, at)) {
    at += kMember.size();
    out.append(out.empty() ? "" : " ").append(text.substr(at, text.find('"', at) - at));
  }
  return out;
}

inline std::string content_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class TestLog final : public Logger {
 public:
  void error(std::string_view text) override { lines.emplace_back(text); }
  void warn(std::string_view text) override { lines.emplace_back(text); }
  void info(std::string_view) override {}
  void debug(std::string_view) override {}
  std::vector<std::string> lines;
};

struct SinkTest : ::testing::Test {
  SinkTest() : folder(std::filesystem::temp_directory_path() / ("audit-test-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
  }
  ~SinkTest() override { std::filesystem::remove_all(folder); }

  // The result of store() for a waiting request.
  struct Waiter {
    std::optional<bool> stored;
  };
  static Task<void> await_into(Task<bool> task, std::shared_ptr<Waiter> waiter) { waiter->stored = co_await std::move(task); }
  std::shared_ptr<Waiter> store(AuditSink& sink, std::shared_ptr<const AuditEvent> event) {
    auto waiter = std::make_shared<Waiter>();
    executor.start(await_into(sink.store(std::move(event)), waiter));
    return waiter;
  }
  static Task<bool> flushed(AuditSink& sink) {
    co_await sink.flush();
    co_return true;
  }
  std::shared_ptr<Waiter> flush(AuditSink& sink) {
    auto waiter = std::make_shared<Waiter>();
    executor.start(await_into(flushed(sink), waiter));
    return waiter;
  }

  const std::filesystem::path folder;
  TestLog log;
  test::TurnExecutor executor, other;
};

}  // namespace backplane::audit
