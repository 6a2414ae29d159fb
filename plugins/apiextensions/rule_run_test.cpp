#include "rule_run.hpp"

#include <gtest/gtest.h>

namespace backplane::apiextensions {
namespace {

struct Found {
  std::string errors;
  std::vector<std::string> warnings;
};

// The errors of the rules of a resource whose spec has this schema, for an object with this spec.
Found find_problems(const std::string& spec_schema, const std::string& now, const std::string& before = "", cel::Budget budget = {}) {
  const Value schema = json::parse(R"({"type":"object","properties":{"spec":)" + spec_schema + "}}");
  const auto rules = make_rules(schema.get_object(), true);
  EXPECT_NE(rules, nullptr);
  const auto object = [](const std::string& spec) {
    return json::parse(R"({"apiVersion":"a.b/v1","kind":"Foo","metadata":{"name":"one"},"spec":)" + spec + "}");
  };
  const Value made = object(now), old = before.empty() ? Value() : object(before);
  FieldErrors errors;
  Found found;
  run_rules(*rules, made, before.empty() ? nullptr : &old, !before.empty(), "", budget, {errors, found.warnings});
  found.errors = errors.empty() ? "" : errors.aggregate_message();
  return found;
}

std::string errors_of(const std::string& schema, const std::string& now, const std::string& before = "") {
  return find_problems(schema, now, before).errors;
}

std::string with_rule(const std::string& rule) {
  return R"({"type":"object","properties":{"size":{"type":"integer"},"name":{"type":"string"}},"x-kubernetes-validations":[)" + rule + "]}";
}

TEST(RuleRunTest, ASchemaWithoutRulesHasNone) {
  const Value schema = json::parse(R"({"type":"object","properties":{"spec":{"type":"object"}}})");
  EXPECT_EQ(make_rules(schema.get_object(), true), nullptr);
}

TEST(RuleRunTest, AFailureIsReportedWithItsMessageOrTheRule) {
  EXPECT_EQ(errors_of(with_rule(R"({"rule":"self.size < 9"})"), R"({"size":8})"), "");
  EXPECT_EQ(errors_of(with_rule(R"({"rule":" self.size < 9"})"), R"({"size":9})"), "spec: Invalid value: failed rule: self.size < 9");
  EXPECT_EQ(errors_of(with_rule(R"({"rule":"self.size < 9","message":"too big"})"), R"({"size":9})"), "spec: Invalid value: too big");
  EXPECT_EQ(
      errors_of(with_rule(R"x({"rule":"self.size < 9","message":"m","messageExpression":"'is ' + string(self.size)"})x"), R"({"size":9})"),
      "spec: Invalid value: is 9");
  // If messageExpression fails, the message is used.
  EXPECT_EQ(errors_of(with_rule(R"({"rule":"self.size < 9","message":"m","messageExpression":"self.name"})"), R"({"size":9})"),
            "spec: Invalid value: m");
}

TEST(RuleRunTest, ReasonAndPathAreTheRules) {
  EXPECT_EQ(errors_of(with_rule(R"({"rule":"self.size < 9","reason":"FieldValueForbidden","fieldPath":".size"})"), R"({"size":9})"),
            "spec.size: Forbidden: failed rule: self.size < 9");
  EXPECT_EQ(errors_of(with_rule(R"({"rule":"self.size < 9","reason":"FieldValueRequired"})"), R"({"size":9})"),
            "spec: Required value: failed rule: self.size < 9");
  EXPECT_EQ(errors_of(with_rule(R"({"rule":"self.size < 9","reason":"FieldValueDuplicate"})"), R"({"size":9})"), "spec: Duplicate value");
}

TEST(RuleRunTest, ScalarsAreShown) {
  const std::string rule = R"("x-kubernetes-validations":[{"rule":"self != self"}])";
  EXPECT_EQ(errors_of(R"({"type":"object","properties":{"a":{"type":"string",)" + rule + "}}}", R"({"a":"x"})"),
            "spec.a: Invalid value: \"x\": failed rule: self != self");
  EXPECT_EQ(errors_of(R"({"type":"object","properties":{"a":{"x-kubernetes-int-or-string":true,)" + rule + "}}}", R"({"a":5})"),
            "spec.a: Invalid value: 5: failed rule: self != self");
  // Rules do not run for null.
  EXPECT_EQ(errors_of(R"({"type":"object","properties":{"a":{"type":"string","nullable":true,)" + rule + "}}}", R"({"a":null})"), "");
}

TEST(RuleRunTest, ItemsAndValuesAreNamed) {
  const std::string item = R"({"type":"integer","x-kubernetes-validations":[{"rule":"self > 1"}]})";
  EXPECT_EQ(errors_of(R"({"type":"object","properties":{"l":{"type":"array","items":)" + item + "}}}", R"({"l":[2,1]})"),
            "spec.l[1]: Invalid value: 1: failed rule: self > 1");
  EXPECT_EQ(errors_of(R"({"type":"object","additionalProperties":)" + item + "}", R"({"a.b":1})"),
            "spec[a.b]: Invalid value: 1: failed rule: self > 1");
}

TEST(RuleRunTest, TheRootKnowsItsName) {
  const Value schema = json::parse(R"({"type":"object","x-kubernetes-validations":[{"rule":"self.metadata.name == 'two'"}]})");
  const auto rules = make_rules(schema.get_object(), true);
  const Value object = json::parse(R"({"apiVersion":"a.b/v1","kind":"Foo","metadata":{"name":"one"}})");
  FieldErrors errors;
  std::vector<std::string> warnings;
  cel::Budget budget;
  run_rules(*rules, object, nullptr, false, "", budget, {errors, warnings});
  EXPECT_EQ(errors.aggregate_message(), "<nil>: Invalid value: failed rule: self.metadata.name == 'two'");
}

TEST(RuleRunTest, RulesAboutChangesNeedOne) {
  const std::string schema = with_rule(R"({"rule":"self.size >= oldSelf.size"})");
  EXPECT_EQ(errors_of(schema, R"({"size":1})"), "");
  EXPECT_EQ(errors_of(schema, R"({"size":1})", R"({"size":2})"), "spec: Invalid value: failed rule: self.size >= oldSelf.size");
  const std::string optional = with_rule(R"({"rule":"oldSelf.hasValue() || self.size == 0","optionalOldSelf":true})");
  EXPECT_EQ(errors_of(optional, R"({"size":1})"), "spec: Invalid value: failed rule: oldSelf.hasValue() || self.size == 0");
  EXPECT_EQ(errors_of(optional, R"({"size":1})", R"({"size":1})"), "");
}

TEST(RuleRunTest, ItemsOfMapsAreComparedByTheirKeys) {
  const std::string schema = R"({"type":"object","properties":{"l":{"type":"array","x-kubernetes-list-type":"map",
    "x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"string"},"v":{"type":"integer"}},
    "x-kubernetes-validations":[{"rule":"self.v >= oldSelf.v"}]}}}})";
  EXPECT_EQ(errors_of(schema, R"({"l":[{"k":"new","v":0},{"k":"a","v":5}]})", R"({"l":[{"k":"a","v":5},{"k":"b","v":9}]})"), "");
  EXPECT_EQ(errors_of(schema, R"({"l":[{"k":"b","v":8},{"k":"a","v":5}]})", R"({"l":[{"k":"a","v":5},{"k":"b","v":9}]})"),
            "spec.l[0]: Invalid value: failed rule: self.v >= oldSelf.v");
}

