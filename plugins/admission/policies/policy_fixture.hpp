// For tests: policies in stores that a plugin of this folder watches, and writes that the plugin admits.
//
// Thread-safety: one thread.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/json_access.hpp"
#include "backplane/points/audit.hpp"
#include "fake_host.hpp"
#include "policies/mutating.hpp"
#include "policies/validating.hpp"

namespace backplane::admission::policies::testing {

class DiscoveryAnswer final : public HttpAnswer {
 public:
  DiscoveryAnswer(int code, std::string body) : code_(code), body_(std::move(body)) {}
  int code() const noexcept override { return code_; }
  const Headers& headers() const noexcept override { return headers_; }
  Task<Result<std::string>> read() override { co_return std::exchange(body_, std::string()); }
  void cancel() override {}

 private:
  const int code_;
  std::string body_;
  Headers headers_;
};

// Serves the discovery of single group versions.
class Discovery final : public HttpClient {
 public:
  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    const auto found = documents.find(call.target);
    const bool known = found != documents.end();
    co_return std::unique_ptr<HttpAnswer>(std::make_unique<DiscoveryAnswer>(
        known ? 200 : 404,
        known ? found->second : R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":404,"reason":"NotFound"})"));
  }
  std::map<std::string, std::string, std::less<>> documents = {
      {"/api/v1",
       R"({"resources":[{"name":"configmaps","kind":"ConfigMap","namespaced":true},{"name":"nodes","kind":"Node","namespaced":false}]})"}};
};

// Allows the verb "use" at once, and the verb in `later` after a wait.
class TestAuthorizer final : public Authorizer {
 public:
  std::string_view name() const noexcept override { return "test"; }
  std::optional<AuthorizerResult> decide_now(const RequestView& request) const override {
    if (request.verb == later) return std::nullopt;
    return decide(request.verb == "use");
  }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes) override {
    ++waited;
    asked = attributes;
    co_return decide(true);
  }
  std::string later;
  int waited = 0;
  AuthorizationAttributes asked;

 private:
  static AuthorizerResult decide(bool allows) { return {allows ? Decision::kAllow : Decision::kNoOpinion, allows ? "" : "no", {}}; }
};

class TestEquivalents final : public EquivalentResources {
 public:
  std::vector<GroupVersionResource> equivalents_of(const GroupVersionResource& resource, std::string_view) const override {
    if (resource.resource != "widgets") return {resource};
    return {{"example.com", "v1", "widgets"}, {"example.com", "v2", "widgets"}};
  }
  GroupVersionKind kind_of(const GroupVersionResource& resource, std::string_view) const override {
    return {resource.group, resource.version, "Widget"};
  }
};

// One write of a ConfigMap or of another kind.
struct TestWrite {
  explicit TestWrite(std::string_view object, AdmissionOperation operation = AdmissionOperation::kCreate) {
    context.audit = nullptr;
    tree = json::parse(object).get_object();
    attributes.operation = operation;
    attributes.resource = attributes.request_resource = {"", "v1", "configmaps"};
    attributes.kind = attributes.request_kind = {"", "v1", "ConfigMap"};
    attributes.ns = "team-a";
    attributes.name = meta_name(tree);
    UserInfo user;
    user.name = "alice";
    user.groups = {"dev"};
    attributes.user = UserRef(std::move(user));
    attributes.object = &tree;
    attributes.options = WriteOptions();
    attributes.context = &context;
  }
  RequestContext context;
  Object tree;
  AdmissionAttributes attributes;
};

inline std::string config_map(std::string_view name, std::string_view data = "{}") {
  return R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":")" + std::string(name) + R"(","namespace":"team-a"},"data":)" +
         std::string(data) + "}";
}

inline constexpr std::string_view kConfigMaps =
    R"("matchConstraints":{"matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},"resourceRules":[{"apiGroups":[""],)"
    R"("apiVersions":["v1"],"operations":["CREATE","UPDATE"],"resources":["configmaps"],"scope":"*"}]})";

class PolicyFixture : public ::testing::Test {
 protected:
  PolicyFixture()
      : policies(store("validatingadmissionpolicies")),
        bindings(store("validatingadmissionpolicybindings")),
        mutations(store("mutatingadmissionpolicies")),
        mutation_bindings(store("mutatingadmissionpolicybindings")),
        namespaces(store("namespaces")),
        params(store("configmaps")) {
    host.own_client = discovery;
    host.all_authorizers = authorizer;
    host.equivalents = std::make_shared<TestEquivalents>();
    host.flags["feature-gates.MutatingAdmissionPolicy"] = "true";
    put(*namespaces, R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"team-a","labels":{"env":"prod"}}})");
  }
  ~PolicyFixture() override {
    host.stop.fire();
    host.turns.run_until_idle(true);
  }

  std::shared_ptr<test::FakeStore> store(const std::string& resource) {
    ResourceConfig config;
    config.resource = resource;
    auto made = std::make_shared<test::FakeStore>(std::move(config));
    host.served[resource] = made;
    return made;
  }
  static void put(test::FakeStore& store, std::string_view object) {
    store.put(json::parse(object).get_object(), WatchEvent::Type::kAdded);
  }

  void start() {
    services = std::make_shared<Services>(host);
    validating = *make_validating_policies(*services, {});
    mutating = *make_mutating_policies(*services, {});
    host.spawn("informers", Services::run(services));
    host.all_groups.fire();
    host.turns.run_until_idle();
  }

  // `spec`: members of the spec in addition to the match constraints.
  void policy(const std::string& name, const std::string& spec, std::string_view match = kConfigMaps) {
    put(*policies, R"({"metadata":{"name":")" + name + R"("},"spec":{)" + std::string(match) + "," + spec + "}}");
  }
  void bind(const std::string& policy, const std::string& spec = R"("validationActions":["Deny"])") {
    put(*bindings, R"({"metadata":{"name":")" + policy + R"(-binding"},"spec":{"policyName":")" + policy + "\"," + spec + "}}");
  }
  void mutation(const std::string& name, const std::string& spec, std::string_view match = kConfigMaps) {
    put(*mutations, R"({"metadata":{"name":")" + name + R"("},"spec":{)" + std::string(match) + "," + spec + "}}");
    put(*mutation_bindings, R"({"metadata":{"name":")" + name + R"(-binding"},"spec":{"policyName":")" + name + "\"}}");
  }

  Status validate(const TestWrite& write) {
    if (auto now = validating->validate_now(write.attributes)) return *now;
    Status out = internal_error("never ended");
    host.turns.start(keep(validating->validate(write.attributes), out));
    host.turns.run_until_idle(true);
    return out;
  }
  Status admit(TestWrite& write, AdmissionReinvocation& reinvocation) {
    write.attributes.reinvocation = &reinvocation;
    if (auto now = mutating->admit_now(write.attributes)) return *now;
    Status out = internal_error("never ended");
    host.turns.start(keep(mutating->admit(write.attributes), out));
    host.turns.run_until_idle(true);
    return out;
  }
  static Task<void> keep(Task<Status> task, Status& out) { out = co_await std::move(task); }

  std::shared_ptr<Discovery> discovery = std::make_shared<Discovery>();
  std::shared_ptr<TestAuthorizer> authorizer = std::make_shared<TestAuthorizer>();
  test::FakeHost host;
  std::shared_ptr<test::FakeStore> policies, bindings, mutations, mutation_bindings, namespaces, params;
  std::shared_ptr<Services> services;
  std::shared_ptr<AdmissionPlugin> validating, mutating;
};

}  // namespace backplane::admission::policies::testing
