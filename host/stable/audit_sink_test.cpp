#include "stable/audit_sink.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "backplane/core/metrics.hpp"
#include "stable/call_threads.hpp"
#include "stable/conversions.hpp"
#include "turn_executor.hpp"

namespace backplane::stable {
namespace {

using std::chrono::milliseconds;

std::shared_ptr<const AuditEvent> event_named(const std::string& id, std::size_t object_bytes = 0) {
  auto request = std::make_shared<AuditRequest>();
  request->audit_id = id;
  request->verb = "get";
  auto event = std::make_shared<AuditEvent>();
  event->request = std::move(request);
  event->response_code = 200;
  if (object_bytes > 0) event->request_object = SharedBytes("\"" + std::string(object_bytes, 'x') + "\"");
  return event;
}

double lost_by(const std::string& sink) {
  for (const Metric::Snapshot& metric : Metric::all()) {
    if (metric.name != "apiserver_audit_error_total") continue;
    const auto found = metric.series.find({sink});
    return found == metric.series.end() ? 0 : found->second.value;
  }
  return 0;
}

// A plugin's sink that keeps the calls, and fails as the test says.
struct Script {
  std::vector<std::vector<std::string>> calls;
  int flushes = 0;
  CallPlace place = CallPlace::kOther;
  std::function<int32_t(bp_error*)> result = [](bp_error*) { return 0; };

  bp_audit_sink table(const char* name) {
    bp_audit_sink table{};
    table.struct_size = sizeof(table);
    table.name = str(name);
    table.self = this;
    table.level = BP_AUDIT_METADATA;
    table.write = [](void* self, const bp_str* events, size_t count, bp_error* error) {
      auto& own = *static_cast<Script*>(self);
      own.place = call_place();
      auto& call = own.calls.emplace_back();
      for (size_t i = 0; i < count; ++i) call.push_back(id_of(view(events[i])));
      return own.result(error);
    };
    table.flush = [](void* self, bp_error*) -> int32_t { return ++static_cast<Script*>(self)->flushes, 0; };
    return table;
  }
  static std::string id_of(std::string_view event) {
    constexpr std::string_view kMember = "\"auditID\":\"";
    const auto at = event.find(kMember) + kMember.size();
    return std::string(event.substr(at, event.find('"', at) - at));
  }
};

int32_t refuse(bp_error* error, const char* reason) {
  std::snprintf(error->reason, sizeof(error->reason), "%s", reason);
  std::snprintf(error->message, sizeof(error->message), "the disk is full");
  return -1;
}

struct TableAuditSinkTest : ::testing::Test {
  std::shared_ptr<TableAuditSink> sink(const bp_audit_sink& table) { return std::make_shared<TableAuditSink>(table, executor, log); }
  static Task<void> await_into(Task<bool> task, std::shared_ptr<std::optional<bool>> into) { *into = co_await std::move(task); }
  std::shared_ptr<std::optional<bool>> store(TableAuditSink& sink, const std::string& id) {
    auto stored = std::make_shared<std::optional<bool>>();
    executor.start(await_into(sink.store(event_named(id)), stored));
    return stored;
  }
  static Task<bool> flushed(TableAuditSink& sink) {
    co_await sink.flush();
    co_return true;
  }
  std::shared_ptr<std::optional<bool>> flush(TableAuditSink& sink) {
    auto ended = std::make_shared<std::optional<bool>>();
    executor.start(await_into(flushed(sink), ended));
    return ended;
  }