TEST(RuleRunTest, WhatFailedBeforeAndDidNotChangeIsAWarning) {
  const std::string schema = R"({"type":"object","properties":{"a":{"type":"object","properties":{"size":{"type":"integer"}},
    "x-kubernetes-validations":[{"rule":"self.size < 9"}]},"b":{"type":"integer"}}})";
  const Found same = find_problems(schema, R"({"a":{"size":9},"b":1})", R"({"a":{"size":9},"b":2})");
  EXPECT_EQ(same.errors, "");
  EXPECT_EQ(same.warnings, (std::vector<std::string>{"spec.a: Invalid value: failed rule: self.size < 9"}));
  const Found changed = find_problems(schema, R"({"a":{"size":10}})", R"({"a":{"size":9}})");
  EXPECT_EQ(changed.errors, "spec.a: Invalid value: failed rule: self.size < 9");
  EXPECT_TRUE(changed.warnings.empty());
}

// Regression: members without a schema were compared, too, and failures of unchanged ones were warnings.
TEST(RuleRunTest, AnObjectWithMembersThatTheSchemaDoesNotKnowIsNeverTheSame) {
  const std::string rule = R"("x-kubernetes-validations":[{"rule":"false","message":"no"}])";
  const auto warned = [&](const std::string& words, const std::string& object) {
    return find_problems(R"({"type":"object","properties":{"a":{"type":"object",)" + words + "," + rule + "}}}", object, object)
        .errors.empty();
  };
  const std::string open = R"("x-kubernetes-preserve-unknown-fields":true,"properties":{"b":{"type":"string"}})";
  EXPECT_TRUE(warned(open, R"({"a":{"b":"x"}})"));
  EXPECT_FALSE(warned(open, R"({"a":{"b":"x","c":1}})"));
  EXPECT_TRUE(warned(R"("additionalProperties":{"type":"integer"})", R"({"a":{"b":1}})"));
  EXPECT_FALSE(warned(R"("additionalProperties":true)", R"({"a":{"b":1}})"));
  EXPECT_FALSE(warned(R"("properties":{"in":{"type":"object","x-kubernetes-preserve-unknown-fields":true}})", R"({"a":{"in":{"b":1}}})"));
  EXPECT_FALSE(warned(R"("x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object"}})",
                      R"({"a":{"apiVersion":"v1","kind":"Foo","metadata":{"name":"x"}}})"));
}

