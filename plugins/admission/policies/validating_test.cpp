#include <chrono>
#include <cstdio>

#include "cost.hpp"
#include "policies/policy_fixture.hpp"

namespace backplane::admission::policies::testing {
namespace {

using ValidatingPolicies = PolicyFixture;

std::string validations(const std::string& expression, const std::string& more = {}) {
  return R"("validations":[{"expression":")" + expression + "\"" + more + "}]";
}

std::string refused(const std::string& policy, const std::string& why) {
  return R"(configmaps "a" is forbidden: ValidatingAdmissionPolicy ')" + policy + "' with binding '" + policy +
         "-binding' denied request: " + why;
}

TEST_F(ValidatingPolicies, AllowWithoutABinding) {
  policy("p", validations("false"));
  start();
  EXPECT_TRUE(validating->ready());
  EXPECT_TRUE(validate(TestWrite(config_map("a"))).ok());
}

struct Case {
  const char* name;
  std::string spec;     // of the policy
  std::string message;  // of the refusal; empty: allowed
};

TEST_F(ValidatingPolicies, DecideByExpressions) {
  const std::vector<Case> cases = {
      {"true", validations("true"), ""},
      {"false", validations("object.data.x == '2'"), "failed expression: object.data.x == '2'"},
      {"message", validations("false", R"(,"message":" no ")"), "no"},
      {"message-expression", validations("false", R"(,"message":"no","messageExpression":"'x is ' + object.data.x")"), "x is 1"},
      {"message-expression-fails", validations("false", R"(,"message":"no","messageExpression":"object.missing")"), "no"},
      {"message-expression-lines", validations("false", R"(,"messageExpression":"'a\\nb'")"), "failed expression: false"},
      {"error", validations("object.missing == 1"), "expression 'object.missing == 1' resulted in error: no such key: missing"},
      {"error-ignored", R"("failurePolicy":"Ignore",)" + validations("object.missing == 1"), ""},
      {"compile-error", validations("object.x +"), "compilation error: compilation failed: ERROR: <input>:1:11: Syntax error: "},
      {"wrong-type", validations("1"), "compilation error: must evaluate to bool but got int"},
      {"condition-false", R"("matchConditions":[{"name":"c","expression":"request.name == 'b'"}],)" + validations("false"), ""},
      {"condition-error", R"("matchConditions":[{"name":"c","expression":"object.missing"}],)" + validations("true"),
       "compilation error: "},
      {"condition-errors",
       R"("matchConditions":[{"name":"c","expression":"object.missing == 1"},{"name":"d","expression":"object.missing == 1"}],)" +
           validations("true"),
       "expression 'object.missing == 1' resulted in error: no such key: missing"},
      {"variables",
       R"j("variables":[{"name":"n","expression":"int(object.data.x)"},{"name":"m","expression":"variables.n + 1"}],)j" +
           validations("variables.m == 3"),
       "failed expression: variables.m == 3"},
      {"request", validations("request.userInfo.username == 'bob' || request.operation != 'CREATE' || request.namespace != 'team-a'"),
       "failed expression: request.userInfo.username == 'bob' || request.operation != 'CREATE' || request.namespace != 'team-a'"},
      {"namespace", validations("namespaceObject.metadata.labels.env != 'prod'"),
       "failed expression: namespaceObject.metadata.labels.env != 'prod'"},
      {"old-object", validations("oldObject == null && params == null"), "compilation error: "},
      {"authorizer", validations("!authorizer.group('').resource('pods').check('use').allowed()"),
       "failed expression: !authorizer.group('').resource('pods').check('use').allowed()"},
      {"budget", validations("object.l.all(a, object.l.all(b, object.l.all(c, object.l.all(d, object.l.all(e, a + b + c + d + e > 0)))))"),
       "expression 'object.l.all(a, object.l.all(b, object.l.all(c, object.l.all(d, object.l.all(e, a + b + c + d + e > 0)))))' resulted "
       "in "
       "error: operation cancelled: actual cost limit exceeded"},
  };
  for (const Case& each : cases) {
    policy(each.name, each.spec);
  }
  start();
  for (const Case& each : cases) {
    bind(each.name);
    host.turns.run_until_idle();
    TestWrite write(
        R"({"metadata":{"name":"a","namespace":"team-a"},"data":{"x":"1"},"l":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18]})");
    const Status status = validate(write);
    if (each.message.empty()) {
      EXPECT_TRUE(status.ok()) << each.name << ": " << status.message();
    } else {
      const std::string wanted = refused(each.name, each.message);
      EXPECT_TRUE(status.message().starts_with(wanted)) << status.message() << "\nwanted: " << wanted;
      EXPECT_EQ(status.code(), 422);
    }
    bindings->erase(std::string(each.name) + "-binding");
    host.turns.run_until_idle();
    EXPECT_TRUE(validate(TestWrite(config_map("a"))).ok()) << "after the binding is gone";
  }
}

TEST_F(ValidatingPolicies, GiveTheirReason) {
  for (const auto& [reason, code] : std::vector<std::pair<std::string, int>>{
           {"Forbidden", 403}, {"Unauthorized", 401}, {"Invalid", 422}, {"RequestEntityTooLarge", 413}}) {
    policy("p", validations("false", R"(,"reason":")" + reason + "\""));
    bind("p");
    if (validating == nullptr) start();
    host.turns.run_until_idle();
    const Status status = validate(TestWrite(config_map("a")));
    EXPECT_EQ(status.code(), code);
    EXPECT_EQ(reason_name(status.reason()), reason);
    ASSERT_NE(status.details(), nullptr);
    ASSERT_EQ(status.details()->causes.size(), 1u);
    EXPECT_EQ(status.details()->causes[0].message,
              "ValidatingAdmissionPolicy 'p' with binding 'p-binding' denied request: failed expression: false");
  }
}

