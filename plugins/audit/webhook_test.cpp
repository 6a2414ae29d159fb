// The webhook backend: batches, throttling, retries, and servers that hang.
#include "webhook_sink.hpp"

#include "sink_fixture.hpp"

namespace backplane::audit {
namespace {

using namespace std::chrono_literals;

class TextAnswer final : public HttpAnswer {
 public:
  explicit TextAnswer(int code) : code_(code) {}
  int code() const noexcept override { return code_; }
  const Headers& headers() const noexcept override { return headers_; }
  Task<Result<std::string>> read() override { co_return std::string(); }
  void cancel() override {}

 private:
  const int code_;
  const Headers headers_;
};

// A server that responds with `codes` in turn, then repeatedly with the last one; 0: an error; -1: no response until the call is aborted.
class ScriptedServer final : public HttpClient {
 public:
  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    calls.push_back(call);
    const int code = codes.size() > 1 ? codes.front() : codes.at(0);
    if (codes.size() > 1) codes.erase(codes.begin());
    if (code == 0) co_return service_unavailable("connection refused");
    if (code < 0) {
      Promise<Status> broken;
      call.breaker->attach([broken](Status why) { broken.set(std::move(why)); });
      co_return co_await broken.future();
    }
    co_return std::make_unique<TextAnswer>(code);
  }
  std::vector<int> codes{200};
  std::vector<HttpCall> calls;
};

struct WebhookSinkTest : SinkTest {
  WebhookSinkTest() {
    settings.batch.max_events = 2;
    settings.batch.max_wait = 30s;
    settings.batch.buffer_size = 10;
  }
  std::shared_ptr<WebhookSink> make() {
    auto poster = std::make_shared<WebhookPoster>(server, "https://hook/audit?timeout=30s", "/audit?timeout=30s", Headers{}, 10s);
    sink = std::make_shared<WebhookSink>(settings, poster, executor, log);
    return sink;
  }
  ~WebhookSinkTest() override {
    if (!sink) return;
    server->codes = {200};
    const auto flushed = flush(*sink);
    executor.run_until_idle(true);
    EXPECT_EQ(flushed->stored, true) << "nothing is left";
  }
  // Longer than all pauses of a call.
  void pass_time() {
    executor.run_until_idle();
    for (int i = 0; i < 8; ++i) executor.fire_timers();
  }
  std::string sent() const {
    std::string out;
    for (const HttpCall& call : server->calls) out.append(out.empty() ? "" : " | ").append(ids_in(call.body));
    return out;
  }
  WebhookSettings settings;
  const std::shared_ptr<ScriptedServer> server = std::make_shared<ScriptedServer>();
  std::shared_ptr<WebhookSink> sink;
};

TEST_F(WebhookSinkTest, SendsFullBatchesAtOnceAndOthersInTime) {
  make();
  for (const char* id : {"a", "b", "c"}) EXPECT_TRUE(sink->process(event_named(id)));
  executor.run_until_idle();
  EXPECT_EQ(sent(), "a b");
  executor.fire_timers();
  EXPECT_EQ(sent(), "a b | c");
  const HttpCall& call = server->calls.at(0);
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.target, "/audit?timeout=30s");
  EXPECT_TRUE(call.body.starts_with(R"({"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[{"level":"Metadata",)"));
  EXPECT_TRUE(call.body.ends_with("]}\n"));
}

TEST_F(WebhookSinkTest, DropsWhatFindsTheQueueFull) {
  settings.batch.buffer_size = 3;
  make();
  const double before = lost_by("buffered");
  for (const char* id : {"a", "b", "c", "d", "e"}) EXPECT_TRUE(sink->process(event_named(id)));
  EXPECT_EQ(lost_by("buffered"), before + 2);
  pass_time();
  EXPECT_EQ(sent(), "a b | c");
}

TEST_F(WebhookSinkTest, RepeatsWhatFailsFiveTimes) {
  server->codes = {0, 500, 404, 200};
  make();
  const double before = lost_by("webhook");
  for (const char* id : {"a", "b"}) sink->process(event_named(id));
  pass_time();
  EXPECT_EQ(sent(), "a b | a b | a b | a b");
  EXPECT_EQ(lost_by("webhook"), before);
  server->calls.clear();
  server->codes = {503};
  for (const char* id : {"c", "d"}) sink->process(event_named(id));
  pass_time();
  EXPECT_EQ(server->calls.size(), 5u);
  EXPECT_EQ(lost_by("webhook"), before + 2);
}

TEST_F(WebhookSinkTest, AServerThatHangsFillsTheQueue) {
  server->codes = {-1};
  settings.batch.max_events = 1;
  make();
  const double before = lost_by("buffered");
  for (int i = 0; i < 100; ++i) {
    sink->process(event_named(std::to_string(i)));
    executor.run_until_idle();
  }
  EXPECT_EQ(server->calls.size(), 64u) << "batches on their way are limited";
  EXPECT_GT(lost_by("buffered"), before + 20);
}

TEST_F(WebhookSinkTest, FlushSendsWhatIsThereAndEndsCallsThatHang) {
  make();
  sink->process(event_named("a"));
  const auto quick = flush(*sink);
  executor.run_until_idle();
  EXPECT_EQ(quick->stored, true);
  EXPECT_EQ(sent(), "a");
  const double late = lost_by("buffered");
  sink->process(event_named("b"));
  EXPECT_EQ(lost_by("buffered"), late + 1) << "after the end";

  server->codes = {-1};
  const auto hanging = make();
  const double before = lost_by("webhook");
  sink->process(event_named("c"));
  const auto slow = flush(*sink);
  executor.run_until_idle();
  EXPECT_FALSE(slow->stored.has_value());
  executor.fire_timers();
  EXPECT_EQ(slow->stored, true);
  EXPECT_EQ(lost_by("webhook"), before + 1);
}

TEST_F(WebhookSinkTest, FlushEndsThePausesBetweenAttempts) {
  server->codes = {500};
  settings.batch.max_events = 1;
  make();
  sink->process(event_named("a"));
  executor.run_until_idle();
  EXPECT_EQ(server->calls.size(), 1u) << "pauses";
  server->codes = {200};
  const auto waiter = flush(*sink);
  executor.run_until_idle();
  EXPECT_EQ(waiter->stored, true);
  EXPECT_EQ(server->calls.size(), 2u);
}

TEST_F(WebhookSinkTest, BatchesAreThrottled) {
  settings.batch.max_events = 1;
  settings.batch.throttle = true;
  settings.batch.qps = 0.001;
  settings.batch.burst = 2;
  make();
  for (const char* id : {"a", "b", "c"}) sink->process(event_named(id));
  executor.run_until_idle();
  EXPECT_EQ(sent(), "a | b");
  executor.fire_timers();
  EXPECT_EQ(sent(), "a | b | c");
}

TEST_F(WebhookSinkTest, BlockingModesWaitForTheServer) {
  for (const Mode mode : {Mode::kBlocking, Mode::kBlockingStrict}) {
    settings.batch.mode = mode;
    server->codes = {-1};
    make();
    EXPECT_TRUE(sink->precedes_responses());
    EXPECT_FALSE(sink->process(event_named("a")));
    const auto waiter = store(*sink, event_named("a"));
    executor.run_until_idle();
    EXPECT_FALSE(waiter->stored.has_value());
    const auto flushed = flush(*sink);
    executor.run_until_idle();
    executor.fire_timers();
    EXPECT_EQ(waiter->stored, mode == Mode::kBlocking);
    server->codes = {200};
    make();
    const auto quick = store(*sink, event_named("b"));
    executor.run_until_idle();
    EXPECT_EQ(quick->stored, true);
  }
}

TEST_F(WebhookSinkTest, LargeEventsAreSentWithoutTheirObjectsOrDropped) {
  settings.batch.max_events = 3;
  settings.truncate = {true, 700};
  make();
  const double before = lost_by("truncate");
  sink->process(event_named(std::string(1000, 'i')));
  sink->process(event_named("large", AuditStage::kResponseComplete, 1000));
  sink->process(event_named("small", AuditStage::kResponseComplete, 10));
  executor.run_until_idle();
  EXPECT_EQ(sent(), "large small");
  EXPECT_EQ(lost_by("truncate"), before + 1);
  EXPECT_NE(server->calls.at(0).body.find("\"items\":[{\"level\""), std::string::npos);
  EXPECT_NE(server->calls.at(0).body.find("audit.k8s.io/truncated"), std::string::npos);
}

}  // namespace
}  // namespace backplane::audit
