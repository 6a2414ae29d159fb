#include "reviews.hpp"

#include <gtest/gtest.h>

#include "attributes.hpp"
#include "authorization_v1_json.hpp"
#include "backplane/kit/group.hpp"
#include "review_under_test.hpp"

namespace backplane::authorization {
namespace {

Object parsed(std::string_view text) { return json::parse(text).get_object(); }

std::string problems(std::string_view resource_attributes) {
  FieldErrors errors;
  check_attributes(parsed(R"({"resourceAttributes":)" + std::string(resource_attributes) + "}"), errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

AuthorizationAttributes attributes(std::string_view resource_attributes) {
  return attributes_of(parsed(R"({"resourceAttributes":)" + std::string(resource_attributes) + "}"), UserInfo());
}

TEST(Attributes, AreThoseOfARequest) {
  const auto all = attributes(R"({"namespace":"n","verb":"get","group":"apps","resource":"deployments","subresource":"scale","name":"d"})");
  EXPECT_TRUE(all.resource_request);
  EXPECT_EQ(all.ns + " " + all.verb + " " + all.api_group + " " + all.api_version, "n get apps *");
  EXPECT_EQ(all.resource + "/" + all.subresource + " " + all.name, "deployments/scale d");
  const auto other = attributes_of(parsed(R"({"nonResourceAttributes":{"path":"/x","verb":"get"}})"), UserInfo());
  EXPECT_FALSE(other.resource_request);
  EXPECT_EQ(other.path + " " + other.verb, "/x get");
}

TEST(Attributes, SelectorsAreTextsOrRequirements) {
  EXPECT_EQ(attributes(R"({"labelSelector":{"rawSelector":"a=b,c"}})").labels.requirements().size(), 2u);
  const auto labels = attributes(R"({"labelSelector":{"requirements":[{"key":"a","operator":"In","values":["x","y"]},)"
                                 R"({"key":"b","operator":"DoesNotExist"}]}})");
  EXPECT_EQ(labels.labels.to_string(), "a in (x,y),!b");
  EXPECT_EQ(attributes(R"({"fieldSelector":{"rawSelector":"spec.nodeName=n"}})").fields.to_string(), "spec.nodeName=n");
  const auto fields = attributes(R"({"fieldSelector":{"requirements":[{"key":"a=,b","operator":"In","values":["x,y"]},)"
                                 R"({"key":"c","operator":"NotIn","values":["z"]}]}})");
  ASSERT_EQ(fields.fields.requirements().size(), 2u);
  EXPECT_EQ(fields.fields.requirements()[0].field, "a=,b");
  EXPECT_EQ(fields.fields.requirements()[0].value, "x,y");
  EXPECT_TRUE(fields.fields.requirements()[0].equals);
  EXPECT_FALSE(fields.fields.requirements()[1].equals);
  EXPECT_EQ(evaluation_error({}, fields), "");
}

TEST(Attributes, SelectorsThatCannotBeParsedAreIgnoredAndReported) {
  const auto bad = attributes(R"({"labelSelector":{"rawSelector":"a in ("},"fieldSelector":{"rawSelector":"a"}})");
  EXPECT_EQ(evaluation_error({}, bad),
            "spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector ignored due to parse "
            "error");
  const auto partly = attributes(R"({"labelSelector":{"requirements":[{"key":"a","operator":"Near"},{"key":"b","operator":"Exists"}]}})");
  EXPECT_EQ(partly.labels.to_string(), "b");
  EXPECT_EQ(evaluation_error(internal_error("x"), partly),
            "Internal error occurred: x; spec.resourceAttributes.labelSelector partially ignored due to parse error");
}

TEST(Attributes, SelectorsHaveRules) {
  EXPECT_EQ(problems(R"({"fieldSelector":{}})"),
            "spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, "
            "requirements or rawSelector is required");
  EXPECT_EQ(problems(R"({"labelSelector":{"rawSelector":"a","requirements":[{"key":"a","operator":"Exists"}]}})"),
            R"(spec.resourceAttributes.labelSelector.rawSelector: Invalid value: "a": may not specified at the same time as requirements)");
  EXPECT_EQ(problems(R"({"fieldSelector":{"requirements":[{"operator":"In"},{"key":"a","operator":"Near"}]}})"),
            "[spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified, "
            "spec.resourceAttributes.fieldSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or "
            "'NotIn']");
  EXPECT_EQ(problems(R"({"labelSelector":{"requirements":[{"key":"a","operator":"Exists","values":["b"]}]}})"),
            "spec.resourceAttributes.labelSelector.requirements[0].values: Forbidden: may not be specified when `operator` is 'Exists' or "
            "'DoesNotExist'");
}

// An authorizer that allows one user.
class Fake final : public Authorizer, public RuleResolver {
 public:
  RuleResolver* rule_resolver() noexcept override { return this; }
  std::string_view name() const noexcept override { return "fake"; }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes) override {
    AuthorizerResult result;
    result.decision = attributes.user->name == "jane" ? Decision::kAllow : Decision::kDeny;
    result.reason = "it is " + attributes.user->name;
    co_return result;
  }
  Task<RuleList> rules_for(UserInfo user, std::string ns) override {
    RuleList rules;
    rules.resource_rules.push_back({{"get"}, {""}, {"pods"}, {user.name, ns}});
    rules.incomplete = true;
    co_return rules;
  }
};

class Reviews : public ::testing::Test {
 protected:
  std::string answer(const std::string& resource, std::string_view review) {
    RequestContext context;
    context.user = UserInfo{"jane", "", {}, {}};
    context.info.ns = "n";
    return testing::answer_of(*reviews_.at(resource), context, review);
  }

  Fake fake_;
  std::map<std::string, std::shared_ptr<RestStorage>> reviews_ =
      make_reviews(fake_, fake_, kit::embedded_schemas({authorization_v1_json()})->front());
};

TEST_F(Reviews, ReturnTheAuthorizersDecision) {
  EXPECT_EQ(answer("subjectaccessreviews", R"({"spec":{"user":"joe","nonResourceAttributes":{"path":"/x","verb":"get"}}})"),
            R"({"metadata":{},"spec":{"nonResourceAttributes":{"path":"/x","verb":"get"},"user":"joe"},)"
            R"("status":{"allowed":false,"denied":true,"reason":"it is joe"}})");
  EXPECT_EQ(answer("selfsubjectaccessreviews", R"({"spec":{"nonResourceAttributes":{"path":"/x","verb":"get"}}})"),
            R"({"metadata":{},"spec":{"nonResourceAttributes":{"path":"/x","verb":"get"}},)"
            R"("status":{"allowed":true,"reason":"it is jane"}})");
  EXPECT_EQ(answer("localsubjectaccessreviews", R"({"spec":{"groups":["g"],"resourceAttributes":{"namespace":"n","verb":"get"}}})"),
            R"({"metadata":{"namespace":"n"},"spec":{"resourceAttributes":{"namespace":"n","verb":"get"},"groups":["g"]},)"
            R"("status":{"allowed":false,"denied":true,"reason":"it is "}})");
}

TEST_F(Reviews, NeedASubjectAndOneKindOfAttributes) {
  EXPECT_EQ(answer("subjectaccessreviews", "{}"),
            ".authorization.k8s.io \"\" is invalid: [spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or "
            "resourceAttributes must be specified, spec.user: Invalid value: \"\": at least one of user or group must be specified]");
  EXPECT_EQ(
      answer("selfsubjectaccessreviews", R"({"spec":{"resourceAttributes":{},"nonResourceAttributes":{"path":"/x"}}})"),
      R"(.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":""}: cannot be specified )"
      "in combination with resourceAttributes");
  EXPECT_EQ(answer("selfsubjectaccessreviews", R"({"metadata":{"name":"a"},"spec":{"resourceAttributes":{}}})"),
            R"(.authorization.k8s.io "" is invalid: metadata: Invalid value: {"name":"a"}: must be empty)");
  EXPECT_EQ(answer("localsubjectaccessreviews", R"({"spec":{"user":"j","resourceAttributes":{"namespace":"m"}}})"),
            R"(.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "m": must match metadata.namespace)");
}

TEST_F(Reviews, ListTheRulesOfTheUser) {
  EXPECT_EQ(answer("selfsubjectrulesreviews", R"({"metadata":{"name":"x"},"spec":{"namespace":"n"}})"),
            R"({"metadata":{},"spec":{},"status":{"resourceRules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"],)"
            R"("resourceNames":["jane","n"]}],"nonResourceRules":[],"incomplete":true}})");
  EXPECT_EQ(answer("selfsubjectrulesreviews", "{}"), "no namespace on request");
}

}  // namespace
}  // namespace backplane::authorization
