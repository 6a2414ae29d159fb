#include <gtest/gtest.h>

#include "consumer.hpp"
#include "kind_under_test.hpp"
#include "kinds.hpp"
#include "producer.hpp"

namespace backplane::flowcontrol {
namespace {

testing::KindUnderTest kind(std::string_view name) {
  return testing::KindUnderTest(flowcontrol_group()->kind(name), *flowcontrol_schemas(), kGroup);
}

Object named(const std::string& name, const std::string& spec) {
  return json::parse(R"({"metadata":{"name":")" + name + R"(","generation":1},"spec":)" + spec + "}").get_object();
}

std::string schema_problems(const std::string& name, const std::string& spec) {
  const auto schemas = kind("FlowSchema");
  return schemas.problems(schemas.created(to_json(named(name, spec))));
}

std::string level_problems(const std::string& name, const std::string& spec) {
  const auto levels = kind("PriorityLevelConfiguration");
  return levels.problems(levels.created(to_json(named(name, spec))));
}

// A schema with one such rule.
std::string with_rule(const std::string& rule) {
  return schema_problems(
      "s", R"({"priorityLevelConfiguration":{"name":"p"},"rules":[{"subjects":[{"kind":"User","user":{"name":"u"}}],)" + rule + "}]}");
}

Object stored(const Bootstrap& bootstrap) {
  Object object = named(bootstrap.name, "{}");
  object["spec"] = bootstrap.spec;
  ObjectMeta(object).mutable_annotations()[kAutoUpdate] = "true";
  return object;
}

TEST(FlowSchemas, WhatTheServerDeliversPassesItsOwnRules) {
  ASSERT_EQ(bootstrap_objects().size(), 19u);
  for (const Bootstrap& each : bootstrap_objects()) {
    const auto of_kind = kind(each.resource == kFlowSchemas ? "FlowSchema" : "PriorityLevelConfiguration");
    const Object object = of_kind.created(to_json(stored(each)));
    EXPECT_EQ(of_kind.problems(object), "") << each.name;
    EXPECT_EQ(*get_object(object, "spec"), each.spec) << each.name << ": defaults change nothing";
  }
}

TEST(FlowSchemas, OnlyExemptComesFirst) {
  EXPECT_EQ(schema_problems("s", R"({"priorityLevelConfiguration":{"name":"p"},"matchingPrecedence":1})"),
            "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1");
  EXPECT_EQ(schema_problems("s", R"({"priorityLevelConfiguration":{"name":"p"},"matchingPrecedence":10001})"),
            "spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000");
}

TEST(FlowSchemas, SubjectsAreWhatTheirKindSays) {
  const auto problems = [](const std::string& subject) {
    return schema_problems("s", R"({"priorityLevelConfiguration":{"name":"p"},"rules":[{"nonResourceRules":[{"verbs":["*"],)"
                                R"("nonResourceURLs":["*"]}],"subjects":[)" +
                                    subject + "]}]}");
  };
  const std::string path = "spec.rules[0].subjects[0].";
  EXPECT_EQ(problems(R"({"kind":"Group","group":{"name":"g"}})"), "");
  EXPECT_EQ(problems(R"({"kind":"User"})"), path + "user: Required value: user is required when subject kind is 'User'");
  EXPECT_EQ(problems(R"({"kind":"User","user":{"name":"u"},"group":{}})"),
            path + "group: Forbidden: group is forbidden when subject kind is not 'Group'");
  EXPECT_EQ(problems(R"({"kind":"ServiceAccount","serviceAccount":{"namespace":"n","name":"*"}})"), "");
}

TEST(FlowSchemas, RulesNameVerbsNamespacesAndPaths) {
  EXPECT_EQ(with_rule(R"("resourceRules":[{"verbs":["get","use"],"apiGroups":[""],"resources":["pods"],"namespaces":["*"]}])"),
            R"(spec.rules[0].resourceRules[0].verbs: Unsupported value: ["get","use"]: supported values: "create", "delete", )"
            R"("deletecollection", "get", "list", "patch", "proxy", "update", "watch")");
  EXPECT_EQ(with_rule(R"("resourceRules":[{"verbs":["*"],"apiGroups":["","*"],"resources":["*"],"clusterScope":true}])"),
            R"(spec.rules[0].resourceRules[0].apiGroups: Invalid value: ["","*"]: if '*' is present, must not specify other api groups)");
  EXPECT_EQ(with_rule(R"("nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["/a/*","/a*","/a//b","/a b","a",""]}])"),
            R"([spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "/a*": wildcard can only do suffix matching, )"
            R"(spec.rules[0].nonResourceRules[0].nonResourceURLs[2]: Invalid value: "/a//b": must not contain double slash, )"
            R"(spec.rules[0].nonResourceRules[0].nonResourceURLs[3]: Invalid value: "/a b": must not contain white-space, )"
            R"(spec.rules[0].nonResourceRules[0].nonResourceURLs[4]: Invalid value: "a": must start with slash, )"
            R"(spec.rules[0].nonResourceRules[0].nonResourceURLs[5]: Invalid value: "": must not be empty])");
}

TEST(FlowSchemas, NoNamespacesAreNone) {
  const auto schemas = kind("FlowSchema");
  Object object =
      schemas.created(to_json(named("s", R"({"rules":[{"subjects":[],"resourceRules":[{"clusterScope":true,"namespaces":[]}]}]})")));
  schemas.strategy().canonicalize(object);
  EXPECT_TRUE(find_path(object, "spec.rules")->get_array()[0].at("resourceRules").at(0).at("namespaces").is_null());
}

