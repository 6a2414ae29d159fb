#include "webhooks/validating_webhooks.hpp"

#include <gtest/gtest.h>

#include "backplane/core/request.hpp"
#include "fake_host.hpp"

namespace backplane::admission::webhooks {
namespace {

// A webhook that cannot be reached.
class NoServer final : public HttpClient {
 public:
  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall) override { co_return service_unavailable("connection refused"); }
};

class NoEquivalents final : public EquivalentResources {
 public:
  std::vector<GroupVersionResource> equivalents_of(const GroupVersionResource& resource, std::string_view) const override {
    return {resource};
  }
  GroupVersionKind kind_of(const GroupVersionResource&, std::string_view) const override { return {}; }
};

class ValidatingWebhooksTest : public testing::Test {
 protected:
  ValidatingWebhooksTest() : configurations_(store("validatingwebhookconfigurations")), namespaces_(store("namespaces")) {
    host_.clients = [](ClientConfig) { return Result<std::shared_ptr<HttpClient>>(std::make_shared<NoServer>()); };
    host_.own_client = std::make_shared<NoServer>();
    host_.equivalents = std::make_shared<NoEquivalents>();
    services_ = std::make_shared<Services>(host_);
    plugin_ = std::make_shared<ValidatingWebhooks>(*services_, WebhookConfiguration());
    host_.spawn("informers", Services::run(services_));
    host_.all_groups.fire();
    host_.turns.run_until_idle();
    attributes_.resource = {"", "v1", "pods"};
    attributes_.kind = {"", "v1", "Pod"};
    attributes_.name = "name";
    attributes_.object = &pod_;
    attributes_.options = WriteOptions();
    attributes_.user = UserRef(UserInfo());
    attributes_.context = &context_;
  }
  ~ValidatingWebhooksTest() override {
    host_.stop.fire();
    host_.turns.run_until_idle(true);
  }
  std::shared_ptr<test::FakeStore> store(const std::string& resource) {
    ResourceConfig config;
    config.resource = resource;
    auto made = std::make_shared<test::FakeStore>(std::move(config));
    host_.served[resource] = made;
    return made;
  }
  void configure(const std::string& failure_policy) {
    const std::string text = R"({"metadata":{"name":"c"},"webhooks":[{"name":"h.example.com","sideEffects":"None","failurePolicy":")" +
                             failure_policy +
                             R"(","admissionReviewVersions":["v1"],"clientConfig":{"url":"https://h.example.com"},"timeoutSeconds":7,)"
                             R"("rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["*"],"resources":["pods"]}]}]})";
    configurations_->put(json::parse(text).get_object(), WatchEvent::Type::kAdded);
    host_.turns.run_until_idle();
  }
  std::string message() {
    if (auto now = plugin_->validate_now(attributes_)) return now->message();
    Status out = internal_error("never ended");
    host_.turns.start(keep(plugin_->validate(attributes_), out));
    host_.turns.run_until_idle(true);
    return out.message();
  }
  static Task<void> keep(Task<Status> asking, Status& out) { out = co_await std::move(asking); }

  test::FakeHost host_;
  std::shared_ptr<test::FakeStore> configurations_, namespaces_;
  std::shared_ptr<Services> services_;
  std::shared_ptr<AdmissionPlugin> plugin_;
  RequestContext context_;
  Object pod_ = json::parse(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"name"}})").get_object();
  AdmissionAttributes attributes_;
};

TEST_F(ValidatingWebhooksTest, AnIgnoredFailureLetsTheWriteThrough) {
  EXPECT_EQ(message(), "");
  configure("Ignore");
  EXPECT_EQ(message(), "");
  EXPECT_EQ(context_.audit_annotations().count("failed-open.validating.webhook.admission.k8s.io/round_0_index_0"), 1u);
}

// The deadline passes during the call. (Before the calls, the run checks the deadline.)
TEST_F(ValidatingWebhooksTest, AnIgnoredFailureAfterTheDeadlineDoesNot) {
  configure("Ignore");
  class Late final : public HttpClient {
   public:
    explicit Late(RequestContext& context) : context_(context) {}
    Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall) override {
      context_.deadline = std::chrono::steady_clock::now();
      co_return service_unavailable("context deadline exceeded");
    }

   private:
    RequestContext& context_;
  };
  host_.clients = [this](ClientConfig) { return Result<std::shared_ptr<HttpClient>>(std::make_shared<Late>(context_)); };
  EXPECT_EQ(message(), "Timeout: request did not complete within requested timeout");
}

}  // namespace
}  // namespace backplane::admission::webhooks
