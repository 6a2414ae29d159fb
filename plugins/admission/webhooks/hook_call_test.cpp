#include "webhooks/hook_call.hpp"

#include <gtest/gtest.h>

#include "backplane/core/request.hpp"
#include "fake_host.hpp"

namespace backplane::admission::webhooks {
namespace {

using namespace std::chrono_literals;
using test::FakeHost;

class HookAnswer final : public HttpAnswer {
 public:
  HookAnswer(int code, Headers headers, std::string body) : code_(code), headers_(std::move(headers)), body_(std::move(body)) {}
  int code() const noexcept override { return code_; }
  const Headers& headers() const noexcept override { return headers_; }
  Task<Result<std::string>> read() override { co_return std::exchange(body_, std::string()); }
  void cancel() override {}

 private:
  const int code_;
  const Headers headers_;
  std::string body_;
};

// Responds to every review with `response`, whose "$uid" is replaced, or fails with `problem`.
class HookServer final : public HttpClient {
 public:
  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    calls.push_back(std::move(call));
    if (!problem.empty()) co_return service_unavailable(problem);
    const Value review = json::parse(calls.back().body);
    std::string body = response;
    const std::string uid(get_string_path(review.get_object(), "request.uid"));
    if (const auto at = body.find("$uid"); at != std::string::npos) body.replace(at, 4, uid);
    const int now = codes.size() > 1 ? codes.front() : codes.back();
    if (codes.size() > 1) codes.erase(codes.begin());
    Headers headers = {{"Content-Type", "application/json"}};
    if (now >= 400 && !retry_after.empty()) headers.emplace_back("Retry-After", retry_after);
    co_return std::unique_ptr<HttpAnswer>(std::make_unique<HookAnswer>(now, std::move(headers), body));
  }
  std::string response = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"$uid","allowed":true}})";
  std::string problem, retry_after;
  std::vector<int> codes = {200};
  std::vector<HttpCall> calls;
};

class HookServices final : public ServiceResolver {
 public:
  Task<Result<std::string>> resolve(std::string ns, std::string name, int) override { co_return ns + "-" + name + ":8443"; }
};

class HookCallTest : public testing::Test {
 protected:
  HookCallTest() {
    host_.clients = [this](ClientConfig config) {
      configs_.push_back(std::move(config));
      return Result<std::shared_ptr<HttpClient>>(server_);
    };
    attributes_.resource = {"", "v1", "pods"};
    attributes_.kind = {"", "v1", "Pod"};
    attributes_.ns = "ns";
    attributes_.name = "name";
    attributes_.context = &context_;
  }
  // The only webhook of a configuration; `members` are added to it.
  HookRef hook(const std::string& members, HookType type = HookType::kValidating) {
    const Value configuration = json::parse(
        R"({"metadata":{"name":"c"},"webhooks":[{"name":"h.example.com","sideEffects":"None","admissionReviewVersions":["v1"])" + members +
        "}]}");
    return read_hooks(configuration.get_object(), type, {host_, std::make_shared<HookServices>(), configuration_}).front();
  }
  // Calls the webhook and returns the refusal: "" if the write continues.
  std::string call(const HookRef& hook) {
    std::string out = "unfinished";
    host_.turns.start(call_and_finish(hook, out));
    host_.turns.run_until_idle(/*timers=*/true);
    return out;
  }
  Task<void> call_and_finish(HookRef hook, std::string& out) {
    const HookRuntime runtime{host_, configuration_.chain_budget};
    HookEnd end;
    if (auto refused = refuse_dry_run(*hook, attributes_)) {
      end = std::move(*refused);
    } else {
      ReviewCache reviews;
      const EncodedReview* review = hook->review_version.empty()
                                        ? nullptr
                                        : &reviews.get(*hook, attributes_, {attributes_.resource, attributes_.kind}, nullptr, nullptr);
      auto calling = call_hook(runtime, *hook, attributes_, review);
      end = co_await std::move(calling);
    }
    code_ = end.code;
    const auto refusal = finish_call(runtime, *hook, attributes_, std::move(end), "failed-open.example.com/index");
    out = refusal ? std::to_string(refusal->code()) + " " + refusal->message() : "";
  }
  std::string annotation(const char* key) const {
    const auto found = context_.audit_annotations().find(key);
    return found == context_.audit_annotations().end() ? "" : found->second;
  }

