#include <gtest/gtest.h>

#include <set>

#include "backplane/core/meta.hpp"
#include "kind_under_test.hpp"
#include "kinds.hpp"

namespace backplane::admissionregistration {
namespace {

testing::KindUnderTest kind(std::string_view name) {
  return testing::KindUnderTest(admissionregistration_group()->kind(name), *admissionregistration_schemas().front(),
                                "admissionregistration.k8s.io");
}

// A configuration with one webhook, which has these members and a valid name, side effects and versions.
std::string webhook(const std::string& members) {
  return R"({"metadata":{"name":"w"},"webhooks":[{"name":"a.example.com","sideEffects":"None","admissionReviewVersions":["v1"])" +
         (members.empty() ? "" : "," + members) + "}]}";
}

std::string webhook_problems(const std::string& members) {
  const auto webhooks = kind("ValidatingWebhookConfiguration");
  return webhooks.problems(webhooks.created(webhook(members)));
}

std::string with_url(const std::string& url) { return webhook_problems(R"("clientConfig":{"url":")" + url + "\"}"); }

std::string with_resources(const std::string& resources) {
  return webhook_problems(R"("clientConfig":{"url":"https://h/"},"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],)"
                          R"("resources":)" +
                          resources + "}]");
}

TEST(Webhooks, HaveTheirDefaults) {
  const Object made = kind("MutatingWebhookConfiguration").created(webhook(R"("clientConfig":{"service":{"namespace":"n","name":"s"}})"));
  const Object& hook = get_array(made, "webhooks")->front().get_object();
  EXPECT_EQ(to_json(hook),
            R"({"name":"a.example.com","clientConfig":{"service":{"namespace":"n","name":"s","port":443}},"failurePolicy":"Fail",)"
            R"("matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},"sideEffects":"None","timeoutSeconds":10,)"
            R"("admissionReviewVersions":["v1"],"reinvocationPolicy":"Never"})");
  EXPECT_EQ(kind("MutatingWebhookConfiguration").problems(made), "");
}