TEST_F(ValidatingPolicies, WarnAndAudit) {
  policy("p.example.com", validations("false", R"(,"message":"no")") +
                              R"(,"auditAnnotations":[{"key":"k","valueExpression":"'is ' + object.metadata.name"},)"
                              R"({"key":"none","valueExpression":"null"}])");
  bind("p.example.com", R"("validationActions":["Warn","Audit"])");
  start();
  TestWrite write(config_map("a"));
  EXPECT_TRUE(validate(write).ok());
  EXPECT_EQ(
      write.context.warnings(),
      std::vector<std::string>{"Validation failed for ValidatingAdmissionPolicy 'p.example.com' with binding 'p.example.com-binding': no"});
  const auto& annotations = write.context.audit_annotations();
  EXPECT_EQ(annotations.at("validation.policy.admission.k8s.io/validation_failure"),
            R"([{"message":"no","policy":"p.example.com","binding":"p.example.com-binding","expressionIndex":0,)"
            R"("validationActions":["Warn","Audit"]}])");
  EXPECT_EQ(annotations.at("p.example.com/k"), "is a");
  EXPECT_EQ(annotations.size(), 2u);
}

TEST_F(ValidatingPolicies, FollowParameters) {
  policy("p", R"("paramKind":{"apiVersion":"v1","kind":"ConfigMap"},)" +
                  validations("params == null || object.data.x != params.data.no",
                              R"(,"messageExpression":"'not ' + params.data.no + ' of ' + params.kind")"));
  bind("p", R"("validationActions":["Deny"],"paramRef":{"name":"limits","namespace":"team-a","parameterNotFoundAction":"Deny"})");
  start();
  EXPECT_EQ(validate(TestWrite(config_map("a", R"({"x":"1"})"))).message(),
            refused("p", "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"));
  put(*params, R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"limits","namespace":"team-a"},"data":{"no":"1"}})");
  host.turns.run_until_idle();
  EXPECT_EQ(validate(TestWrite(config_map("a", R"({"x":"1"})"))).message(), refused("p", "not 1 of ConfigMap"));
  EXPECT_TRUE(validate(TestWrite(config_map("a", R"({"x":"2"})"))).ok());
  bind("p", R"("validationActions":["Deny"],"paramRef":{"selector":{"matchLabels":{"a":"b"}},"parameterNotFoundAction":"Allow"})");
  host.turns.run_until_idle();
  EXPECT_TRUE(validate(TestWrite(config_map("a", R"({"x":"1"})"))).ok()) << "nothing is selected";
  put(*params, R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"limits","namespace":"team-a","labels":{"a":"b"}},)"
               R"("data":{"no":"1"}})");
  host.turns.run_until_idle();
  EXPECT_EQ(validate(TestWrite(config_map("a", R"({"x":"1"})"))).message(), refused("p", "not 1 of ConfigMap"));
}