  static constexpr const char* kUrl = R"(,"clientConfig":{"url":"https://hooks.example.com/x"},"timeoutSeconds":7)";
  static constexpr const char* kService = R"(,"clientConfig":{"service":{"namespace":"ns","name":"hook"}},"timeoutSeconds":7)";

  FakeHost host_;
  std::shared_ptr<HookServer> server_ = std::make_shared<HookServer>();
  std::vector<ClientConfig> configs_;
  WebhookConfiguration configuration_;
  RequestContext context_;
  AdmissionAttributes attributes_;
  int code_ = 0;
};

constexpr const char* kDown = "dial tcp: connection refused";

TEST_F(HookCallTest, AnAllowedWriteGoesOnWithAnnotationsAndWarnings) {
  server_->response = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"$uid","allowed":true,
      "auditAnnotations":{"key":"value"},"warnings":["careful"]}})";
  EXPECT_EQ(call(hook(kUrl)), "");
  EXPECT_EQ(annotation("h.example.com/key"), "value");
  EXPECT_EQ(context_.warnings(), (std::vector<std::string>{"careful"}));
  EXPECT_EQ(server_->calls[0].target, "/x?timeout=7s");
  EXPECT_EQ(configs_[0].user_agent, "kube-apiserver-admission");
}

TEST_F(HookCallTest, TheRequestsDeadlineShortensTheTimeout) {
  context_.deadline = std::chrono::steady_clock::now() + 2500ms;
  EXPECT_EQ(call(hook(kUrl)), "");
  EXPECT_EQ(server_->calls[0].target, "/x?timeout=3s");
  EXPECT_EQ(server_->calls[0].deadline, context_.deadline);
}

TEST_F(HookCallTest, AFailureEndsAsThePolicySays) {
  server_->problem = kDown;
  const std::string refusal =
      "500 Internal error occurred: failed calling webhook \"h.example.com\": failed to call webhook: Post "
      "\"https://hooks.example.com/x?timeout=7s\": dial tcp: connection refused";
  EXPECT_EQ(call(hook(std::string(kUrl) + R"(,"failurePolicy":"Fail")")), refusal);
  EXPECT_EQ(code_, 503);
  EXPECT_EQ(annotation("failed-open.example.com/index"), "");
  EXPECT_EQ(call(hook(std::string(kUrl) + R"(,"failurePolicy":"Ignore")")), "");
  EXPECT_EQ(annotation("failed-open.example.com/index"), "h.example.com");
}

TEST_F(HookCallTest, ADenialDoesNotFailOpen) {
  server_->response = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"$uid","allowed":false}})";
  EXPECT_EQ(call(hook(std::string(kUrl) + R"(,"failurePolicy":"Ignore")")),
            R"(400 admission webhook "h.example.com" denied the request without explanation)");
}

TEST_F(HookCallTest, AFailureForTheOwnServiceFailsOpen) {
  server_->problem = kDown;
  EXPECT_EQ(call(hook(kService)), "");
  attributes_.ns = "other";
  EXPECT_NE(call(hook(kService)), "");
  attributes_.ns = "ns";
  configuration_.fail_open_for_own_service = false;
  EXPECT_NE(call(hook(kService)), "");
}

TEST_F(HookCallTest, AWebhookThatHangsAfterAnAnswerDoesNotFailOpenForItsOwnService) {
  const HookRef own = hook(kService);
  EXPECT_EQ(call(own), "");
  server_->problem = "context deadline exceeded";
  context_.deadline = std::chrono::steady_clock::now();
  EXPECT_NE(call(own), "");
  // A webhook that has never responded may not exist any more.
  EXPECT_EQ(call(hook(kService)), "");
}

TEST_F(HookCallTest, ADryRunIsRefusedIfTheWebhookHasSideEffects) {
  attributes_.dry_run = true;
  EXPECT_EQ(call(hook(kUrl)), "");
  auto some = std::make_shared<Hook>(*hook(kUrl));
  some->side_effects = "Some";
  EXPECT_EQ(call(some), R"(400 admission webhook "h.example.com" does not support dry run)");
  some->side_effects.clear();
  EXPECT_EQ(call(some), "500 Internal error occurred: failed calling webhook \"h.example.com\": Webhook SideEffects is nil");
  some->ignores_failures = true;
  EXPECT_EQ(call(some), "");
}

