#include <gtest/gtest.h>

#include <deque>

#include "authorization_v1_json.hpp"
#include "backplane/core/metrics.hpp"
#include "backplane/kit/group.hpp"
#include "fake_host.hpp"
#include "webhook/webhook_authorizer.hpp"

namespace backplane::authorization {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<const SchemaSet> review_schemas() {
  auto schemas = kit::embedded_schemas({authorization_v1_json()});
  return schemas.ok() ? schemas->front() : nullptr;
}

class TextAnswer final : public HttpAnswer {
 public:
  TextAnswer(int code, std::string body) : code_(code), body_(std::move(body)) {}
  int code() const noexcept override { return code_; }
  const Headers& headers() const noexcept override { return headers_; }
  Task<Result<std::string>> read() override { co_return std::exchange(body_, std::string()); }
  void cancel() override {}

 private:
  const int code_;
  const Headers headers_;
  std::string body_;
};

struct Reply {
  int code = 200;
  std::string body;
  Status problem = {};
};

class Webhook final : public HttpClient {
 public:
  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    bodies.push_back(std::move(call.body));
    if (!reply.problem.ok()) co_return reply.problem;
    co_return std::unique_ptr<HttpAnswer>(std::make_unique<TextAnswer>(reply.code, reply.body));
  }
  Reply reply;
  std::vector<std::string> bodies;
};

constexpr const char* kAllowed =
    R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","status":{"allowed":true,"reason":"yes"}})";

struct WebhookAuthorizerTest : testing::Test {
  WebhookAuthorizerTest() {
    config.review_version = "v1";
    config.failure_policy = "NoOpinion";
    config.timeout = 1s;
    wanted.user = UserInfo{"jane", "u1", {"g1", "g2"}, {{"b", {"2"}}, {"a", {"1"}}}};
    wanted.resource_request = true;
    wanted.verb = "get";
    wanted.api_group = "apps";
    wanted.api_version = "v1";
    wanted.resource = "deployments";
    wanted.ns = "n";
    wanted.name = "d";
  }
  std::shared_ptr<WebhookAuthorizer> make() {
    host.clients = [this](ClientConfig) { return Result<std::shared_ptr<HttpClient>>(server); };
    kit::KubeconfigServer at;
    at.client.server = "https://h";
    at.path = "/";
    kit::ReviewWebhookOptions options;
    options.retries.attempts = 2;
    return std::make_shared<WebhookAuthorizer>("hook", config, *kit::ReviewWebhook::make(host, at, options), review_schemas(), 60s,
                                               host.log);
  }
  static Task<void> store(Authorizer& authorizer, const AuthorizationAttributes& attributes, AuthorizerResult& out) {
    auto asking = authorizer.authorize(attributes);
    out = co_await std::move(asking);
  }
  // As the host calls it.
  AuthorizerResult ask(WebhookAuthorizer& authorizer) {
    if (auto now = authorizer.decide_now(RequestView(wanted))) return *now;
    AuthorizerResult out;
    spawn_detached(host.turns, store(authorizer, wanted, out));
    host.turns.run_until_idle(/*timers=*/true);
    return out;
  }
  AuthorizerResult ask_once(int code, std::string body) {
    server->reply = {code, std::move(body)};
    return ask(*make());
  }
  static double count(std::string_view name, std::vector<std::string> labels) {
    for (const auto& metric : Metric::all()) {
      if (metric.name != name) continue;
      const auto found = metric.series.find(labels);
      return found == metric.series.end() ? 0 : found->second.value + static_cast<double>(found->second.count);
    }
    return 0;
  }

  test::FakeHost host;
  std::shared_ptr<Webhook> server = std::make_shared<Webhook>();
  WebhookConfig config;
  AuthorizationAttributes wanted;
};