TEST(Webhooks, AreCalledByUrlOrAsAService) {
  const std::string path = "webhooks[0].clientConfig";
  EXPECT_EQ(webhook_problems(""), path + ": Required value: exactly one of url or service is required");
  EXPECT_EQ(with_url("https://h:8443/a/b"), "");
  EXPECT_EQ(with_url("http://u:p@h/a?b=c#d"),
            "[" + path + ".url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path], " +
                path + ".url: Invalid value: \"u:p\": user information is not permitted in the URL, " + path +
                ".url: Invalid value: \"d\": fragments are not permitted in the URL, " + path +
                ".url: Invalid value: \"b=c\": query parameters are not permitted in the URL]");
  EXPECT_EQ(with_url("https:opaque"), path + ".url: Invalid value: \"\": host must be specified; desired format: https://host[/path]");
  EXPECT_EQ(with_url("https://h:x"), path +
                                         ".url: Required value: url must be a valid URL: parse \"https://h:x\": invalid port \":x\" after "
                                         "host; desired format: https://host[/path]");
  EXPECT_EQ(with_url(":a"), path +
                                ".url: Required value: url must be a valid URL: parse \":a\": missing protocol scheme; desired format: "
                                "https://host[/path]");
  EXPECT_EQ(webhook_problems(R"("clientConfig":{"service":{"namespace":"n","name":"s","path":"/a//b/","port":0}})"),
            "[" + path + ".service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive, " + path +
                ".service.path: Invalid value: \"/a//b/\": segment[1] may not be empty]");
}

TEST(Webhooks, RulesNameNoResourceTwice) {
  const std::string path = "webhooks[0].rules[0].resources";
  EXPECT_EQ(with_resources(R"(["pods","pods/status"])"), "");
  EXPECT_EQ(with_resources("[]"), path + ": Required value");
  EXPECT_EQ(with_resources(R"(["pods/*","pods/status"])"),
            path + R"([1]: Invalid value: "pods/status": if 'pods/*' is present, must not specify pods/status)");
  EXPECT_EQ(with_resources(R"(["*/*","pods"])"),
            path + R"(: Invalid value: ["*/*","pods"]: if '*/*' is present, must not specify other resources)");
  EXPECT_EQ(with_resources(R"(["*","pods"])"),
            path + R"(: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources)");
}

TEST(Webhooks, SelectorsAreOnesThatCanBeRead) {
  const std::string problems = webhook_problems(R"("clientConfig":{"url":"https://h/"},"namespaceSelector":{"matchLabels":{"a":"!"}})");
  EXPECT_TRUE(problems.starts_with(R"(webhooks[0].namespaceSelector.matchLabels: Invalid value: "!": a valid label must be)")) << problems;
}

TEST(Webhooks, KeepWhatOldObjectsMayHave) {
  const auto webhooks = kind("ValidatingWebhookConfiguration");
  Object old = webhooks.created(webhook(R"("clientConfig":{"url":"https://h/"},"matchConditions":[{"name":"c","expression":"("}])"));
  old.at("webhooks").get_array()[0].get_object()["sideEffects"] = "Some";
  EXPECT_EQ(webhooks.change_problems(old, old), "") << "of an older version";
  const Object good = webhooks.created(webhook(R"("clientConfig":{"url":"https://h/"})"));
  EXPECT_NE(webhooks.change_problems(old, good).find("sideEffects: Unsupported value: \"Some\""), std::string::npos);
  EXPECT_NE(webhooks.change_problems(old, good).find("matchConditions[0].expression: Invalid value: \"(\": compilation failed: ERROR:"),
            std::string::npos);
}

TEST(Webhooks, AChangeOfThemIsANewGeneration) {
  const auto webhooks = kind("ValidatingWebhookConfiguration");
  Object old = webhooks.created(webhook(R"("clientConfig":{"url":"https://h/"})"));
  ObjectMeta(old).set_generation(3);
  Object now = old;
  RequestContext context;
  webhooks.strategy().prepare_for_update(context, now, old);
  EXPECT_EQ(get_int_path(now, "metadata.generation"), 3);
  now.at("webhooks").get_array()[0].get_object()["timeoutSeconds"] = 7;
  webhooks.strategy().prepare_for_update(context, now, old);
  EXPECT_EQ(get_int_path(now, "metadata.generation"), 4);
}

std::string policy_problems(const std::string& members) {
  const auto policies = kind("ValidatingAdmissionPolicy");
  return policies.problems(policies.created(
      R"({"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],)"
      R"("resources":["*"]}]},)" +
      members + "}}"));
}

// Regression: a type with all variables was made for each variable.
TEST(Policies, ManyVariablesMayBeUsedEachByTheNext) {
  constexpr int kMany = 5'000;
  std::string variables = R"({"name":"v0","expression":"1"})";
  for (int i = 1; i < kMany; ++i) {
    const std::string before = std::to_string(i - 1);
    variables += R"(,{"name":"v)" + std::to_string(i) + R"(","expression":"variables.v)" + before + R"( + 1"})";
  }
  EXPECT_EQ(policy_problems("\"variables\":[" + variables + R"(],"validations":[{"expression":"variables.v4999 == variables.v17"}])"), "");
}

TEST(Policies, VariablesMayBeUsedOnlyAfterTheirDefinition) {
  EXPECT_EQ(policy_problems(R"("variables":[{"name":"a","expression":"1"},{"name":"b","expression":"variables.a + 1"}],)"
                            R"("validations":[{"expression":"variables.b == 2"}])"),
            "");
  EXPECT_EQ(policy_problems(R"("variables":[{"name":"a","expression":"variables.b"},{"name":"b","expression":"1"}],)"
                            R"("validations":[{"expression":"true"}])"),
            "spec.variables[0].expression: Invalid value: \"variables.b\": compilation failed: ERROR: <input>:1:10: undefined field 'b'\n"
            " | variables.b\n | .........^");
}

TEST(Policies, SayWhatTheyAskFor) {
  EXPECT_EQ(policy_problems(R"("failurePolicy":"Ignore")"),
            "[spec.validations: Required value: validations or auditAnnotations must contain at least one item, "
            "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item]");
  EXPECT_EQ(policy_problems(R"("validations":[{"expression":"true","message":"a\nb"},{"expression":"true","message":" "}])"),
            R"([spec.validations[0].message: Invalid value: "a\nb": must not contain line breaks, )"
            R"(spec.validations[1].message: Invalid value: " ": must be non-empty if specified])");
  EXPECT_EQ(
      policy_problems(R"("paramKind":{"apiVersion":"a/b/c","kind":"A_b"},"validations":[{"expression":"params.x == 1"}])"),
      "[spec.paramKind.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c, "
      "spec.paramKind.kind: Invalid value: \"A_b\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of "
      "lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. "
      "'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')]");
}

TEST(Policies, MutatingOnesChangeInOneWay) {
  const auto schemas = admissionregistration_schemas();
  const auto row = admissionregistration_group()->kind("MutatingAdmissionPolicy");
  const Schema* schema = schemas[1]->find(GroupVersionKind{"admissionregistration.k8s.io", "v1beta1", "MutatingAdmissionPolicy"});
  const auto problems = [&](const std::string& mutation) {
    Value value = json::parse(
        R"({"metadata":{"name":"m"},"spec":{"reinvocationPolicy":"Never","matchConstraints":{"resourceRules":[{"operations":["DELETE"],)"
        R"("apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]},"mutations":[)" +
        mutation + "]}}");
    const Status shaped = schema->normalize(value, nullptr);
    EXPECT_TRUE(shaped.ok()) << shaped.message();
    schema->apply_defaults(value);
    FieldErrors errors;
    RequestContext context;
    schema->check(value.get_object(), nullptr, ObjectPart::kWhole, "", errors);
    row.strategy()->validate(context, value.get_object(), errors);
    return errors.aggregate_message();
  };
  const std::string operations =
      R"(spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE")";
  EXPECT_EQ(problems(R"({"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'test', path: '/a'}]"}})"), operations);
  EXPECT_EQ(problems(R"({"patchType":"JSONPatch","applyConfiguration":{"expression":"Object{}"}})"),
            "[" + operations +
                ", spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch, "
                "spec.mutations[0].applyConfiguration: Invalid value: \"{applyConfiguration}\": must not be specified when patchType is "
                "JSONPatch]");
}

TEST(Policies, StatusesHaveWholeConditionsAndWarnings) {
  const Schema* schema =
      admissionregistration_schemas().front()->find(GroupVersionKind{"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy"});
  Value value = json::parse(R"({"metadata":{"name":"p"},"status":{"typeChecking":{"expressionWarnings":[{}]},"conditions":[)"
                            R"({"type":"Ready","status":"Yes","reason":"a b","message":""}]}})");
  ASSERT_TRUE(schema->normalize(value, nullptr).ok());
  FieldErrors errors;
  schema->check(value.get_object(), nullptr, ObjectPart::kStatus, "", errors);
  std::set<std::string> fields;
  for (const FieldError& each : errors.list()) fields.insert(each.field);
  EXPECT_EQ(fields, (std::set<std::string>{"status.conditions[0].lastTransitionTime", "status.conditions[0].reason",
                                           "status.conditions[0].status", "status.typeChecking.expressionWarnings[0].fieldRef",
                                           "status.typeChecking.expressionWarnings[0].warning"}));
}

TEST(Bindings, ParamRefsHaveEitherANameOrASelector) {
  const auto bindings = kind("ValidatingAdmissionPolicyBinding");
  const auto problems = [&](const std::string& spec) {
    return bindings.problems(
        bindings.created(R"({"metadata":{"name":"b"},"spec":{"policyName":"p","validationActions":["Deny"],)" + spec + "}}"));
  };
  EXPECT_EQ(problems(R"("paramRef":{"selector":{},"parameterNotFoundAction":"Deny"})"), "");
  EXPECT_EQ(problems(R"("paramRef":{"parameterNotFoundAction":"Deny"})"),
            "spec.paramRef: Required value: one of name or selector must be specified");
  EXPECT_EQ(problems(R"("paramRef":{"name":"a","selector":{},"parameterNotFoundAction":"Deny"})"),
            "[spec.paramRef.name: Forbidden: name and selector are mutually exclusive, "
            "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive]");
}

TEST(Tables, ShowKindsAndObjectsOfParameters) {
  const auto policies = kind("ValidatingAdmissionPolicy"), bindings = kind("ValidatingAdmissionPolicyBinding");
  const auto cells = [](const testing::KindUnderTest& of, const std::string& spec) {
    const Object object = json::parse(R"({"metadata":{"name":"n"},"spec":)" + spec + "}").get_object();
    Array found = of.strategy().table_convertor().cells(object, 0, {});
    found.pop_back();  // the age
    return json::serialize(found);
  };
  EXPECT_EQ(cells(policies, R"({"validations":[{}],"paramKind":{"apiVersion":"g/v1","kind":"K"}})"), R"(["n",1,"g/v1/K"])");
  EXPECT_EQ(cells(policies, "{}"), R"(["n",0,"<unset>"])");
  EXPECT_EQ(cells(bindings, R"({"policyName":"p","paramRef":{"name":"a"}})"), R"(["n","p","*/a"])");
  EXPECT_EQ(cells(bindings, R"({"policyName":"p","paramRef":{"selector":{"matchLabels":{"b":"c","a":"d"},"matchExpressions":[)"
                            R"({"key":"k","operator":"In","values":["x","y"]}]}}})"),
            R"(["n","p","&LabelSelector{MatchLabels:map[string]string{a: d,b: c,},MatchExpressions:[]LabelSelectorRequirement{)"
            R"(LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}"])");
}

TEST(Names, OfStaticConfigurationsAreWarnedOf) {
  const Object object = json::parse(R"({"metadata":{"name":"a.static.k8s.io"}})").get_object();
  EXPECT_EQ(kind("ValidatingAdmissionPolicy").strategy().warnings(object, nullptr).size(), 1u);
}

}  // namespace
}  // namespace backplane::admissionregistration