TEST_F(ValidatingPolicies, RetryUnknownKindsOfParameters) {
  policy("p", R"("paramKind":{"apiVersion":"example.com/v1","kind":"Limit"},)" + validations("params == null"));
  bind("p");
  start();
  EXPECT_EQ(
      validate(TestWrite(config_map("a"))).message(),
      R"(configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource )"
      R"(referenced by paramKind: 'example.com/v1, Kind=Limit')");
  store("limits");
  discovery->documents["/apis/example.com/v1"] = R"({"resources":[{"name":"limits","kind":"Limit","namespaced":false}]})";
  host.turns.fire_timers();
  EXPECT_TRUE(validate(TestWrite(config_map("a"))).ok());
}

TEST_F(ValidatingPolicies, AnIgnoredFailureAfterTheDeadlineRefuses) {
  policy("p", R"("failurePolicy":"Ignore",)" + validations("object.missing == 1"));
  bind("p");
  start();
  TestWrite write(config_map("a"));
  EXPECT_EQ(validate(write).message(), "");
  write.context.deadline = std::chrono::steady_clock::now();
  EXPECT_EQ(validate(write).message(), "Timeout: request did not complete within requested timeout");
}

TEST_F(ValidatingPolicies, AwaitAuthorizers) {
  authorizer->later = "delete";
  policy("p", validations("authorizer.requestResource.check('delete').allowed() && "
                          "authorizer.serviceAccount('ns', 'robot').path('/healthz').check('delete').allowed()"));
  bind("p");
  start();
  const TestWrite write(config_map("a"));
  EXPECT_FALSE(validating->validate_now(write.attributes).has_value());
  EXPECT_TRUE(validate(write).ok());
  EXPECT_EQ(authorizer->waited, 2);
  EXPECT_EQ(authorizer->asked.user->name, "system:serviceaccount:ns:robot");
  EXPECT_EQ(authorizer->asked.path, "/healthz");
}

TEST_F(ValidatingPolicies, ConvertForEquivalentRules) {
  policy("p",
         validations("object.apiVersion == 'example.com/v2' && request.resource.version == 'v2' && request.requestKind.version == 'v1'"),
         R"("matchConstraints":{"matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},"resourceRules":[)"
         R"({"apiGroups":["example.com"],"apiVersions":["v2"],"operations":["*"],"resources":["widgets"]}]})");
  bind("p");
  host.converter = [](const GroupVersionKind& to, Object object) {
    object["apiVersion"] = to.group_version().to_string();
    return Result<Object>(std::move(object));
  };
  start();
  TestWrite write(R"({"apiVersion":"example.com/v1","metadata":{"name":"a"}})");
  write.attributes.resource = {"example.com", "v1", "widgets"};
  write.attributes.kind = {"example.com", "v1", "Widget"};
  EXPECT_EQ(validate(write).message(), "");
  host.converter = [](const GroupVersionKind&, const Object&) { return Result<Object>(bad_request("no")); };
  EXPECT_EQ(validate(write).message(),
            "widgets.example.com \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p-binding' denied request: failed to "
            "configure binding: failed to convert object version: no");
}