  test::QuietLogger log;
  Script script;
  test::TurnExecutor executor;
};

using Calls = std::vector<std::vector<std::string>>;

TEST_F(TableAuditSinkTest, EventsThatQueueAreWrittenTogetherInTheirOrder) {
  auto table = script.table("together");
  table.most_written = 2;
  const auto made = sink(table);
  for (const char* id : {"a", "b", "c"}) EXPECT_TRUE(made->process(event_named(id)));
  EXPECT_TRUE(script.calls.empty()) << "a request does not call the plugin";
  executor.run_until_idle();
  EXPECT_EQ(script.calls, (Calls{{"a", "b"}, {"c"}}));
  EXPECT_EQ(script.place, CallPlace::kRequest) << "it must not call the server";
}

TEST_F(TableAuditSinkTest, AnEventThatFindsTheQueueFullIsLostAndCounted) {
  auto table = script.table("full");
  table.most_events = 2;
  const auto made = sink(table);
  for (const char* id : {"a", "b", "c"}) EXPECT_TRUE(made->process(event_named(id)));
  EXPECT_EQ(lost_by("full"), 1);
  ASSERT_EQ(log.lines.size(), 1U);
  EXPECT_NE(log.lines[0].find("'full' affecting 1 audit events: its queue is full; the first: "), std::string::npos) << log.lines[0];
  EXPECT_NE(log.lines[0].find("id=\"c\""), std::string::npos) << log.lines[0];
  executor.run_until_idle();
  EXPECT_EQ(script.calls, (Calls{{"a", "b"}}));
  EXPECT_TRUE(made->process(event_named("d")));
  executor.fire_timers();
  EXPECT_EQ(script.calls.back(), std::vector<std::string>{"d"});
}

TEST_F(TableAuditSinkTest, ObjectsFillTheQueueToo) {
  const auto made = sink(script.table("objects"));
  EXPECT_TRUE(made->process(event_named("a", std::size_t{65} << 20)));
  EXPECT_TRUE(made->process(event_named("b", 1)));
  EXPECT_EQ(lost_by("objects"), 1);
  EXPECT_TRUE(made->process(event_named("c")));
  executor.run_until_idle();
  EXPECT_EQ(script.calls, (Calls{{"a"}, {"c"}})) << "a call ends with the event that makes it larger than 1 MiB";
}

TEST_F(TableAuditSinkTest, ARequestThatWaitsGoesOnWhenItsEventIsWritten) {
  auto table = script.table("waiting");
  table.most_events = 1;
  table.when_full = BP_AUDIT_WAIT;
  const auto made = sink(table);
  EXPECT_TRUE(made->precedes_responses());
  EXPECT_TRUE(made->process(event_named("a")));
  EXPECT_FALSE(made->process(event_named("b")));
  const auto stored = store(*made, "b");
  executor.run_until_idle();
  EXPECT_EQ(stored->value_or(false), true);
  EXPECT_EQ(lost_by("waiting"), 0);
}

TEST_F(TableAuditSinkTest, EventsAreWrittenAgainWhileThePluginIsNotAvailable) {
  int failures = 2;
  script.result = [&failures](bp_error* error) { return failures-- > 0 ? refuse(error, "ServiceUnavailable") : 0; };
  const auto made = sink(script.table("again"));
  EXPECT_TRUE(made->process(event_named("a")));
  executor.run_until_idle();
  EXPECT_TRUE(made->process(event_named("b")));
  executor.fire_timers();
  executor.fire_timers();
  EXPECT_EQ(script.calls, (Calls{{"a"}, {"a"}, {"a"}, {"b"}}));
  EXPECT_EQ(lost_by("again"), 0);
}

TEST_F(TableAuditSinkTest, AfterFourCallsAndAfterAnotherErrorTheEventsAreLost) {
  const char* reason = "ServiceUnavailable";
  script.result = [&reason](bp_error* error) { return refuse(error, reason); };
  const auto made = sink(script.table("lost"));
  EXPECT_TRUE(made->process(event_named("a")));
  executor.run_until_idle();
  for (int i = 0; i < 10; ++i) executor.fire_timers();
  EXPECT_EQ(script.calls.size(), 4U);
  const std::vector<std::chrono::nanoseconds> pauses{milliseconds(100), milliseconds(1000), milliseconds(5000)};
  EXPECT_TRUE(std::equal(pauses.begin(), pauses.end(), executor.delays.begin()));
  EXPECT_EQ(lost_by("lost"), 1);
  reason = "";
  EXPECT_TRUE(made->process(event_named("b")));
  executor.fire_timers();
  EXPECT_EQ(script.calls.size(), 5U);
  EXPECT_EQ(lost_by("lost"), 2);
  EXPECT_NE(log.lines.at(0).find("the disk is full; the first: "), std::string::npos) << log.lines[0];
  EXPECT_NE(log.lines[0].find("id=\"a\""), std::string::npos) << log.lines[0];
}

TEST_F(TableAuditSinkTest, AFlushWritesWhatQueuesAndWaitsForNoPause) {
  script.result = [](bp_error* error) { return refuse(error, "ServiceUnavailable"); };
  const auto made = sink(script.table("flushed"));
  EXPECT_TRUE(made->process(event_named("a")));
  executor.run_until_idle();
  EXPECT_TRUE(made->process(event_named("b")));
  const auto ended = flush(*made);
  executor.run_until_idle();
  EXPECT_EQ(script.calls, (Calls{{"a"}, {"a"}, {"b"}}));
  EXPECT_EQ(script.flushes, 1);
  EXPECT_EQ(ended->value_or(false), true);
  executor.fire_timers();
  EXPECT_EQ(script.flushes, 1);
}

TEST(TableAuditPolicy, HasTheSettingsOfTheSink) {
  Script script;
  auto table = script.table("policy");
  table.level = BP_AUDIT_REQUEST;
  table.omit_stages = BP_AUDIT_REQUEST_RECEIVED | BP_AUDIT_PANIC;
  table.omit_managed_fields = 1;
  const AuthorizationAttributes wanted;
  const AuditDecision decision = audit_policy_of(table)->decide(RequestView(wanted));
  EXPECT_EQ(decision.level, AuditLevel::kRequest);
  EXPECT_TRUE(decision.omits(AuditStage::kRequestReceived));
  EXPECT_TRUE(decision.omits(AuditStage::kPanic));
  EXPECT_FALSE(decision.omits(AuditStage::kResponseComplete));
  EXPECT_TRUE(decision.omit_managed_fields);
}

}  // namespace
}  // namespace backplane::stable