TEST(RuleRunTest, AResourceIsNeverTheSameAsAWhole) {
  const Value schema = json::parse(R"({"type":"object","x-kubernetes-validations":[{"rule":"false","message":"no"}],"properties":{
    "spec":{"type":"object","properties":{"size":{"type":"integer"}}}}})");
  const auto rules = make_rules(schema.get_object(), true);
  const Value object = json::parse(R"({"apiVersion":"a.b/v1","kind":"Foo","metadata":{"name":"one"},"spec":{"size":1}})");
  FieldErrors errors;
  std::vector<std::string> warnings;
  cel::Budget budget;
  run_rules(*rules, object, &object, true, "", budget, {errors, warnings});
  EXPECT_EQ(errors.aggregate_message(), "<nil>: Invalid value: no");
  EXPECT_TRUE(warnings.empty());
}

TEST(RuleRunTest, MessagesKnowTheOldValueWhereARuleAsksAboutIt) {
  const std::string words = R"x("message":"plain","messageExpression":"'was ' + string(oldSelf.size)"})x";
  EXPECT_EQ(errors_of(with_rule(R"({"rule":"self.size == oldSelf.size",)" + words), R"({"size":2})", R"({"size":1})"),
            "spec: Invalid value: was 1");
  EXPECT_EQ(errors_of(with_rule(R"({"rule":"self.size == 0",)" + words), R"({"size":2})", R"({"size":1})"), "spec: Invalid value: plain");
  // The optional old value is absent for them.
  const std::string optional = R"({"rule":"oldSelf.hasValue() && false","optionalOldSelf":true,"message":"plain","messageExpression":)";
  EXPECT_EQ(errors_of(with_rule(optional + R"("oldSelf.hasValue() ? 'old' : 'new'"})"), R"({"size":2})", R"({"size":1})"),
            "spec: Invalid value: plain");
  EXPECT_EQ(errors_of(with_rule(optional + R"("oldSelf.hasValue() ? 'old' : 'new'"})"), R"({"size":2})"), "spec: Invalid value: plain");
}

TEST(RuleRunTest, ItemsOfAtomicListsAreUnchangedOnlyIfTheWholeListIs) {
  // Items of an atomic list have no identity, so only the whole list can be unchanged.
  const std::string schema = R"({"type":"object","properties":{"l":{"type":"array","items":{"type":"integer",
    "x-kubernetes-validations":[{"rule":"self > 1"}]}}}})";
  EXPECT_EQ(find_problems(schema, R"({"l":[1,2]})", R"({"l":[1,2]})").errors, "");
  EXPECT_EQ(find_problems(schema, R"({"l":[1,3]})", R"({"l":[1,2]})").errors, "spec.l[0]: Invalid value: 1: failed rule: self > 1");
}

TEST(RuleRunTest, ItemsWithKeysInAnotherOrderAreNoChange) {
  const std::string schema = R"({"type":"object","properties":{"in":{"type":"object","properties":{"l":{"type":"array",
    "x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"string"},
    "v":{"type":"array","items":{"type":"integer"}}}}}},"x-kubernetes-validations":[{"rule":"self.l.size() < 2"}]}}})";
  const std::string before = R"({"in":{"l":[{"k":"a","v":[1,2]},{"k":"b"}]}})",
                    failed = "spec.in: Invalid value: failed rule: self.l.size() < 2";
  const Found turned = find_problems(schema, R"({"in":{"l":[{"k":"b"},{"k":"a","v":[1,2]}]}})", before);
  EXPECT_EQ(turned.errors, "");
  EXPECT_EQ(turned.warnings, std::vector<std::string>{failed});
  // Items without keys are identified by their position.
  EXPECT_EQ(errors_of(schema, R"({"in":{"l":[{"k":"b"},{"k":"a","v":[2,1]}]}})", before), failed);
  EXPECT_EQ(errors_of(schema, R"({"in":{"l":[{"k":"b"},{"k":"c"}]}})", before), failed);
}