TEST_F(WebhookAuthorizerTest, TheReviewIsUpstreams) {
  wanted.fields = *FieldSelector::parse("a=b,c!=d");
  wanted.labels = *LabelSelector::parse("x in (1,2),!y,z>3");
  ask_once(200, kAllowed);
  ASSERT_EQ(server->bodies.size(), 1u);
  EXPECT_EQ(
      server->bodies[0],
      R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{},"spec":{"resourceAttributes":{)"
      R"("namespace":"n","verb":"get","group":"apps","version":"v1","resource":"deployments","name":"d",)"
      R"("fieldSelector":{"requirements":[{"key":"a","operator":"In","values":["b"]},{"key":"c","operator":"NotIn","values":["d"]}]},)"
      R"("labelSelector":{"requirements":[{"key":"x","operator":"In","values":["1","2"]},{"key":"y","operator":"DoesNotExist"}]}},)"
      R"("user":"jane","groups":["g1","g2"],"extra":{"a":["1"],"b":["2"]},"uid":"u1"},"status":{"allowed":false}})"
      "\n");
  config.review_version = "v1beta1";
  wanted = {};
  wanted.user = UserInfo{"jane", "", {"g"}, {}};
  wanted.verb = "get";
  wanted.path = "/x";
  ask_once(200, "{}");
  EXPECT_EQ(server->bodies[1],
            R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1beta1","metadata":{},"spec":{)"
            R"("nonResourceAttributes":{"path":"/x","verb":"get"},"user":"jane","group":["g"]},"status":{"allowed":false}})"
            "\n");
}

TEST_F(WebhookAuthorizerTest, ReadableRequirementsAreSentWithoutTheOthers) {
  wanted.fields = *FieldSelector::parse("a=b");
  wanted.fields_error = wanted.labels_error = bad_request("no selector");
  ask_once(200, kAllowed);
  ASSERT_EQ(server->bodies.size(), 1u);
  EXPECT_NE(server->bodies[0].find(R"("name":"d","fieldSelector":{"requirements":[{"key":"a","operator":"In","values":["b"]}]}},"user")"),
            std::string::npos)
      << server->bodies[0];
}

TEST_F(WebhookAuthorizerTest, TheAnswerDecides) {
  auto result = ask_once(200, kAllowed);
  EXPECT_EQ(result.decision, Decision::kAllow);
  EXPECT_EQ(result.reason, "yes");
  result = ask_once(201, R"({"status":{"allowed":false,"denied":true,"reason":"no"}})");
  EXPECT_EQ(result.decision, Decision::kDeny);
  EXPECT_EQ(result.reason, "no");
  result = ask_once(200, R"({"status":{"allowed":false,"reason":"who"}})");
  EXPECT_EQ(result.decision, Decision::kNoOpinion);
  EXPECT_EQ(result.reason, "who");
  EXPECT_TRUE(result.error.ok());
  result = ask_once(200, R"({"status":{"allowed":true,"denied":true}})");
  EXPECT_EQ(result.decision, Decision::kDeny);
  EXPECT_EQ(result.error.message(), "webhook subject access review returned both allow and deny response");
}

TEST_F(WebhookAuthorizerTest, RubbishIsAnErrorWithTheDecisionOfThePolicy) {
  for (const char* body :
       {"rubbish", "", "[]", R"({"kind":"Pod","apiVersion":"v1"})", R"({"status":{"allowed":"yes"}})", R"({"status":[]})",
        R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1beta1","status":{"allowed":true}})",
        R"({"kind":"Status","status":"Failure","message":"no"})"}) {
    config.failure_policy = "NoOpinion";
    auto result = ask_once(200, body);
    EXPECT_EQ(result.decision, Decision::kNoOpinion) << body;
    EXPECT_FALSE(result.error.ok()) << body;
    config.failure_policy = "Deny";
    EXPECT_EQ(ask_once(200, body).decision, Decision::kDeny) << body;
  }
}

TEST_F(WebhookAuthorizerTest, FailuresAreRepeatedAndCounted) {
  const std::string evaluations = "apiserver_authorization_webhook_evaluations_total";
  const std::string open = "apiserver_authorization_webhook_evaluations_fail_open_total";
  const double errors = count(evaluations, {"hook", "error"}), opened = count(open, {"hook", "error"});
  ask_once(500, "x");
  EXPECT_EQ(server->bodies.size(), 2u);
  EXPECT_EQ(count(evaluations, {"hook", "error"}) - errors, 2);
  EXPECT_EQ(count(open, {"hook", "error"}) - opened, 1);
  config.failure_policy = "Deny";
  ask_once(500, "x");
  EXPECT_EQ(count(open, {"hook", "error"}) - opened, 1) << "nothing is open";
  const double timeouts = count(evaluations, {"hook", "timeout"});
  server->reply.problem = Status(Reason::kTimeout, "context deadline exceeded");
  EXPECT_EQ(ask(*make()).error.message(), R"(Post "https://h/?timeout=30s": context deadline exceeded)");
  EXPECT_EQ(count(evaluations, {"hook", "timeout"}) - timeouts, 1);
}

TEST_F(WebhookAuthorizerTest, AnswersAreCachedAsLongAsTheyMay) {
  server->reply = {200, kAllowed};
  auto authorizer = make();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(*authorizer).decision, Decision::kAllow);
  EXPECT_EQ(server->bodies.size(), 1u);
  wanted.name = "other";
  ask(*authorizer);
  EXPECT_EQ(server->bodies.size(), 2u) << "another question";
  wanted.name = std::string(10'000, 'x');
  for (int i = 0; i < 2; ++i) ask(*authorizer);
  EXPECT_EQ(server->bodies.size(), 4u) << "what the client controls is too long";
  wanted.name = "d";
  config.cache_authorized = false;
  authorizer = make();
  for (int i = 0; i < 2; ++i) ask(*authorizer);
  EXPECT_EQ(server->bodies.size(), 6u);
  server->reply = {200, R"({"status":{"denied":true}})"};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ask(*authorizer).decision, Decision::kDeny);
  EXPECT_EQ(server->bodies.size(), 7u) << "unauthorized answers have a switch of their own";
  config.cache_unauthorized = false;
  authorizer = make();
  for (int i = 0; i < 2; ++i) ask(*authorizer);
  EXPECT_EQ(server->bodies.size(), 9u);
  server->reply = {200, "rubbish"};
  config.cache_unauthorized = true;
  authorizer = make();
  for (int i = 0; i < 2; ++i) ask(*authorizer);
  EXPECT_EQ(server->bodies.size(), 11u) << "errors are not cached";
}

TEST_F(WebhookAuthorizerTest, ConditionsChooseTheRequestsThatAreAsked) {
  server->reply = {200, kAllowed};
  const auto decision_with = [&](std::vector<std::string> conditions) {
    config.match_conditions = std::move(conditions);
    server->bodies.clear();
    return ask(*make());
  };
  const std::vector<std::string> matching = {
      "request.resourceAttributes.resource == 'deployments' && request.resourceAttributes.subresource == ''",
      "request.user == 'jane' && request.uid == 'u1' && 'g2' in request.groups", "request.extra['a'] == ['1']",
      "!has(request.nonResourceAttributes)", "!has(request.resourceAttributes.fieldSelector)"};
  EXPECT_EQ(decision_with(matching).decision, Decision::kAllow);
  const double excluded = count("apiserver_authorization_match_condition_exclusions_total", {"Webhook", "hook"});
  EXPECT_EQ(decision_with({"request.nonResourceAttributes.path == '/'", "request.user == 'joe'"}).error.message(), "")
      << "one is false: the error of the other is ignored";
  EXPECT_TRUE(server->bodies.empty());
  EXPECT_EQ(count("apiserver_authorization_match_condition_exclusions_total", {"Webhook", "hook"}) - excluded, 1);
  const double failed = count("apiserver_authorization_match_condition_evaluation_errors_total", {"Webhook", "hook"});
  auto result = decision_with({"request.nonResourceAttributes.path == '/'"});
  EXPECT_EQ(result.decision, Decision::kNoOpinion);
  EXPECT_EQ(result.error.message(),
            "cel evaluation error: expression 'request.nonResourceAttributes.path == '/'' resulted in error: no such "
            "key: nonResourceAttributes");
  EXPECT_EQ(count("apiserver_authorization_match_condition_evaluation_errors_total", {"Webhook", "hook"}) - failed, 1);
  config.failure_policy = "Deny";
  EXPECT_EQ(decision_with({"request.nonResourceAttributes.path == '/'"}).decision, Decision::kDeny);
  EXPECT_TRUE(server->bodies.empty());
  wanted.fields = *FieldSelector::parse("spec.nodeName=n1");
  const std::string selector =
      "request.resourceAttributes.fieldSelector.requirements.exists(r, r.key == 'spec.nodeName' && r.values == ['n1'])";
  EXPECT_EQ(decision_with({selector}).decision, Decision::kAllow);
}

TEST_F(WebhookAuthorizerTest, AnExpensiveConditionIsAnError) {
  config.match_conditions = {"request.groups.all(a, request.groups.all(b, request.groups.all(c, a + b != c)))"};
  wanted.user = UserInfo{"jane", "", std::vector<std::string>(200, "g"), {}};
  EXPECT_NE(ask(*make()).error.message().find("operation cancelled: actual cost limit exceeded"), std::string::npos);
}

TEST(DecisionCacheTest, EntriesExpireAndTheOldestMakeRoom) {
  auto now = DecisionCache::Clock::now();
  DecisionCache cache([&] { return now; });
  cache.put("a", {true, false, "r"}, 10s);
  cache.put("never", {true, false, ""}, 0s);
  cache.put("long", {true, false, std::string(DecisionCache::kLongestReason + 1, 'x')}, 10s);
  EXPECT_FALSE(cache.get("never") || cache.get("long"));
  ASSERT_TRUE(cache.get("a"));
  EXPECT_EQ(cache.get("a")->reason, "r");
  now += 10s;
  EXPECT_FALSE(cache.get("a"));
  EXPECT_EQ(cache.size(), 0u);
  for (std::size_t i = 0; i < 3 * DecisionCache::kMostEntries; ++i) {
    cache.put(std::to_string(i), {}, 10s);
    if (i > 0) cache.put("0", {}, 10s);
  }
  EXPECT_EQ(cache.size(), DecisionCache::kMostEntries);
  EXPECT_TRUE(cache.get("0")) << "it was used again and again";
  EXPECT_FALSE(cache.get("1"));
}

}  // namespace
}  // namespace backplane::authorization
