#include "config/configuration.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "backplane/core/metrics.hpp"
#include "config/reload.hpp"
#include "fake_host.hpp"

namespace backplane::authorization {
namespace {

using namespace std::chrono_literals;

struct ConfigurationTest : testing::Test {
  ConfigurationTest() { std::ofstream(kubeconfig) << "x"; }
  ~ConfigurationTest() override { std::remove(kubeconfig.c_str()); }

  static std::string document(const std::string& authorizers, const std::string& version = "v1") {
    return "apiVersion: apiserver.config.k8s.io/" + version + "\nkind: AuthorizationConfiguration\nauthorizers:\n" + authorizers;
  }
  // A valid webhook, in which `part` is replaced by `other`.
  std::string webhook(std::string_view part = {}, std::string_view other = {}) const {
    std::string text = R"(- type: Webhook
  name: hook.example.com
  webhook:
    timeout: 3s
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    failurePolicy: Deny
    connectionInfo: {type: KubeConfigFile, kubeConfigFile: )" +
                       kubeconfig + R"(}
    matchConditions:
    - expression: has(request.resourceAttributes)
)";
    if (part.empty()) return document(text);
    const std::size_t where = text.find(part);
    EXPECT_NE(where, std::string::npos) << part;
    return document(text.replace(where, part.size(), other));
  }
  static std::string error(const std::string& text, const std::set<std::string>& required = {}) {
    const auto config = load_configuration(text, required);
    return config.ok() ? "" : config.status().message();
  }

  const std::string kubeconfig = testing::TempDir() + "authorization-kubeconfig-" + std::to_string(getpid());
};

TEST_F(ConfigurationTest, AllVersionsAreReadAndDefaultsSet) {
  for (const char* version : {"v1", "v1beta1", "v1alpha1"}) {
    auto config = load_configuration(document("- {type: Node, name: node}\n- {type: RBAC, name: rbac}\n", version));
    ASSERT_TRUE(config.ok()) << config.status().message();
    ASSERT_EQ(config->authorizers.size(), 2u);
    EXPECT_EQ(config->authorizers[1].type + " " + config->authorizers[1].name, "RBAC rbac");
    EXPECT_FALSE(config->authorizers[1].webhook);
  }
  auto config = load_configuration(webhook());
  ASSERT_TRUE(config.ok()) << config.status().message();
  const WebhookConfig& hook = *config->authorizers[0].webhook;
  EXPECT_EQ(hook.authorized_ttl, 5min);
  EXPECT_EQ(hook.unauthorized_ttl, 30s);
  EXPECT_TRUE(hook.cache_authorized && hook.cache_unauthorized);
  EXPECT_EQ(hook.timeout, 3s);
  EXPECT_EQ(hook.kubeconfig, kubeconfig);
  EXPECT_EQ(hook.match_conditions, std::vector<std::string>{"has(request.resourceAttributes)"});
  config = load_configuration(webhook("timeout: 3s", "timeout: 3s\n    authorizedTTL: 1m\n    cacheAuthorizedRequests: false"));
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->authorizers[0].webhook->authorized_ttl, 1min);
  EXPECT_FALSE(config->authorizers[0].webhook->cache_authorized);
}

