// Keywords of x-backplane-rules beyond one member: the whole object, the old object, several members and maps together.
#include "schema/schema_test_support.hpp"

namespace backplane {
namespace {

constexpr std::string_view kShop = R"({"definitions":{
  "io.k8s.api.test.v1.Meta":{"type":"object","properties":{"room":{"type":"string"},"gone":{"type":"string"}}},
  "io.k8s.api.test.v1.Lock":{"type":"object","properties":{"key":{"type":"string"},"spare":{"type":"string"}}},
  "io.k8s.api.test.v1.Item":{"type":"object","properties":{
    "port":{"type":"integer","format":"int32"},"way":{"type":"string"},
    "op":{"type":"string"},"values":{"type":"array","items":{"type":"string"}}}},
  "io.k8s.api.test.v1.Spec":{"type":"object",
    "x-backplane-struct-rules":{
      "ordered":[{"low":"least","high":"most","text":"{low} is above {high}"},
                 {"low":"usual","high":"most","text":"{low} of {high}","blames":"high","shows":"high"}],
      "anyOf":{"when":{"kindOf":"Claim"},"members":["least.size","most.size"],"text":"one of both"}},
    "properties":{
      "kindOf":{"type":"string","x-backplane-rules":
        {"format":"qualifiedName","enum":["Claim","Box"],"orQualified":true,"enumText":"standard or with a domain"}},
      "room":{"type":"string","x-backplane-rules":[
        {"unless":{"room":{"as":"/meta.room"}},"wrong":"is in another room"},
        {"whenChanged":true,"when":{"/meta.gone":true},"forbidden":"too late"}]},
      "least":{"type":"object","additionalProperties":{"x-backplane-type":"quantity"},"x-backplane-rules":[
        {"when":{"kindOf":"Box"},"keys":{"enum":["size"]}},{"when":{"kindOf":"Claim"},"keys":{"enum":["size","weight"]}}]},
      "usual":{"type":"object","additionalProperties":{"x-backplane-type":"quantity"}},
      "most":{"type":"object","additionalProperties":{"x-backplane-type":"quantity"},"x-backplane-pointer":true},
      "only":{"type":"object","additionalProperties":{"type":"string"},
        "x-backplane-rules":{"when":{"kindOf":"a.io/only"},"entries":["a","b"]}},
      "name":{"type":"string","x-backplane-rules":{"format":"dnsName","maxLength":8,"lengthText":"is long"}},
      "items":{"type":"array","x-backplane-omit":"never","x-backplane-items-say":{"way":"out"},
        "items":{"allOf":[{"$ref":"#/definitions/io.k8s.api.test.v1.Item"}],"x-backplane-rules":{"members":{"values":[
          {"when":{"op":"One"},"single":"exactly one"},{"when":{"op":"None"},"forbidden":"none here"}]}}},
        "x-backplane-rules":{"unique":["port","way"],"uniqueAt":"port"}},
      "scopes":{"type":"array","items":{"type":"string"},"x-backplane-rules":{"immutable":true,"asSet":true}},
      "lock":{"allOf":[{"$ref":"#/definitions/io.k8s.api.test.v1.Lock"}],"x-backplane-pointer":true},
      "limits":{"type":"object","additionalProperties":{"type":"string"}}}},
  "io.k8s.api.test.v1.Shop":{"type":"object","properties":{
    "meta":{"allOf":[{"$ref":"#/definitions/io.k8s.api.test.v1.Meta"}]},
    "spec":{"allOf":[{"$ref":"#/definitions/io.k8s.api.test.v1.Spec"}],"x-backplane-rules":[
      {"members":{"lock":{"whenWas":{"lock":true},"immutable":"stays","path":"lock"}}},
      {"when":{"/meta.room":"fixed"},
       "fixed":{"text":"only so much may change","but":["name","room",{"member":"limits.size","whenWas":{"/meta.gone":"yes"}},
                                                       {"member":"kindOf","whenWas":{"kindOf":false},"shows":"new"}]},
       "path":"spec.all"}]}}}}})";

const Schema& shop() {
  static const auto set = compile_documents({kShop});
  return *set->find(std::string_view("io.k8s.api.test.v1.Shop"));
}

