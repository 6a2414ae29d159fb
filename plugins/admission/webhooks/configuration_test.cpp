#include <gtest/gtest.h>

#include "webhooks/match_conditions.hpp"
#include "webhooks/webhook_configuration.hpp"

namespace backplane::admission::webhooks {
namespace {

using namespace std::chrono_literals;

std::string configuration_text(const std::string& members) {
  return R"({"apiVersion":"apiserver.config.k8s.io/v1","kind":"WebhookAdmissionConfiguration")" + members + "}";
}

TEST(WebhookPluginConfiguration, HasDefaults) {
  const auto empty = parse_webhook_configuration("");
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->credentials, nullptr);
  EXPECT_EQ(empty->chain_budget.count(), 0);
  EXPECT_EQ(empty->circuit_breaker_failures, 0);
  EXPECT_TRUE(empty->fail_open_for_own_service);
  const auto set =
      parse_webhook_configuration(configuration_text(R"(,"chainBudget":"1m30s","circuitBreakerFailures":3,"failOpenForOwnService":false)"));
  ASSERT_TRUE(set.ok()) << set.status().message();
  EXPECT_EQ(set->chain_budget, 90s);
  EXPECT_EQ(set->circuit_breaker_failures, 3);
  EXPECT_FALSE(set->fail_open_for_own_service);
  EXPECT_TRUE(parse_webhook_configuration(configuration_text(""))->fail_open_for_own_service);
}

TEST(WebhookPluginConfiguration, RefusesWhatItCannotUse) {
  const auto problem = [](const std::string& members) {
    const auto parsed = parse_webhook_configuration(configuration_text(members));
    return parsed.ok() ? std::string("accepted") : parsed.status().message();
  };
  EXPECT_EQ(problem(R"(,"kubeConfigFile":"relative")"), R"(kubeConfigFile: Invalid value: "relative": must be an absolute file path)");
  EXPECT_NE(problem(R"(,"kubeConfigFile":"/does/not/exist")"), "accepted");
  EXPECT_EQ(
      problem(R"(,"staticManifestsDir":"/x")"),
      "staticManifestsDir: Forbidden: staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled");
  EXPECT_NE(problem(R"(,"chainBudget":"soon")"), "accepted");
  EXPECT_NE(problem(R"(,"chainBudget":"-1s")"), "accepted");
  EXPECT_NE(problem(R"(,"circuitBreakerFailures":-1)"), "accepted");
  EXPECT_NE(problem(R"(,"unknown":1)"), "accepted");
  EXPECT_FALSE(parse_webhook_configuration(R"({"apiVersion":"v1","kind":"Other"})").ok());
}

struct CredentialCase {
  const char* name;
  const char* address;
  const char* users;  // names, separated by blanks
  const char* current;
  const char* chosen;
};

// Cases of upstream's pkg/util/webhook/authentication_test.go.
const CredentialCase kCredentialCases[] = {
    {"empty", "foo.com", "", "", ""},
    {"fallback to current context", "foo.com", "bar.com", "bar.com", "bar.com"},
    {"exact match", "foo.com", "foo.com *.com bar.com", "", "foo.com"},
    {"partial star match", "foo.com", "*.com bar.com", "", "*.com"},
    {"full star match", "foo.com", "* bar.com", "", "*"},
    {"most selective", "one.two.three.com", "*.two.three.com *.three.com *.com", "", "*.two.three.com"},
    {"less selective", "one.two.three.com", "*.three.com *.com", "", "*.three.com"},
    {"exact match with default https port", "foo.com:443", "foo.com:443 *.com:443 bar.com:443", "", "foo.com:443"},
    {"exact match without the default port", "foo.com:443", "foo.com *.com bar.com", "", "foo.com"},
    {"partial star match with default port", "foo.com:443", "*.com:443 *.com bar.com", "", "*.com:443"},
    {"partial star match without default port", "foo.com:443", "*.com bar.com", "", "*.com"},
    {"another port is not left out", "foo.com:8443", "foo.com bar.com", "", ""},
    {"exact match with other port", "foo.com:8443", "foo.com:8443 foo.com", "", "foo.com:8443"},
};

TEST(WebhookCredentialsTest, AreChosenByTheAddress) {
  for (const CredentialCase& each : kCredentialCases) {
    std::string text = "users:\n";
    std::string_view names = each.users;
    while (!names.empty()) {
      const std::string name(names.substr(0, names.find(' ')));
      text += "- {name: '" + name + "', user: {token: 'token-of-" + name + "'}}\n";
      names.remove_prefix(std::min(name.size() + 1, names.size()));
    }
    if (*each.current != '\0')
      text += "current-context: ctx\ncontexts: [{name: ctx, context: {user: " + std::string(each.current) + "}}]\n";
    const auto credentials = WebhookCredentials::parse(text, "/kubeconfig");
    ASSERT_TRUE(credentials.ok()) << each.name;
    EXPECT_EQ((*credentials)->user_for(each.address), each.chosen) << each.name;
    const auto server = (*credentials)->for_address(each.address);
    ASSERT_TRUE(server.ok()) << each.name << ": " << server.status().message();
    EXPECT_EQ(server->client.token, *each.chosen != '\0' ? "token-of-" + std::string(each.chosen) : "") << each.name;
  }
}

// ---- match conditions

struct ConditionCase {
  const char* name;
  std::vector<const char*> expressions;
  bool matches;
  const char* error;
};

// Cases of upstream's matchconditions/matcher_test.go, with expressions instead of results.
const ConditionCase kConditionCases[] = {
    {"single matches", {"true"}, true, ""},
    {"multiple match", {"true", "object.metadata.name == 'a'"}, true, ""},
    {"single no match", {"false"}, false, ""},
    {"mixed with no match first", {"false", "true"}, false, ""},
    {"mixed with no match last", {"true", "request.operation == 'DELETE'"}, false, ""},
    {"mix of true, errors and false", {"true", "object.nothing == 1", "false"}, false, ""},
    {"mix of true and errors",
     {"true", "object.nothing == 1"},
     false,
     "expression 'object.nothing == 1' resulted in error: no such key: nothing"},
    {"several errors",
     {"object.nothing == 1", "object.other == 1"},
     false,
     "[expression 'object.nothing == 1' resulted in error: no such key: nothing, expression 'object.other == 1' resulted in error: no such "
     "key: other]"},
    {"old object is null", {"oldObject == null"}, true, ""},
    {"namespace object is null", {"namespaceObject == null"}, true, ""},
    {"user", {"request.userInfo.username == 'jane'"}, true, ""},
};

TEST(WebhookConditions, AreEvaluatedAsUpstreamDoes) {
  const Value object = json::parse(R"({"metadata":{"name":"a"}})");
  const Value request = json::parse(R"({"operation":"CREATE","userInfo":{"username":"jane"},"name":"a","dryRun":false})");
  for (const ConditionCase& each : kConditionCases) {
    Object webhook;
    Array& list = ensure_array(webhook, "matchConditions");
    for (const char* expression : each.expressions) {
      Object condition;
      condition["name"] = "c";
      condition["expression"] = expression;
      list.push_back(std::move(condition));
    }
    const auto conditions = MatchConditions::compile(webhook);
    ASSERT_NE(conditions, nullptr) << each.name;
    const auto verdict = conditions->evaluate({&object.get_object(), nullptr, &request, nullptr, nullptr});
    EXPECT_EQ(verdict.matches, each.matches) << each.name;
    EXPECT_EQ(verdict.error, each.error) << each.name;
  }
}

TEST(WebhookConditions, AnExpressionThatDoesNotCompileIsAnError) {
  const Value webhook = json::parse(R"({"matchConditions":[{"name":"a","expression":"1 +"},{"name":"b","expression":"'text'"}]})");
  const auto verdict = MatchConditions::compile(webhook.get_object())->evaluate({});
  EXPECT_FALSE(verdict.matches);
  EXPECT_NE(verdict.error.find("compilation error: compilation failed: "), std::string::npos) << verdict.error;
  EXPECT_NE(verdict.error.find("compilation error: must evaluate to bool but got string"), std::string::npos) << verdict.error;
  EXPECT_EQ(verdict.evaluation_errors, 2);
}

TEST(WebhookConditions, ErrorsAfterAConditionThatIsFalseAreNotCounted) {
  const Value webhook =
      json::parse(R"({"matchConditions":[{"expression":"object.a == 1"},{"expression":"false"},{"expression":"object.b == 1"}]})");
  const Value object = json::parse("{}");
  const auto verdict = MatchConditions::compile(webhook.get_object())->evaluate({&object.get_object(), nullptr, nullptr, nullptr, nullptr});
  EXPECT_FALSE(verdict.matches);
  EXPECT_EQ(verdict.evaluation_errors, 1);
}

TEST(WebhookConditions, WithoutConditionsThereIsNothingToEvaluate) { EXPECT_EQ(MatchConditions::compile(Object()), nullptr); }

}  // namespace
}  // namespace backplane::admission::webhooks