TEST(RuleRunTest, ARuleThatCannotBeAnsweredSaysWhy) {
  EXPECT_EQ(errors_of(with_rule(R"({"rule":"1 / self.size == 0","message":"m"})"), R"({"size":0})"),
            "spec: Invalid value: \"object\": division by zero evaluating rule: m");
  EXPECT_EQ(errors_of(with_rule(R"({"rule":"self.size < 9"})"), "{}"),
            "spec: Invalid value: \"object\": no such key: size evaluating rule: self.size < 9");
}

TEST(RuleRunTest, ARunThatCostsTooMuchEnds) {
  const std::string schema = R"x({"type":"object","properties":{"l":{"type":"array","items":{"type":"string"},
    "x-kubernetes-validations":[{"rule":"self.all(x, x != 'no')"},{"rule":"false"}]}}})x";
  std::string list;
  for (int i = 0; i < 1000; ++i) list += (i == 0 ? "\"a" : ",\"a") + std::to_string(i) + "\"";
  cel::Budget little;
  little.left = 100;
  EXPECT_EQ(
      find_problems(schema, R"({"l":[)" + list + "]}", "", little).errors,
      "spec.l: Invalid value: \"array\": validation failed due to running out of cost budget, no further validation rules will be run");
  cel::Budget short_calls;
  short_calls.per_call = 100;
  EXPECT_EQ(
      find_problems(schema, R"({"l":[)" + list + "]}", "", short_calls).errors,
      "spec.l: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to "
      "call cost exceeds limit for rule: self.all(x, x != 'no')");
}

// Regression: a run was never stopped.
TEST(RuleRunTest, ARunEndsWhenItsRequestHasEnded) {
  const std::string schema = R"x({"type":"object","properties":{"l":{"type":"array","items":{"type":"integer"},
    "x-kubernetes-validations":[{"rule":"self.all(x, x < 1000)"},{"rule":"self.size() < 5","messageExpression":"self.map(x, string(x)).join()"}]}}})x";
  std::string list = "1";
  for (int i = 0; i < 250; ++i) list += ",1";
  int asked = 0;
  cel::Budget ended;
  ended.cancelled = [&asked] { return ++asked > 1; };
  EXPECT_EQ(find_problems(schema, R"({"l":[)" + list + "]}", "", ended).errors,
            "spec.l: Invalid value: \"array\": operation interrupted evaluating rule: self.all(x, x < 1000)");
  EXPECT_EQ(asked, 2) << "every hundred items; the client is gone before the second rule";
  asked = -1;
  EXPECT_EQ(find_problems(schema, R"({"l":[)" + list + "]}", "", ended).errors, "spec.l: Invalid value: failed rule: self.size() < 5");
  EXPECT_EQ(asked, 2) << "every hundred items: twice by the rule, once by the message";
  ended.cancelled = [] { return false; };
  EXPECT_NE(find_problems(schema, R"({"l":[)" + list + "]}", "", ended).errors.find("spec.l: Invalid value: 111"), std::string::npos);
}

// Regression: rules without loops were all run, regardless of their number.
TEST(RuleRunTest, ManyShortRulesEndWhenTheirRequestHasEnded) {
  const std::string schema = R"x({"type":"object","properties":{"l":{"type":"array","items":{"type":"integer",
    "x-kubernetes-validations":[{"rule":"self < 1"}]}}}})x";
  std::string list = "1";
  for (int i = 0; i < 250; ++i) list += ",1";
  int asked = 0;
  cel::Budget ended;
  ended.cancelled = [&asked] { return ++asked > 1; };
  const std::string errors = find_problems(schema, R"({"l":[)" + list + "]}", "", ended).errors;
  EXPECT_NE(errors.find("spec.l[126]: Invalid value: 1: failed rule"), std::string::npos) << errors;
  EXPECT_NE(errors.find("spec.l[127]: Invalid value: \"integer\": operation interrupted evaluating rule: self < 1"), std::string::npos)
      << errors;
  EXPECT_EQ(errors.find("spec.l[128]"), std::string::npos) << errors;
}

TEST(RuleRunTest, ObjectsWithProblemsOfSomeKindsAreNotAsked) {
  FieldErrors errors;
  errors.invalid("a", "b", "c");
  EXPECT_FALSE(blocks_rules(errors));
  errors.required("d");
  EXPECT_TRUE(blocks_rules(errors));
  FieldErrors blocked;
  report_rule_stopped(blocked);
  EXPECT_EQ(
      blocked.aggregate_message(),
      "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to "
      "complete validation");
}

}  // namespace
}  // namespace backplane::apiextensions
