// Tests which events the sinks of WithAudit receive, and the contents of the events.
#include "backplane/net/forwarding_exchange.hpp"
#include "filters/audit_event.hpp"
#include "filters/audit_registrations.hpp"
#include "filters/filters_fixture.hpp"

namespace backplane {
namespace {

using namespace std::chrono_literals;
using namespace filters_testing;

std::vector<std::string>* g_conflicts = nullptr;

void keep_conflict(const RequestContext& context, std::string_view key, std::string_view kept, std::string_view dropped) {
  g_conflicts->push_back(context.audit_id + " " + std::string(key) + " " + std::string(kept) + " " + std::string(dropped));
}

TEST(AuditAnnotations, ADroppedValueIsLogged) {
  std::vector<std::string> conflicts;
  g_conflicts = &conflicts;
  set_annotation_conflict_log(&keep_conflict);
  RequestContext context;
  context.audit_id = "id";
  EXPECT_TRUE(context.annotate("k", "a"));
  EXPECT_FALSE(context.annotate("k", "b"));
  EXPECT_TRUE(conflicts.empty()) << "the request is not audited";
  context.audit = std::make_shared<AuditRecord>();
  EXPECT_TRUE(context.annotate("k", "a"));
  EXPECT_FALSE(context.annotate("k", "b"));
  EXPECT_EQ(conflicts, std::vector<std::string>{"id k a b"});
  EXPECT_EQ(context.audit_annotations().at("k"), "a");
  set_annotation_conflict_log(nullptr);
}

class TestPolicy final : public AuditPolicy {
 public:
  explicit TestPolicy(AuditDecision decision) : decision_(decision) {}
  AuditDecision decide(const RequestView& request) const override {
    if (request.path == "/broken") throw std::runtime_error("a bug of the policy");
    users.push_back(request.user.name);
    return decision_;
  }
  mutable std::vector<std::string> users;