TEST_F(ValidatingPolicies, DoNotApplyToPoliciesAndReviews) {
  policy("p", validations("false"),
         R"("matchConstraints":{"matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},"resourceRules":[)"
         R"({"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["*"]}]})");
  bind("p");
  start();
  EXPECT_FALSE(validate(TestWrite(config_map("a"))).ok());
  for (const auto& [group, resource] : std::vector<std::pair<std::string, std::string>>{
           {"admissionregistration.k8s.io", "validatingadmissionpolicies"}, {"authorization.k8s.io", "subjectaccessreviews"}}) {
    TestWrite write(config_map("a"));
    write.attributes.resource = {group, "v1", resource};
    EXPECT_TRUE(validate(write).ok()) << resource;
  }
}

TEST_F(ValidatingPolicies, ReadManagedFieldsOnlyIfAnExpressionDoes) {
  policy("p", validations("object.metadata.name != 'x'"));
  bind("p");
  start();
  EXPECT_FALSE(validating->reads_managed_fields());
  policy("q", validations("object == object"));
  bind("q");
  host.turns.run_until_idle();
  EXPECT_TRUE(validating->reads_managed_fields());
}

double nanoseconds_each(const AdmissionPlugin& plugin, const TestWrite& write) {
  constexpr int kWrites = 1000;
  const double seconds = test_support::least_cpu_seconds([&] {
    for (int i = 0; i < kWrites; ++i) {
      if (!plugin.validate_now(write.attributes)->ok()) std::abort();
    }
  });
  return seconds / kWrites * 1e9;
}

constexpr std::string_view kPods =
    R"("matchConstraints":{"matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},"resourceRules":[{"apiGroups":[""],)"
    R"("apiVersions":["v1"],"operations":["*"],"resources":["pods"]}]})";
constexpr std::string_view kOtherLabels =
    R"("matchConstraints":{"matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{"matchLabels":{"a":"b"}},"resourceRules":[)"
    R"({"apiGroups":[""],"apiVersions":["v1"],"operations":["*"],"resources":["configmaps"]}]})";

// The limits are wide enough for sanitizers and busy machines; the printed figures are those of the machine.
TEST_F(ValidatingPolicies, CostLittle) {
  for (int i = 0; i < 1000; ++i) {
    policy("other-" + std::to_string(i), validations("false"), kPods);
    bind("other-" + std::to_string(i));
  }
  start();
  const TestWrite write(config_map("a", R"({"x":"1","y":"2"})"));
  const double indexed = nanoseconds_each(*validating, write);
  policy("unmatched", validations("false"), kOtherLabels);
  bind("unmatched");
  host.turns.run_until_idle();
  const double unmatched = nanoseconds_each(*validating, write);
  policy("matched", R"j("validations":[{"expression":"object.metadata.name.startsWith('a')"},{"expression":"has(object.data.x)"},)j"
                    R"j({"expression":"object.data.x != object.data.y"},{"expression":"!object.data.exists(k, k == 'secret')"},)j"
                    R"j({"expression":"size(object.data) < 10 || object.metadata.namespace == 'team-a'"}])j");
  bind("matched");
  host.turns.run_until_idle();
  const double matched = nanoseconds_each(*validating, write);
  std::printf(
      "1,000 policies of other resources: %.0f ns a write; a policy whose selector does not match: +%.0f ns; five expressions: +%.0f ns\n",
      indexed, unmatched - indexed, matched - unmatched);
  EXPECT_LT(indexed, 100'000);
  EXPECT_LT(unmatched, 200'000);
  EXPECT_LT(matched, 1'000'000);
}

}  // namespace
}  // namespace backplane::admission::policies::testing
