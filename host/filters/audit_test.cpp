// WithAudit: which events the sinks receive, and what is in them.
#include "filters/audit_event.hpp"
#include "filters/audit_registrations.hpp"
#include "filters/filters_fixture.hpp"

namespace backplane {
namespace {

using namespace std::chrono_literals;
using namespace filters_testing;

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
  void process(std::shared_ptr<const AuditEvent> event) noexcept override { events.push_back(std::move(event)); }
  Task<void> flush() override {
    ++flushes;
    if (breaks) throw std::runtime_error("a bug of the sink");
    co_return;
  }
  std::string stages() const {
    std::string out;
    for (const auto& event : events) out.append(out.empty() ? "" : " ").append(audit_stage_name(event->stage));
    return out;
  }
  std::vector<std::shared_ptr<const AuditEvent>> events;
  int flushes = 0;
  bool breaks = false;
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

constexpr std::string_view kStatusJson = R"({"metadata":{"name":"a","managedFields":[{"manager":"m"}]},"data":{"k":"v"}})";

// As the endpoints do it.
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
  EXPECT_EQ(received.audit_id, "id-1");
  EXPECT_EQ(received.verb, "create");
  EXPECT_EQ(received.request_uri, exchange.request_target);
  EXPECT_EQ(received.source_ips, (std::vector<std::string>{"10.0.0.1", "10.0.0.2", "127.0.0.1"}));
  EXPECT_EQ(received.user_agent, std::string(1024, 'x') + "...TRUNCATED");
  EXPECT_EQ(received.stage_reached, received.request_received);
  EXPECT_EQ(received.response_code, 0);
  EXPECT_EQ(received.name, "");
  const AuditEvent& complete = *sink->events[1];
  EXPECT_EQ(complete.level, AuditLevel::kRequestResponse);
  EXPECT_EQ(complete.user->name, "system:apiserver");
  EXPECT_FALSE(complete.impersonated_user.has_value());
  EXPECT_EQ((std::vector<std::string>{complete.resource, complete.ns, complete.name, complete.uid, complete.api_version,
                                      complete.resource_version}),
            (std::vector<std::string>{"configmaps", "n", "a", "u-1", "v1", "7"}));
  EXPECT_EQ(complete.response_code, 200);
  EXPECT_EQ(complete.request_object.view().data(), kStatusJson.data()) << "shared, not copied";
  EXPECT_EQ(complete.response_object.view().data(), kStatusJson.data()) << "shared, not copied";
  EXPECT_GE(complete.stage_reached, complete.request_received);
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
Task<void> says_nothing(RequestContext&, Exchange&) { co_return; }

TEST_F(Audited, ALongRunningRequestHasAnEventWhenItsResponseStarts) {
  const auto sink = add({AuditLevel::kMetadata});
  TestExchange watch;
  watch.request_target = "/api/v1/configmaps?watch=1";
  handler.answer = watches_once;
  ask(watch);
  EXPECT_EQ(sink->stages(), "RequestReceived ResponseStarted ResponseComplete");
  EXPECT_EQ(sink->events[1]->response_code, 200);
  EXPECT_TRUE(handler.of_context);
  handler.answer = says_nothing;
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
  EXPECT_EQ(sink->events[2]->user->name, "");
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