 private:
  const AuditDecision decision_;
};

class TestSink final : public AuditSink {
 public:
  std::string_view name() const noexcept override { return "test"; }
  bool process(std::shared_ptr<const AuditEvent> event) noexcept override {
    if (waits) return false;
    events.push_back(std::move(event));
    return true;
  }
  Task<bool> store(std::shared_ptr<const AuditEvent> event) override {
    if (breaks) throw std::runtime_error("a bug of the sink");
    co_await resume_on(other_loop);
    events.push_back(std::move(event));
    co_return stores;
  }
  bool precedes_responses() const noexcept override { return precedes; }
  Task<void> flush() override {
    ++flushes;
    if (when_flushed) when_flushed();
    if (breaks) throw std::runtime_error("a bug of the sink");
    co_return;
  }
  std::string stages() const {
    std::string out;
    for (const auto& event : events) out.append(out.empty() ? "" : " ").append(audit_stage_name(event->stage));
    return out;
  }
  std::vector<std::shared_ptr<const AuditEvent>> events;
  IoLoop other_loop{"other"};
  TestSink() { other_loop.start(); }
  std::function<void()> when_flushed;
  int flushes = 0;
  bool breaks = false, waits = false, stores = true, precedes = false;
};

struct Audited : Filters {
  Audited() { config.audit = &audit; }
  std::shared_ptr<TestSink> add(AuditDecision decision) {
    auto sink = std::make_shared<TestSink>();
    policy = std::make_shared<TestPolicy>(decision);
    registered.push_back({policy, sink});
    audit.set(registered);
    return sink;
  }
  AuditRegistrations audit;
  AuditRegistrations::List registered;
  std::shared_ptr<TestPolicy> policy;
};

Task<void> wait_for_signal(NamedSignal& signal) { co_await signal.wait(); }

constexpr std::string_view kStatusJson = R"({"metadata":{"name":"a","managedFields":[{"manager":"m"}]},"data":{"k":"v"}})";

// Fills the audit record like the endpoints do.
Task<void> notes_objects(RequestContext& context, Exchange& exchange) {
  if (AuditRecord* const record = context.audit.get()) {
    record->name = "a";
    record->uid = "u-1";
    record->resource_version = "7";
    record->request_object = SharedBytes::from_static(kStatusJson);
    record->response_object = SharedBytes::from_static(kStatusJson);
  }
  context.annotate("example.com/key", "value");
  co_await TestHandler::ok(context, exchange);
}

TEST_F(Audited, NothingIsRecordedWhileNothingIsRegistered) {
  bool audited = true;
  handler.answer = [&](RequestContext& context, Exchange& exchange) {
    audited = context.audit != nullptr;
    return TestHandler::ok(context, exchange);
  };
  TestExchange exchange;
  ask(exchange);
  EXPECT_EQ(exchange.code, 200);
  EXPECT_FALSE(audited);
}

TEST_F(Audited, ARequestHasOneEventForEachStage) {
  const auto sink = add({AuditLevel::kRequestResponse});
  handler.answer = notes_objects;
  TestExchange exchange;
  exchange.request_method = "POST";
  exchange.request_target = "/api/v1/namespaces/n/configmaps?fieldManager=me";
  exchange.request_headers = {
      {"audit-id", "id-1"}, {"user-agent", std::string(1030, 'x')}, {"x-forwarded-for", "10.0.0.1, junk, ::ffff:10.0.0.2"}};
  ask(exchange);
  ASSERT_EQ(sink->stages(), "RequestReceived ResponseComplete");
  EXPECT_EQ(policy->users, std::vector<std::string>{"system:apiserver"});
  const AuditEvent& received = *sink->events[0];
  EXPECT_EQ(received.request->audit_id, "id-1");
  EXPECT_EQ(received.request->verb, "create");
  EXPECT_EQ(received.request->request_uri, exchange.request_target);
  EXPECT_EQ(received.request->source_ips, (std::vector<std::string>{"10.0.0.1", "10.0.0.2", "127.0.0.1"}));
  EXPECT_EQ(received.request->user_agent, std::string(1024, 'x') + "...TRUNCATED");
  EXPECT_EQ(received.stage_reached, received.request->received);
  EXPECT_EQ(received.response_code, 0);
  EXPECT_EQ(received.name, "");
  const AuditEvent& complete = *sink->events[1];
  EXPECT_EQ(complete.level, AuditLevel::kRequestResponse);
  EXPECT_EQ(complete.request->user->name, "system:apiserver");
  EXPECT_FALSE(complete.impersonated_user.has_value());
  EXPECT_EQ((std::vector<std::string>{complete.request->resource, complete.request->ns, complete.name, complete.uid,
                                      complete.request->api_version, complete.resource_version}),
            (std::vector<std::string>{"configmaps", "n", "a", "u-1", "v1", "7"}));
  EXPECT_EQ(complete.response_code, 200);
  EXPECT_EQ(complete.request_object.view().data(), kStatusJson.data()) << "shared, not copied";
  EXPECT_EQ(complete.response_object.view().data(), kStatusJson.data()) << "shared, not copied";
  EXPECT_GE(complete.stage_reached, complete.request->received);
  EXPECT_EQ(complete.annotations,
            (std::map<std::string, std::string, std::less<>>{
                {"authorization.k8s.io/decision", "allow"}, {"authorization.k8s.io/reason", ""}, {"example.com/key", "value"}}));
}

TEST_F(Audited, EachSinkReceivesWhatItsOwnPolicyDecides) {
  const auto none = add({AuditLevel::kNone});
  const auto metadata = add({AuditLevel::kMetadata, 1U << static_cast<unsigned>(AuditStage::kRequestReceived)});
  const auto request = add({AuditLevel::kRequest, 0, true});
  const auto all = add({AuditLevel::kRequestResponse});
  handler.answer = notes_objects;
  TestExchange exchange;
  exchange.request_method = "PUT";
  exchange.request_target = "/api/v1/namespaces/n/configmaps/a";
  ask(exchange);
  EXPECT_TRUE(none->events.empty());
  EXPECT_EQ(metadata->stages(), "ResponseComplete");
  EXPECT_TRUE(metadata->events[0]->request_object.empty());
  EXPECT_EQ(metadata->events[0]->level, AuditLevel::kMetadata);
  ASSERT_EQ(request->stages(), "RequestReceived ResponseComplete");
  EXPECT_EQ(request->events[1]->request_object.view(), R"({"metadata":{"name":"a"},"data":{"k":"v"}})");
  EXPECT_TRUE(request->events[1]->response_object.empty());
  EXPECT_EQ(all->events[1]->response_object.view(), kStatusJson);
}

Task<void> watches_once(RequestContext&, Exchange& exchange) {
  Status status = co_await exchange.start(200, "application/json");
  if (status.ok()) co_await exchange.finish();
}
Task<void> send_no_response(RequestContext&, Exchange&) { co_return; }

TEST_F(Audited, ALongRunningRequestHasAnEventWhenItsResponseStarts) {
  const auto sink = add({AuditLevel::kMetadata});
  TestExchange watch;
  watch.request_target = "/api/v1/configmaps?watch=1";
  handler.answer = watches_once;
  ask(watch);
  EXPECT_EQ(sink->stages(), "RequestReceived ResponseStarted ResponseComplete");
  EXPECT_EQ(sink->events[1]->response_code, 200);
  EXPECT_TRUE(handler.of_context);
  handler.answer = send_no_response;
  TestExchange closed_early;
  closed_early.request_target = "/api/v1/configmaps?watch=1";
  ask(closed_early);
  EXPECT_EQ(sink->events.size(), 6u);
  EXPECT_EQ(sink->events[4]->stage, AuditStage::kResponseStarted);
  EXPECT_EQ(sink->events[5]->response_code, 0);
}

TEST_F(Audited, AnExceptionIsAPanicInsteadOfACompleteResponse) {
  const auto sink = add({AuditLevel::kMetadata});
  handler.answer = throws;
  TestExchange exchange;
  ask(exchange);
  EXPECT_EQ(exchange.code, 500);
  ASSERT_EQ(sink->stages(), "RequestReceived Panic");
  EXPECT_EQ(sink->events[1]->response_code, 500);
  EXPECT_EQ(sink->events[1]->response_status.message(), "APIServer panic'd: a bug");
}

TEST_F(Audited, RefusalsAreAuditedWithTheirStatus) {
  const auto sink = add({AuditLevel::kMetadata});
  config.authentication = &by_credential;
  TestExchange forbidden_one;
  forbidden_one.request_target = "/api/v1/pods";
  ask(forbidden_one);
  ASSERT_EQ(sink->stages(), "RequestReceived ResponseComplete");
  EXPECT_EQ(sink->events[1]->response_code, 403);
  EXPECT_EQ(sink->events[1]->response_status.reason(), Reason::kForbidden);
  EXPECT_EQ(sink->events[1]->annotations.at("authorization.k8s.io/decision"), "forbid");
  TestExchange unauthorized_one;
  unauthorized_one.request_headers = {{"authorization", "Bearer junk"}};
  ask(unauthorized_one);
  ASSERT_EQ(sink->stages(), "RequestReceived ResponseComplete ResponseStarted");
  EXPECT_EQ(sink->events[2]->response_code, 401);
  EXPECT_EQ(sink->events[2]->request->user->name, "");
  TestExchange bad_timeout;
  bad_timeout.request_target = "/api/v1/pods?timeout=soon";
  ask(bad_timeout);
  ASSERT_EQ(sink->stages(), "RequestReceived ResponseComplete ResponseStarted ResponseStarted");
  EXPECT_EQ(sink->events[3]->response_code, 400);
}

TEST_F(Audited, ARequestWhosePolicyThrowsIsNotServed) {
  add({AuditLevel::kMetadata});
  TestExchange exchange;
  exchange.request_target = "/broken";
  ask(exchange);
  EXPECT_EQ(exchange.code, 500);
  EXPECT_NE(exchange.body.find("failed to create audit event"), std::string::npos);
  EXPECT_EQ(handler.calls, 0);
}

TEST_F(Audited, RegistrationsAreReplacedWhileRequestsRun) {
  const auto before = add({AuditLevel::kMetadata});
  handler.answer = [&](RequestContext& context, Exchange& exchange) {
    audit.set({});
    return TestHandler::ok(context, exchange);
  };
  TestExchange running, later;
  ask(running);
  ask(later);
  EXPECT_EQ(before->stages(), "RequestReceived ResponseComplete") << "a request ends with the registrations that it began with";
}

TEST_F(Audited, EverySinkIsFlushedEvenIfOneThrows) {
  const auto first = add({AuditLevel::kMetadata}), second = add({AuditLevel::kMetadata});
  first->breaks = true;
  const auto flush = [](const AuditRegistrations& registrations) { return registrations.flush(); };
  run_on(loop, flush(audit));
  EXPECT_EQ(first->flushes, 1);
  EXPECT_EQ(second->flushes, 1);
}

TEST_F(Audited, ARequestWhoseFirstEventIsLostIsNotServed) {
  const auto sink = add({AuditLevel::kMetadata});
  sink->waits = true;
  sink->stores = false;
  TestExchange exchange;
  exchange.expected_executor = &loop;
  exchange.request_target = "/readyz?<b>";
  ask(exchange);
  EXPECT_EQ(exchange.code, 500);
  EXPECT_EQ(exchange.body, "Internal Server Error: \"/readyz?&lt;b&gt;\": failed to store audit event\n");
  EXPECT_EQ(handler.calls, 0);
  EXPECT_EQ(sink->stages(), "RequestReceived") << "a rejected request has no further event";
  EXPECT_EQ(exchange.wrong_executor_calls, 0);
}

TEST_F(Audited, OnlyTheFirstEventIsNeeded) {
  const auto sink = add({AuditLevel::kMetadata, 1U << static_cast<unsigned>(AuditStage::kRequestReceived)});
  sink->waits = true;
  sink->stores = false;
  TestExchange exchange;
  exchange.expected_executor = &loop;
  ask(exchange);
  EXPECT_EQ(exchange.code, 200);
  EXPECT_EQ(sink->stages(), "ResponseComplete");
  EXPECT_EQ(exchange.wrong_executor_calls, 0) << "whatever executor the sink ends on";
}

TEST_F(Audited, ASinkThatThrowsHasLostTheEvent) {
  const auto sink = add({AuditLevel::kMetadata});
  sink->waits = sink->breaks = true;
  TestExchange exchange;
  ask(exchange);
  EXPECT_EQ(exchange.code, 500);
  EXPECT_EQ(handler.calls, 0);
}

// Stores how many events had been sent when the response was sent.
class ObservedExchange final : public ForwardingExchange {
 public:
  ObservedExchange(Exchange& inner, const TestSink& sink) : ForwardingExchange(inner), sink_(sink) {}
  Task<void> respond(int code, std::string_view type, std::vector<SharedBytes> body) override {
    stages = sink_.stages();
    return inner().respond(code, type, std::move(body));
  }
  std::string stages;