std::string problems(std::string_view now, std::string_view was = {}) {
  Value object = json_of(now), old = was.empty() ? Value(Object()) : json_of(was);
  EXPECT_TRUE(shop().normalize(object, nullptr).ok());
  EXPECT_TRUE(shop().normalize(old, nullptr).ok());
  FieldErrors errors;
  shop().check(object.get_object(), was.empty() ? nullptr : &old.get_object(), ObjectPart::kWhole, "", errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(RulesBeyondAMember, ConditionsReachTheWholeObject) {
  EXPECT_EQ(problems(R"({"meta":{"room":"a"},"spec":{"room":"a"}})"), "");
  EXPECT_EQ(problems(R"({"spec":{}})"), "") << "nothing is the same as nothing";
  EXPECT_EQ(problems(R"({"meta":{"room":"a"},"spec":{"room":"b"}})"), "spec.room: Invalid value: \"b\": is in another room");
  EXPECT_EQ(problems(R"({"meta":{"room":"a"},"spec":{}})"), "spec.room: Invalid value: \"\": is in another room");
}

TEST(RulesBeyondAMember, UnchangedValuesAreNotChecked) {
  const std::string_view late = R"({"meta":{"room":"a","gone":"yes"},"spec":{"room":"a"}})";
  EXPECT_EQ(problems(late), "spec.room: Forbidden: too late");
  EXPECT_EQ(problems(late, late), "");
  EXPECT_EQ(problems(late, R"({"spec":{"room":"b"}})"), "spec.room: Forbidden: too late");
}

TEST(RulesBeyondAMember, QuantitiesOfTwoMapsAreInOrder) {
  EXPECT_EQ(problems(R"({"spec":{"least":{"cpu":"1"},"usual":{"cpu":"1500m"},"most":{"cpu":"2"}}})"), "");
  EXPECT_EQ(problems(R"({"spec":{"least":{"cpu":"3","x":"1"},"most":{"cpu":"2"}}})"),
            "spec.least[cpu]: Invalid value: \"3\": 3 is above 2");
  EXPECT_EQ(problems(R"({"spec":{"usual":{"cpu":"3"},"most":{"cpu":"2"}}})"), "spec.most[cpu]: Invalid value: \"2\": 3 of 2");
}

TEST(RulesBeyondAMember, OneOfSeveralIsWantedUnderConditions) {
  EXPECT_EQ(problems(R"({"spec":{"kindOf":"Claim"}})"), "spec: Required value: one of both");
  EXPECT_EQ(problems(R"({"spec":{"kindOf":"Claim","most":{"size":"1"}}})"), "");
  EXPECT_EQ(problems(R"({"spec":{"kindOf":"Box"}})"), "");
}

TEST(RulesBeyondAMember, KeysAreAskedUnderConditions) {
  const std::string_view expected = "spec.least[weight]: Unsupported value: \"weight\": supported values: \"size\"";
  EXPECT_EQ(problems(R"({"spec":{"kindOf":"Box","least":{"weight":"1"}}})"), expected);
  EXPECT_EQ(problems(R"({"spec":{"kindOf":"Claim","least":{"size":"1","weight":"1"}}})"), "");
  EXPECT_EQ(problems(R"({"spec":{"kindOf":"a.io/only"}})"), "spec.only: Unsupported value: null: supported values: \"a\", \"b\"");
  EXPECT_EQ(problems(R"({"spec":{"kindOf":"a.io/only","only":{"a":"","b":""}}})"), "");
}

TEST(RulesBeyondAMember, NamesMayBeStandardOrHaveADomain) {
  EXPECT_EQ(problems(R"({"spec":{"kindOf":"Boxes"}})"), "spec.kindOf: Invalid value: \"Boxes\": standard or with a domain");
  EXPECT_EQ(problems(R"({"spec":{"kindOf":"e.io/x"}})"), "");
  EXPECT_TRUE(problems(R"({"spec":{"kindOf":"e.io/"}})").starts_with("[spec.kindOf: Invalid value: \"e.io/\": name part"));
  EXPECT_EQ(problems(R"({"spec":{"name":"a.io."}})"), "");
  EXPECT_TRUE(problems(R"({"spec":{"name":"A."}})").starts_with("spec.name: Invalid value: \"A\": a lowercase"));
  EXPECT_EQ(problems(R"({"spec":{"name":"aaaaaaaaa"}})"), "spec.name: Invalid value: \"\": is long");
}

TEST(RulesBeyondAMember, ListsHaveOneItemAndOneMemberIsReportedForTwo) {
  EXPECT_EQ(problems(R"({"spec":{"items":[{"op":"One","values":["a"]}]}})"), "");
  EXPECT_EQ(problems(R"({"spec":{"items":[{"op":"One"}]}})"), "spec.items[0].values: Required value: exactly one");
  EXPECT_EQ(problems(R"({"spec":{"items":[{"op":"One","values":["a","b"]}]}})"), "spec.items[0].values: Required value: exactly one");
  EXPECT_EQ(problems(R"({"spec":{"items":[{"op":"None","values":["a"]}]}})"), "spec.items[0].values: Forbidden: none here");
  EXPECT_EQ(problems(R"({"spec":{"items":[{"port":1,"way":"a"},{"port":1,"way":"b"},{"way":"a"},{"way":"a"}]}})"), "");
  EXPECT_EQ(problems(R"({"spec":{"items":[{"port":1,"way":"a"},{"port":1,"way":"a"}]}})"), "spec.items[1].port: Duplicate value: 1");
}

TEST(RulesBeyondAMember, AStructStaysButForSomeMembers) {
  const auto fixed = [](std::string_view gone, std::string_view spec) {
    return R"({"meta":{"room":"fixed","gone":")" + std::string(gone) + R"("},"spec":{"room":"fixed")" + std::string(spec) + "}}";
  };
  const std::string was = fixed("no", R"(,"name":"a","limits":{"size":"1"})");
  EXPECT_EQ(problems(fixed("no", R"(,"name":"b","limits":{"size":"1"})"), was), "");
  const std::string refused = problems(fixed("no", R"(,"kindOf":"Box","limits":{"size":"2"})"), was);
  EXPECT_TRUE(refused.starts_with("spec.all: Forbidden: only so much may change\n@@ ")) << refused;
  EXPECT_NE(refused.find("\n-  \"size\": \"1\"\n+  \"size\": \"2\"\n"), std::string::npos) << refused;
  EXPECT_EQ(refused.find("\n-  \"KindOf\""), std::string::npos) << refused;
  EXPECT_EQ(problems(fixed("yes", R"(,"limits":{"size":"2"})"), fixed("yes", R"(,"limits":{"size":"1"})")), "");
  EXPECT_NE(problems(fixed("yes", ""), fixed("yes", R"(,"limits":{"size":"1"})")), "") << "nothing is there to hold it";
}

// Regression: "{"key":"b"}" was quoted in the served version.
TEST(RulesBeyondAMember, StructsAreQuotedAsUpstreamHasThem) {
  EXPECT_EQ(problems(R"({"spec":{"lock":{"key":"b"}}})", R"({"spec":{"lock":{"key":"a"}}})"),
            R"(lock: Invalid value: {"Key":"b","Spare":""}: stays)");
  EXPECT_EQ(problems(R"({"spec":{}})", R"({"spec":{"lock":{"key":"a"}}})"), "lock: Invalid value: null: stays");
  EXPECT_EQ(problems(R"({"spec":{"lock":{"key":"b"}}})", R"({"spec":{}})"), "");
}

// Regression: the scopes of a quota could not be sent in another order.
TEST(RulesBeyondAMember, AListThatStaysMayBeASet) {
  const std::string_view was = R"({"spec":{"scopes":["a","b"]}})";
  EXPECT_EQ(problems(R"({"spec":{"scopes":["b","a","b"]}})", was), "");
  EXPECT_EQ(problems(R"({"spec":{"scopes":["a"]}})", was), R"(spec.scopes: Invalid value: ["a"]: field is immutable)");
  EXPECT_EQ(problems(R"({"spec":{"scopes":["a","b","c"]}})", was), R"(spec.scopes: Invalid value: ["a","b","c"]: field is immutable)");
  EXPECT_EQ(problems(R"({"spec":{"scopes":[]}})", R"({"spec":{}})"), "");
}

TEST(DefaultsOfLists, FixedMembersAreSetInEveryItem) {
  Value value = json_of(R"({"spec":{"items":[{"port":1},{"way":"in"}]}})");
  shop().apply_defaults(value);
  EXPECT_EQ(to_json(value), R"({"spec":{"items":[{"port":1,"way":"out"},{"way":"out"}]}})");
}

std::string badge_problems(std::string_view text, std::string_view old = {}) {
  static const auto set = compile_documents({R"({"definitions":{"Badge":{"type":"object","properties":{
    "number":{"type":"integer","format":"int32","x-backplane-omit":"never","x-backplane-rules":{"stays":"may not be updated"}},
    "maker":{"type":"string","x-backplane-rules":{"format":"domainPath"}}}}}})"});
  const Object object = json_of(text).get_object();
  const Object before = old.empty() ? Object() : json_of(old).get_object();
  FieldErrors errors;
  set->find(std::string_view("Badge"))->check(object, old.empty() ? nullptr : &before, ObjectPart::kWhole, "", errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(RulesOfValues, WhatStaysIsForbiddenToChangeWhateverItWas) {
  EXPECT_EQ(badge_problems(R"({"number":1})"), "");
  EXPECT_EQ(badge_problems(R"({"number":1})", R"({"number":1})"), "");
  EXPECT_EQ(badge_problems(R"({"number":1})", R"({"number":0})"), "number: Forbidden: may not be updated");
  EXPECT_EQ(badge_problems(R"({"number":0})", R"({"number":1})"), "number: Forbidden: may not be updated");
}

TEST(RulesOfValues, PathsBeginWithADomain) {
  EXPECT_EQ(badge_problems(R"({"maker":"acme.io/foo/b-a~r"})"), "");
  for (const std::string text : {"acme.io", "/foo", "acme.io/"}) {
    EXPECT_EQ(badge_problems(R"({"maker":")" + text + R"("})"),
              "maker: Invalid value: \"" + text + "\": must be a domain-prefixed path (such as \"acme.io/foo\")");
  }
  EXPECT_TRUE(badge_problems(R"({"maker":"A/b"})").starts_with("maker: Invalid value: \"A\": a lowercase RFC 1123 subdomain"));
  EXPECT_EQ(badge_problems(R"({"maker":"a/b c"})"),
            "maker: Invalid value: \"b c\": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')");
}

}  // namespace
}  // namespace backplane