TEST_F(ConfigurationTest, ProblemsAreUpstreams) {
  const std::string load = "failed to load AuthorizationConfiguration from file: ";
  EXPECT_EQ(error(""), "authorizers: Required value: at least one authorization mode must be defined");
  EXPECT_EQ(error(document("- {type: Node, name: node, color: red}\n")),
            load + "strict decoding error: unknown field \"authorizers[0].color\"");
  EXPECT_EQ(error("apiVersion: v1\nkind: Pod\n"),
            load + "no kind \"Pod\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\"");
  EXPECT_EQ(error(document("- {name: x}\n")), "authorizers[0].type: Required value");
  EXPECT_EQ(error(document("- {type: Foo, name: x}\n")),
            "authorizers[0].type: Unsupported value: \"Foo\": supported values: \"ABAC\", \"AlwaysAllow\", \"AlwaysDeny\", \"Node\", "
            "\"RBAC\", \"Webhook\"");
  EXPECT_EQ(error(document("- {type: Node, name: node}\n- {type: Node, name: other}\n")), "authorizers[1].type: Duplicate value: \"Node\"");
  EXPECT_EQ(error(document("- {type: Node}\n")), "authorizers[0].name: Required value");
  EXPECT_EQ(error(document("- {type: Node, name: x}\n- {type: RBAC, name: x}\n")), "authorizers[1].name: Duplicate value: \"x\"");
  EXPECT_TRUE(error(document("- {type: Node, name: A_b}\n"))
                  .starts_with("authorizers[0].name: Invalid value: \"A_b\": authorizer name is invalid: "));
  EXPECT_EQ(error(document("- {type: Node, name: node, webhook: {}}\n")),
            "authorizers[0].webhook: Invalid value: \"non-null\": may only be specified when type=Webhook");
  EXPECT_EQ(error(document("- {type: Webhook, name: x}\n")), "authorizers[0].webhook: Required value: required when type=Webhook");
  EXPECT_EQ(error(document("- {type: Node, name: x}\n- {type: RBAC, name: z}\n"), {"ABAC"}),
            "[expected name node for authorizer Node instead of x, expected name rbac for authorizer RBAC instead of z, missing required "
            "types: [ABAC]]");
}

TEST_F(ConfigurationTest, ProblemsOfWebhooksAreUpstreams) {
  const std::string path = "authorizers[0].";
  struct Case {
    std::string_view part, other;
    std::string message;
  };
  const Case cases[] = {
      {"timeout: 3s", "timeout: 31s", "timeout: Invalid value: \"31s\": must be > 0s and <= 30s"},
      {"timeout: 3s", "timeout: -1s", "timeout: Invalid value: \"-1s\": must be > 0s and <= 30s"},
      {"timeout: 3s", "timeout: 0s", "timeout: Required value"},
      {"timeout: 3s", "timeout: 3s\n    authorizedTTL: -1m", "authorizedTTL: Invalid value: \"-1m0s\": must be > 0s"},
      {"timeout: 3s", "timeout: 3s\n    unauthorizedTTL: -1m", "unauthorizedTTL: Invalid value: \"-1m0s\": must be > 0s"},
      {"subjectAccessReviewVersion: v1", "subjectAccessReviewVersion: v2",
       "subjectAccessReviewVersion: Unsupported value: \"v2\": supported values: \"v1\", \"v1beta1\""},
      {"    subjectAccessReviewVersion: v1\n", "", "subjectAccessReviewVersion: Required value"},
      {"    matchConditionSubjectAccessReviewVersion: v1\n", "",
       "matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified"},
      {"matchConditionSubjectAccessReviewVersion: v1", "matchConditionSubjectAccessReviewVersion: v1beta1",
       "matchConditionSubjectAccessReviewVersion: Unsupported value: \"v1beta1\": supported values: \"v1\""},
      {"    failurePolicy: Deny\n", "", "failurePolicy: Required value"},
      {"failurePolicy: Deny", "failurePolicy: Ignore",
       "failurePolicy: Unsupported value: \"Ignore\": supported values: \"NoOpinion\", \"Deny\""},
      {"type: KubeConfigFile, ", "", "connectionInfo.type: Required value"},
      {"type: KubeConfigFile, kubeConfigFile:", "type: InClusterConfig} #",
       "connectionInfo.type: Invalid value: \"InClusterConfig\": not allowed for kube-apiserver"},
      {"kubeConfigFile: /", "kubeConfigFile: x} #", "connectionInfo.kubeConfigFile: Invalid value: \"x\": must be an absolute path"},
      {"kubeConfigFile: /", "kubeConfigFile: /absent} #",
       "connectionInfo.kubeConfigFile: Invalid value: \"/absent\": error loading file: stat /absent: no such file or directory"},
      {"kubeConfigFile: /", "kubeConfigFile: /tmp} #", "connectionInfo.kubeConfigFile: Invalid value: \"/tmp\": must be a regular file"},
      {"KubeConfigFile, kubeConfigFile: /", "KubeConfigFile} #", "connectionInfo.kubeConfigFile: Required value"},
      {"has(request.resourceAttributes)", "'  '", "matchConditions[0].expression: Required value"},
      {"has(request.resourceAttributes)", "request.user",
       "matchConditions[0].expression: Invalid value: \"request.user\": must evaluate to bool but got string"},
      {"has(request.resourceAttributes)", "'true'\n    - expression: 'true'", "matchConditions[1].expression: Duplicate value: \"true\""},
  };
  for (const Case& each : cases) EXPECT_EQ(error(webhook(each.part, each.other)), path + each.message);
  EXPECT_TRUE(error(webhook("has(request.resourceAttributes)", "request.nothing == 1"))
                  .starts_with(path + "matchConditions[0].expression: Invalid value: \"request.nothing == 1\": compilation failed: ERROR: "
                                      "<input>:1:8: undefined field 'nothing'"));
  std::string many = "'true'";
  for (int i = 0; i < 64; ++i) many += "\n    - expression: '" + std::to_string(i) + " == 1'";
  EXPECT_EQ(error(webhook("has(request.resourceAttributes)", many)), path + "matchConditions: Too many: 65: must have at most 64 items");
}