 private:
  const TestSink& sink_;
};

TEST_F(Audited, AResponseFollowsItsEventIfTheSinkWantsIt) {
  const auto sink = add({AuditLevel::kMetadata});
  for (const bool precedes : {false, true}) {
    sink->precedes = sink->waits = precedes;
    sink->events.clear();
    TestExchange exchange;
    ObservedExchange observed(exchange, *sink);
    HandlerChain chain(config, handler);
    const auto send = [](HandlerChain& to, Exchange& from) -> Task<void> {
      RequestContext context;
      co_await to.handle(context, from);
    };
    run_on(loop, send(chain, observed));
    EXPECT_EQ(observed.stages, precedes ? "RequestReceived ResponseComplete" : "RequestReceived");
    EXPECT_EQ(sink->stages(), "RequestReceived ResponseComplete");
    EXPECT_EQ(sink->events[1]->response_code, 200);
  }
}

Task<void> takes_long(RequestContext& context, Exchange& exchange) {
  context.received -= 600ms;
  context.latencies.storage = 250ms;
  context.latencies.queue_wait = 1500us;
  co_await TestHandler::ok(context, exchange);
}

TEST_F(Audited, SlowRequestsHaveTheTimesOfTheirParts) {
  const auto sink = add({AuditLevel::kMetadata});
  handler.answer = takes_long;
  TestExchange exchange;
  ask(exchange);
  const auto& annotations = sink->events.at(1)->annotations;
  EXPECT_EQ(annotations.at("apiserver.latency.k8s.io/etcd"), "250ms");
  EXPECT_EQ(annotations.at("apiserver.latency.k8s.io/apf-queue-wait"), "1.5ms");
  EXPECT_TRUE(annotations.at("apiserver.latency.k8s.io/total").starts_with("600."));
  for (const auto* measured : {"authentication", "authorization", "response-write"}) {
    EXPECT_TRUE(annotations.contains(std::string("apiserver.latency.k8s.io/") + measured)) << measured;
  }
  EXPECT_FALSE(annotations.contains("apiserver.latency.k8s.io/impersonation")) << "zero";
  TestExchange watch;
  watch.request_target = "/api/v1/configmaps?watch=1";
  ask(watch);
  EXPECT_EQ(sink->events.back()->annotations.size(), 2u) << "watches are not measured";
  handler.answer = TestHandler::ok;
  TestExchange quick;
  ask(quick);
  EXPECT_EQ(sink->events.back()->annotations.size(), 2u);
}

TEST_F(Audited, TheImpersonatedUserIsAnEventsSecondUser) {
  const auto sink = add({AuditLevel::kMetadata});
  handler.answer = [](RequestContext& context, Exchange& exchange) {
    context.user = UserInfo{"jane", "", {}, {}};
    context.audit->impersonation_constraint = "impersonate:user-info";
    return TestHandler::ok(context, exchange);
  };
  TestExchange exchange;
  ask(exchange);
  EXPECT_FALSE(sink->events[0]->impersonated_user.has_value());
  EXPECT_EQ(sink->events[1]->request->user->name, "system:apiserver");
  EXPECT_EQ((*sink->events[1]->impersonated_user)->name, "jane");
  EXPECT_EQ(sink->events[1]->impersonation_constraint, "impersonate:user-info");
}

TEST_F(Audited, RefusalsHaveTheResponseAsObject) {
  const auto sink = add({AuditLevel::kRequestResponse});
  config.authentication = &by_credential;
  TestExchange exchange;
  exchange.request_headers = {{"authorization", "Bearer junk"}};
  ask(exchange);
  ASSERT_EQ(sink->stages(), "ResponseStarted");
  EXPECT_EQ(sink->events[0]->response_status.message(), "Unauthorized");
  EXPECT_NE(sink->events[0]->response_object.view().find("\"reason\":\"Unauthorized\""), std::string_view::npos);
}

TEST_F(Audited, AWithdrawnSinkIsFlushedAfterItsLastRequest) {
  const auto sink = add({AuditLevel::kMetadata}), stays = add({AuditLevel::kMetadata});
  NamedSignal flushed("flushed");
  sink->when_flushed = [&] { flushed.fire(); };
  audit.use_executor(loop);
  audit.set({});
  audit.set(registered);
  handler.answer = [&](RequestContext& context, Exchange& exchange) {
    audit.set({registered[1]});
    EXPECT_EQ(sink->flushes, 0) << "this request still has an event for it";
    return TestHandler::ok(context, exchange);
  };
  TestExchange exchange;
  ask(exchange);
  run_on(loop, wait_for_signal(flushed));
  EXPECT_EQ(sink->stages(), "RequestReceived ResponseComplete");
  EXPECT_EQ(stays->flushes, 0);
}

TEST_F(Audited, RequestsAndEventsAreCounted) {
  const auto count = [](std::string_view name, std::vector<std::string> labels) {
    for (const Metric::Snapshot& metric : Metric::all()) {
      if (metric.name == name && metric.series.contains(labels)) return metric.series.at(labels).value;
    }
    return 0.0;
  };
  const double events = count("apiserver_audit_event_total", {}), rejected = count("apiserver_audit_requests_rejected_total", {});
  const double metadata = count("apiserver_audit_level_total", {"Metadata"});
  add({AuditLevel::kMetadata});
  const auto second = add({AuditLevel::kMetadata});
  TestExchange served, refused;
  ask(served);
  EXPECT_EQ(count("apiserver_audit_event_total", {}), events + 2) << "whatever the number of sinks";
  EXPECT_EQ(count("apiserver_audit_level_total", {"Metadata"}), metadata + 1);
  EXPECT_EQ(count("apiserver_audit_requests_rejected_total", {}), rejected);
  second->waits = true;
  second->stores = false;
  ask(refused);
  EXPECT_EQ(count("apiserver_audit_requests_rejected_total", {}), rejected + 1);
}

TEST(ManagedFields, AreLeftOutOfObjectsListsAndTables) {
  const auto without = [](std::string_view json) { return std::string(without_managed_fields(SharedBytes(std::string(json))).view()); };
  EXPECT_EQ(without(R"({"items":[{"metadata":{"name":"a","managedFields":[]}},{"metadata":{}}]})"),
            R"({"items":[{"metadata":{"name":"a"}},{"metadata":{}}]})");
  EXPECT_EQ(without(R"({"rows":[{"cells":[1],"object":{"metadata":{"managedFields":[],"name":"a"}}}]})"),
            R"({"rows":[{"cells":[1],"object":{"metadata":{"name":"a"}}}]})");
  EXPECT_EQ(without(R"([{"op":"remove","path":"/metadata/managedFields"}])"), R"([{"op":"remove","path":"/metadata/managedFields"}])");
}

}  // namespace
}  // namespace backplane