TEST_F(HookCallTest, AWebhookWithoutAKnownVersionCannotBeCalled) {
  auto other = std::make_shared<Hook>(*hook(kUrl));
  other->review_version.clear();
  EXPECT_EQ(call(other),
            "500 Internal error occurred: failed calling webhook \"h.example.com\": could not create admission objects: webhook "
            "does not accept known AdmissionReview versions (v1, v1beta1)");
  EXPECT_EQ(code_, 400);
}

TEST_F(HookCallTest, TheBudgetOfTheChainCountsBothSteps) {
  configuration_.chain_budget = 5s;
  context_.latencies.mutating_webhooks = 3s;
  context_.latencies.validating_webhooks = 500ms;
  EXPECT_EQ(call(hook(kUrl)), "");
  EXPECT_EQ(server_->calls[0].target, "/x?timeout=2s");
  context_.latencies.mutating_webhooks = 5s;
  EXPECT_EQ(call(hook(kUrl)),
            "500 Internal error occurred: failed calling webhook \"h.example.com\": failed to call webhook: the webhooks of "
            "this request have used up their budget of 5s");
  context_.info.verb = "deletecollection";
  EXPECT_EQ(call(hook(kUrl)), "");
}

TEST_F(HookCallTest, AnOpenCircuitFailsCallsWithoutMakingThem) {
  configuration_.circuit_breaker_failures = 2;
  server_->problem = kDown;
  const HookRef once = hook(kUrl);
  EXPECT_NE(call(once), "");
  EXPECT_FALSE(once->breaker->open());
  once->breaker->ended(true, std::chrono::steady_clock::now() + 1h);  // the second failure, reported late so that no probe is due
  EXPECT_TRUE(once->breaker->open());
  EXPECT_EQ(call(once),
            "500 Internal error occurred: failed calling webhook \"h.example.com\": failed to call webhook: its circuit breaker is "
            "open after repeated failures");
  EXPECT_EQ(server_->calls.size(), 1u);
}

TEST_F(HookCallTest, ARequestWithoutTimeDoesNotOpenTheCircuit) {
  configuration_.circuit_breaker_failures = 1;
  configuration_.chain_budget = 5s;
  server_->problem = kDown;
  host_.own_client = server_;  // takes the event of the circuit
  const HookRef late = hook(kUrl);
  context_.latencies.mutating_webhooks = 5s;
  EXPECT_NE(call(late), "");
  EXPECT_FALSE(late->breaker->open()) << "the budget is used up";
  context_.latencies.mutating_webhooks = 0s;
  context_.deadline = std::chrono::steady_clock::now();
  EXPECT_NE(call(late), "");
  EXPECT_FALSE(late->breaker->open()) << "the deadline has passed";
  context_.deadline = std::chrono::steady_clock::time_point::max();
  EXPECT_NE(call(late), "");
  EXPECT_TRUE(late->breaker->open());
}

TEST_F(HookCallTest, AnAnswerThatAsksToWaitIsRepeated) {
  server_->codes = {429, 503, 200};
  server_->retry_after = "1";
  EXPECT_EQ(call(hook(kUrl)), "");
  EXPECT_EQ(server_->calls.size(), 3u);
  server_->codes = {500, 200};
  server_->retry_after = "";
  EXPECT_NE(call(hook(kUrl)), "");
}

TEST_F(HookCallTest, ConfigurationsAreReadInTheirOrderWithUniqueIds) {
  const Value configuration = json::parse(
      R"({"metadata":{"name":"c"},"webhooks":[{"name":"a"},{"name":"b","failurePolicy":"Ignore","reinvocationPolicy":"IfNeeded"},{"name":"a"}]})");
  const Hooks hooks = read_hooks(configuration.get_object(), HookType::kMutating, {host_, nullptr, {}});
  ASSERT_EQ(hooks.size(), 3u);
  EXPECT_EQ(hooks[0]->uid, "c/a/0");
  EXPECT_EQ(hooks[1]->uid, "c/b/0");
  EXPECT_EQ(hooks[2]->uid, "c/a/1");
  EXPECT_TRUE(hooks[1]->ignores_failures);
  EXPECT_TRUE(hooks[1]->reinvocable);
  EXPECT_FALSE(hooks[0]->ignores_failures);
}

}  // namespace
}  // namespace backplane::admission::webhooks