TEST_F(ConfigurationTest, DurationsArePrintedAsGoPrintsThem) {
  EXPECT_EQ(duration_text(0ns), "0s");
  EXPECT_EQ(duration_text(90s), "1m30s");
  EXPECT_EQ(duration_text(-1500ms), "-1.5s");
  EXPECT_EQ(duration_text(2h), "2h0m0s");
  EXPECT_EQ(duration_text(300us), "300µs");
  EXPECT_EQ(duration_text(std::chrono::nanoseconds::min()), "-2562047h47m16.854775808s");
}

// ---- reload

Task<void> apply(ConfigurationReload& reload, std::string text) {
  auto applying = reload.apply(std::move(text));
  static_cast<void>(co_await std::move(applying));
}

double reloads(std::string_view status) {
  for (const auto& metric : Metric::all()) {
    if (metric.name != "apiserver_authorization_config_controller_automatic_reloads_total") continue;
    double sum = 0;
    for (const auto& [labels, series] : metric.series) sum += labels[0] == status ? series.value : 0;
    return sum;
  }
  return 0;
}

TEST_F(ConfigurationTest, ABadFileKeepsTheOrderAndIsCounted) {
  test::FakeHost host;
  const std::string text = document("- {type: Node, name: node}\n");
  auto reload = std::make_shared<ConfigurationReload>(host, WebhookFactory(host, nullptr), "/x", text, *load_configuration(text));
  const auto outcome = [&](const std::string& next) {
    const double before[] = {reloads("success"), reloads("failure")};
    host.turns.start(apply(*reload, next));
    return std::pair<double, double>(reloads("success") - before[0], reloads("failure") - before[1]);
  };
  using Counts = std::pair<double, double>;
  EXPECT_EQ(outcome(document("- {type: Node, name: node}\n# a comment\n")), Counts(0, 0)) << "the same configuration";
  EXPECT_EQ(outcome(document("- {type: AlwaysAllow, name: alwaysallow}\n- {type: Node, name: node}\n")), Counts(1, 0));
  EXPECT_EQ(outcome("rubbish"), Counts(0, 1));
  EXPECT_EQ(outcome(document("- {type: AlwaysAllow, name: alwaysallow}\n")), Counts(0, 1)) << "Node must remain";
  EXPECT_EQ(outcome(document("- {type: Node, name: node}\n- {type: RBAC, name: rbac}\n")), Counts(0, 1)) << "RBAC was not there at startup";
  EXPECT_EQ(host.log.errors.back(),
            "reloading authorization config: authorizer type RBAC is not allowed if it was not enabled at initial server startup");
  EXPECT_EQ(outcome(document("- {type: Node, name: node}\n")), Counts(1, 0));
}

}  // namespace
}  // namespace backplane::authorization