TEST(FlowSchemas, MandatoryOnesStayAsTheyAre) {
  const Object changed = named("catch-all", R"({"priorityLevelConfiguration":{"name":"catch-all"},"matchingPrecedence":9999})");
  EXPECT_EQ(
      schema_problems("catch-all", to_json(*get_object(changed, "spec"))),
      R"(spec: Invalid value: {"PriorityLevelConfiguration":{"Name":"catch-all"},"MatchingPrecedence":9999,"DistinguisherMethod":null,)"
      R"("Rules":null}: spec of 'catch-all' must equal the fixed value)");
}

TEST(PriorityLevels, OfExemptOnlyTheSharesMayChange) {
  EXPECT_EQ(level_problems("exempt", R"({"type":"Exempt","exempt":{"nominalConcurrencyShares":3,"lendablePercent":50}})"), "");
  EXPECT_EQ(level_problems("other", R"({"type":"Exempt"})"),
            R"(spec.type: Invalid value: "Exempt": must be 'Exempt' if and only if `name` is 'exempt')");
  EXPECT_EQ(
      level_problems("catch-all", R"({"type":"Limited","limited":{"nominalConcurrencyShares":6,"limitResponse":{"type":"Reject"}}})"),
      R"(spec: Invalid value: {"Type":"Limited","Limited":{"NominalConcurrencyShares":6,"LimitResponse":{"Type":"Reject",)"
      R"("Queuing":null},"LendablePercent":0,"BorrowingLimitPercent":null},"Exempt":null}: spec of 'catch-all' must equal the fixed value)");
}

TEST(PriorityLevels, HandSizesAreLimitedByQueuesAndHashBits) {
  const auto hand = [](int queues, int size) {
    return level_problems("p", R"({"type":"Limited","limited":{"limitResponse":{"type":"Queue","queuing":{"queues":)" +
                                   std::to_string(queues) + R"(,"handSize":)" + std::to_string(size) + "}}}}");
  };
  const std::string path = "spec.limited.limitResponse.queuing.handSize: Invalid value: ";
  EXPECT_EQ(hand(64, 8), "");
  EXPECT_EQ(hand(4, 5), path + "5: should not be greater than queues (4)");
  EXPECT_EQ(hand(128, 9), path + "9: required entropy bits of deckSize 128 and handSize 9 should not be greater than 60");
}

TEST(Producer, ChangedMandatorySpecsAreRestoredDespiteTheAnnotation) {
  const Bootstrap& schema = *find_bootstrap(kFlowSchemas, "catch-all");
  Object object = stored(schema);
  EXPECT_FALSE(revised(schema, object));
  object.at("spec").get_object()["matchingPrecedence"] = 5;
  ObjectMeta(object).mutable_annotations()[kAutoUpdate] = "false";
  const auto right = revised(schema, object);
  ASSERT_TRUE(right);
  EXPECT_EQ(*right, stored(schema));
}

TEST(Producer, SuggestedSpecsAreKeptAsLongAsTheyMayBe) {
  const Bootstrap& level = *find_bootstrap(kPriorityLevels, "system");
  Object object = stored(level);
  object.at("spec").get_object().at("limited").get_object()["lendablePercent"] = 1;
  EXPECT_EQ(revised(level, object), stored(level)) << "true: the server's";
  ObjectMeta(object).mutable_annotations()[kAutoUpdate] = "false";
  EXPECT_FALSE(revised(level, object)) << "false: the user's";
  ObjectMeta(object).mutable_annotations().clear();
  EXPECT_EQ(revised(level, object), stored(level)) << "nothing said, nothing changed since it was made";
  ObjectMeta(object).set_generation(2);
  const auto noted = revised(level, object);
  ASSERT_TRUE(noted);
  EXPECT_EQ(get_string(*get_object(*get_object(*noted, "metadata"), "annotations"), kAutoUpdate), "false");
  EXPECT_EQ(*get_object(*noted, "spec"), *get_object(object, "spec"));
}

TEST(Producer, TheSharesOfExemptAreTheUsers) {
  const Bootstrap& level = *find_bootstrap(kPriorityLevels, "exempt");
  Object object = stored(level);
  object.at("spec").get_object().at("exempt").get_object()["nominalConcurrencyShares"] = 7;
  EXPECT_FALSE(revised(level, object));
}

TEST(Producer, LeftOverObjectsAreRemovedOnlyIfTheAnnotationIsTrue) {
  Object object = named("old", "{}");
  EXPECT_FALSE(is_stale(object));
  ObjectMeta(object).mutable_annotations()[kAutoUpdate] = "T";
  EXPECT_TRUE(is_stale(object));
  ObjectMeta(object).mutable_annotations()[kAutoUpdate] = "maybe";
  EXPECT_FALSE(is_stale(object));
}

TEST(Consumer, SaysWhetherTheLevelExistsOnce) {
  Object schema = named("s", R"({"priorityLevelConfiguration":{"name":"p"}})");
  auto condition = new_condition(schema, false);
  ASSERT_TRUE(condition);
  EXPECT_EQ(get_string(*condition, "status"), "True");
  EXPECT_EQ(get_string(*condition, "message"),
            "This FlowSchema references the PriorityLevelConfiguration object named \"p\" but there is no such object");
  ensure_object(schema, "status")["conditions"] = Array{*condition};
  EXPECT_FALSE(new_condition(schema, false));
  condition = new_condition(schema, true);
  ASSERT_TRUE(condition);
  EXPECT_EQ(get_string(*condition, "reason"), "Found");
}

}  // namespace
}  // namespace backplane::flowcontrol
