// x-backplane-rules: each keyword, with upstream's messages, on new and old objects.
#include "backplane/types/names.hpp"
#include "cost.hpp"
#include "schema/schema_test_support.hpp"

namespace backplane {
namespace {

constexpr std::string_view kRuled = R"({"definitions":{
  "Part":{"type":"object","properties":{
    "name":{"type":"string","x-backplane-omit":"never","x-backplane-rules":{"required":true,"format":"dns1123Label"}},
    "port":{"type":"integer","format":"int32","x-backplane-omit":"never","x-backplane-rules":{"format":"port"}},
    "target":{"x-backplane-type":"intOrString","x-backplane-pointer":true,"x-backplane-rules":{"format":"portOrName"}}}},
  "Source":{"type":"object","x-backplane-struct-rules":{"union":{"none":"must say where","many":"may not say twice","except":["extra"]}},
    "properties":{
      "file":{"allOf":[{"$ref":"#/definitions/File"}],"x-backplane-pointer":true},
      "disk":{"allOf":[{"$ref":"#/definitions/File"}],"x-backplane-pointer":true},
      "extra":{"allOf":[{"$ref":"#/definitions/File"}],"x-backplane-pointer":true}}},
  "Header":{"type":"object","properties":{
    "name":{"type":"string","x-backplane-omit":"never","x-backplane-rules":{"format":"httpHeaderName","holder":true}}}},
  "File":{"type":"object","properties":{
    "note":{"type":"string"},
    "path":{"type":"string","x-backplane-omit":"never","x-backplane-rules":{"required":true,"both":true,"format":"absolutePath"}}}},
  "Spec":{"type":"object","properties":{
    "replicas":{"type":"integer","format":"int32","x-backplane-pointer":true,"x-backplane-default":1,"x-backplane-rules":{"minimum":0}},
    "weight":{"type":"integer","format":"int32","x-backplane-omit":"never",
      "x-backplane-rules":{"minimum":1,"maximum":100,"rangeText":"must be in the range 1-100"}},
    "user":{"type":"integer","format":"int64","x-backplane-pointer":true,"x-backplane-rules":{"minimum":0,"maximum":2147483647}},
    "mode":{"type":"string","enum":["A","B"],"x-backplane-pointer":true,"x-backplane-rules":{"enum":true}},
    "policy":{"type":"string","x-backplane-default":"Keep","x-backplane-rules":{"enum":["Keep","Drop"],"enumText":"must be 'Keep' or 'Drop'"}},
    "class":{"type":"string","x-backplane-pointer":true,"x-backplane-rules":{"format":"dns1123Subdomain","optional":true}},
    "selector":{"type":"object","additionalProperties":{"type":"string"},"x-backplane-rules":{"required":true,"immutable":true}},
    "parts":{"type":"array","items":{"$ref":"#/definitions/Part"},"x-backplane-rules":{"unique":"name"}},
    "modes":{"type":"array","items":{"type":"string","x-backplane-rules":{"enum":["x","y"]}},"x-backplane-rules":{"wholeList":true}},
    "hosts":{"type":"array","items":{"type":"string","x-backplane-rules":{"format":"legacyIp"}},"x-backplane-rules":{"unique":true}},
    "hard":{"type":"object","additionalProperties":{"x-backplane-type":"quantity","x-backplane-rules":{"format":"notNegative"}},
      "x-backplane-rules":{"keys":{"format":"qualifiedName"}}},
    "driver":{"type":"string","x-backplane-rules":{"maxLength":4}},
    "once":{"type":"array","items":{"$ref":"#/definitions/Part"},"x-backplane-rules":{"onCreate":true}},
    "source":{"allOf":[{"$ref":"#/definitions/Source"}],"x-backplane-pointer":true},
    "here":{"allOf":[{"$ref":"#/definitions/File"}],"x-backplane-pointer":true,
      "x-backplane-rules":{"members":{"note":{"required":true,"format":"dns1123Label"}}}},
    "headers":{"type":"array","items":{"$ref":"#/definitions/Header"},"x-backplane-rules":{"wholeList":true}},
    "policies":{"allOf":[{"$ref":"#/definitions/Policies"}],"x-backplane-pointer":true,"x-backplane-default":{}}}},
  "Policies":{"type":"object","properties":{"when":{"type":"string","x-backplane-default":"Never"}}},
  "Status":{"type":"object","properties":{"count":{"type":"integer","format":"int32","x-backplane-rules":{"minimum":0}}}},
  "Ruled":{"type":"object","properties":{
    "spec":{"$ref":"#/definitions/Spec"},"status":{"$ref":"#/definitions/Status"}}}}})";

const Schema& ruled() {
  static const auto set = compile_documents({kRuled});
  return *set->find(std::string_view("Ruled"));
}
Object normalized(std::string_view text) {
  Value value = json_of(text);
  EXPECT_TRUE(ruled().normalize(value, nullptr).ok());
  return value.get_object();
}
std::string checked(std::string_view text, std::string_view old = {}, ObjectPart part = ObjectPart::kWithoutStatus) {
  const Object object = normalized(text);
  const Object before = old.empty() ? Object() : normalized(old);
  FieldErrors errors;
  ruled().check(object, old.empty() ? nullptr : &before, part, "", errors);
  return errors.empty() ? "" : errors.aggregate_message();
}
// An object with the required members and `rest`.
std::string spec_problems(std::string_view rest, std::string_view old = {}) {
  const auto whole = [](std::string_view part) {
    return R"({"spec":{"weight":1,"selector":{"a":"b"})" + std::string(part.empty() ? "" : ",") + std::string(part) + "}}";
  };
  return checked(whole(rest), old.empty() ? std::string() : whole(old));
}

TEST(Rules, RequiredValuesAreNoZeros) {
  EXPECT_EQ(checked(R"({"spec":{"weight":1}})"), "spec.selector: Required value");
  EXPECT_EQ(checked(R"({"spec":{"weight":1,"selector":{}}})"), "spec.selector: Required value");
  EXPECT_EQ(spec_problems(R"("parts":[{"name":"","port":1}])"), "spec.parts[0].name: Required value");
  EXPECT_EQ(spec_problems(R"("source":{"file":{}})"),
            "[spec.source.file.path: Required value, spec.source.file.path: Invalid value: \"\": must be an absolute path]");
}

TEST(Rules, NumbersHaveRangesAndPortsAreNumbersOrNames) {
  EXPECT_EQ(spec_problems(R"("replicas":-1)"), "spec.replicas: Invalid value: -1: must be greater than or equal to 0");
  EXPECT_EQ(spec_problems(R"("user":2147483648)"), "spec.user: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive");
  EXPECT_EQ(checked(R"({"spec":{"selector":{"a":"b"}}})"), "spec.weight: Invalid value: 0: must be in the range 1-100");
  EXPECT_EQ(spec_problems(R"("parts":[{"name":"a","port":0}])"),
            "spec.parts[0].port: Invalid value: 0: must be between 1 and 65535, inclusive");
  EXPECT_EQ(spec_problems(R"("parts":[{"name":"a","port":1,"target":70000}])"),
            "spec.parts[0].target: Invalid value: 70000: must be between 1 and 65535, inclusive");
  EXPECT_TRUE(
      spec_problems(R"("parts":[{"name":"a","port":1,"target":"a_b"}])").starts_with("spec.parts[0].target: Invalid value: \"a_b\": "));
}

TEST(Rules, TextsAreOneOfAFewOrOfAFormat) {
  EXPECT_EQ(spec_problems(R"("mode":"C")"), R"(spec.mode: Unsupported value: "C": supported values: "A", "B")");
  EXPECT_EQ(spec_problems(R"("mode":"")"), R"(spec.mode: Unsupported value: "": supported values: "A", "B")") << "set, though empty";
  EXPECT_EQ(spec_problems(R"("policy":"x")"), R"(spec.policy: Invalid value: "x": must be 'Keep' or 'Drop')");
  EXPECT_EQ(spec_problems(R"("class":"")"), "");
  EXPECT_TRUE(spec_problems(R"("class":"A b")").starts_with("spec.class: Invalid value: \"A b\": a lowercase RFC 1123 subdomain"));
  EXPECT_EQ(spec_problems(R"("driver":"abcde")"), "spec.driver: Too long: may not be more than 4 bytes");
}

TEST(Rules, ItemsAndKeysAreLookedAtOneByOne) {
  EXPECT_EQ(spec_problems(R"("modes":["x","z"])"), R"(spec.modes: Unsupported value: "z": supported values: "x", "y")");
  EXPECT_EQ(spec_problems(R"("hosts":["10.0.0.1","x"])"),
            "spec.hosts[1]: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  EXPECT_EQ(spec_problems(R"("hosts":["10.0.0.1","10.0.0.1"])"), "spec.hosts[1]: Duplicate value: \"10.0.0.1\"");
  EXPECT_EQ(spec_problems(R"("parts":[{"name":"a","port":1},{"name":"a","port":2}])"), "spec.parts[1].name: Duplicate value: \"a\"");
  EXPECT_EQ(spec_problems(R"("hard":{"cpu":"-1"})"), "spec.hard[cpu]: Invalid value: \"-1\": must be greater than or equal to 0");
  EXPECT_TRUE(spec_problems(R"("hard":{"a b":"1"})").starts_with("spec.hard[a b]: Invalid value: \"a b\": name part"));
}

TEST(Rules, AStructIsHeldToMoreInOnePlaceThanInAnother) {
  EXPECT_EQ(spec_problems(R"("source":{"file":{"path":"/a"}})"), "");
  EXPECT_EQ(spec_problems(R"("here":{"path":"/a"})"), "spec.here.note: Required value");
  EXPECT_EQ(spec_problems(R"("here":{"path":"/a","note":"n"})"), "");
}

TEST(Rules, ErrorsOfSomeValuesAreReportedForTheirHolder) {
  EXPECT_TRUE(spec_problems(R"("headers":[{"name":"A-b"},{"name":"a b"}])")
                  .starts_with("spec.headers: Invalid value: \"a b\": a valid HTTP header must consist of"));
}

TEST(Rules, ChangesAreComparedWithTheOldObject) {
  EXPECT_EQ(checked(R"({"spec":{"weight":1,"selector":{"a":"c"}}})", R"({"spec":{"weight":1,"selector":{"a":"b"}}})"),
            R"(spec.selector: Invalid value: {"a":"c"}: field is immutable)");
  EXPECT_EQ(spec_problems(R"("once":[{"name":"A","port":1}])", R"("driver":"a")"), "") << "looked at on create alone";
  EXPECT_TRUE(spec_problems(R"("once":[{"name":"A","port":1}])").starts_with("spec.once[0].name: Invalid value"));
}

TEST(Rules, AUnionIsOneOfItsMembers) {
  EXPECT_EQ(spec_problems(R"("source":{})"), "spec.source: Required value: must say where");
  EXPECT_EQ(spec_problems(R"("source":{"extra":{"path":"/a"}})"), "spec.source: Required value: must say where");
  EXPECT_EQ(spec_problems(R"("source":{"disk":{"path":"/a"},"extra":{"path":"/b"}})"), "");
  EXPECT_EQ(spec_problems(R"("source":{"file":{"path":"/a"},"disk":{"path":"b"}})"), "spec.source.disk: Forbidden: may not say twice");
}

TEST(Rules, StatusIsAskedOfApart) {
  const std::string bad = R"({"spec":{"weight":0},"status":{"count":-1}})";
  EXPECT_EQ(checked(bad, {}, ObjectPart::kStatus), "status.count: Invalid value: -1: must be greater than or equal to 0");
  EXPECT_EQ(checked(R"({"spec":{"weight":1,"selector":{"a":"b"}},"status":{"count":-1}})"), "");
  EXPECT_EQ(checked(bad, {}, ObjectPart::kNone), "");
}

TEST(Rules, DefaultsNeedNotBePublished) {
  Value value = normalized(R"({"spec":{"weight":1}})");
  ruled().apply_defaults(value);
  ASSERT_TRUE(ruled().normalize(value, nullptr).ok());
  EXPECT_EQ(to_json(value.at("spec")), R"({"replicas":1,"weight":1,"policy":"Keep","policies":{"when":"Never"}})");
  const auto set = compile_documents({kRuled});
  Object components;
  set->openapi_components("Ruled", components);
  EXPECT_EQ(to_json(Value(components)).find("x-backplane"), std::string::npos);
  EXPECT_EQ(to_json(Value(components)).find("Keep"), std::string::npos);
}

TEST(Rules, UnknownWordsAreErrorsOfTheDocument) {
  const std::string_view documents[] = {
      R"({"definitions":{"A":{"type":"object","properties":{"b":{"type":"string","x-backplane-rules":{"maximal":3}}}}}})"};
  EXPECT_EQ(SchemaSet::compile(documents).status().message(), "schema: A.properties.b.x-backplane-rules: \"maximal\" is no rule");
}

constexpr std::string_view kConditional = R"({"definitions":{
  "Thing":{"type":"object","x-backplane-struct-rules":{
      "notAbove":[{"members":["ready"],"limit":"count","text":"cannot be greater than count"}],
      "anyOf":{"members":["ports","hosts"],"text":"must have ports or hosts"}},
    "properties":{
      "kindOf":{"type":"string","x-backplane-default":"Soft","x-backplane-rules":{"enum":["Soft","Hard"],"holder":true,"whole":true}},
      "limit":{"type":"integer","format":"int32","x-backplane-pointer":true,"x-backplane-default":5,
        "x-backplane-default-when":{"kindOf":["Soft","Hard"]},
        "x-backplane-rules":[{"when":{"kindOf":"Hard"},"forbidden":"not for hard ones"},{"unless":{"kindOf":"Hard"},"minimum":2}]},
      "note":{"type":"string","x-backplane-rules":[
        {"when":{"hosts":false},"refused":"only with hosts","path":"thing.Note"},{"once":"may not change","path":".Noted","again":true}]},
      "count":{"type":"integer","format":"int32","x-backplane-rules":{"rising":"cannot shrink"}},
      "ready":{"type":"integer","format":"int32"},
      "hosts":{"type":"array","items":{"type":"string","x-backplane-rules":{"format":"finalizer"}}},
      "ports":{"type":"array","items":{"$ref":"#/definitions/Port"},
        "x-backplane-rules":[{"named":"name"},{"unique":["name","number"],"uniqueText":"are one"}]}}},
  "Port":{"type":"object","properties":{
    "name":{"type":"string"},
    "number":{"type":"integer","format":"int32","x-backplane-omit":"never"},
    "target":{"x-backplane-type":"intOrString","x-backplane-omit":"never","x-backplane-default-from":"number"}}}}})";

const Schema& conditional() {
  static const auto set = compile_documents({kConditional});
  return *set->find(std::string_view("Thing"));
}
std::string thing_problems(std::string_view text, std::string_view old = {}) {
  const Object object = json_of(text).get_object();
  const Object before = old.empty() ? Object() : json_of(old).get_object();
  FieldErrors errors;
  conditional().check(object, old.empty() ? nullptr : &before, ObjectPart::kWhole, "", errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(Rules, RequirementsMayDependOnOtherMembers) {
  EXPECT_EQ(thing_problems(R"({"hosts":["a/b"],"kindOf":"Hard","limit":1})"), "limit: Forbidden: not for hard ones");
  EXPECT_EQ(thing_problems(R"({"hosts":["a/b"],"kindOf":"Soft","limit":1})"),
            "limit: Invalid value: 1: must be greater than or equal to 2");
  EXPECT_EQ(thing_problems(R"({"ports":[{"name":"a","number":1}],"note":"n"})"), "thing.Note: Invalid value: \"n\": only with hosts");
  EXPECT_EQ(thing_problems(R"({"hosts":["a/b"],"note":"n"})"), "");
  EXPECT_EQ(thing_problems("{}"), "<nil>: Required value: must have ports or hosts");
}

TEST(Rules, WhatWasSetStaysAndIsAskedAgainWhereUpstreamDoes) {
  const Object now = json_of(R"({"hosts":["a/b"],"note":"n","count":1})").get_object(),
               old = json_of(R"({"hosts":["a/b"],"note":"m","count":2})").get_object();
  FieldErrors errors;
  conditional().check(now, &old, ObjectPart::kWhole, "", errors);
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_EQ(errors.list()[0].field, "Noted");
  EXPECT_EQ(errors.list()[1].text, "Forbidden: may not change");
  EXPECT_EQ(errors.list()[2].text, "Invalid value: 1: cannot shrink");
  EXPECT_EQ(thing_problems(R"({"hosts":["a/b"],"note":"n"})", R"({"hosts":["a/b"]})"), "") << "it was not set before";
}

TEST(Rules, CountsHaveLimitsAndItemsHaveNames) {
  EXPECT_EQ(thing_problems(R"({"hosts":["a/b"],"count":1,"ready":2})"), "ready: Invalid value: 2: cannot be greater than count");
  EXPECT_EQ(thing_problems(R"({"ports":[{"number":1}]})"), "");
  EXPECT_EQ(thing_problems(R"({"ports":[{"number":1},{"name":"b","number":1}]})"), "ports[0].name: Required value");
  EXPECT_EQ(thing_problems(R"({"ports":[{"name":"b","number":1},{"name":"b","number":2}]})"), "");
  EXPECT_TRUE(thing_problems(R"({"ports":[{"name":"b","number":1},{"name":"b","number":1}]})").starts_with("ports[1]: Duplicate value: {"));
  EXPECT_EQ(thing_problems(R"({"hosts":["a"]})"),
            "hosts[0]: Invalid value: \"a\": name is neither a standard finalizer name nor is it fully qualified");
}

constexpr std::string_view kHolder = R"({"definitions":{
  "Port":{"type":"object","properties":{
    "name":{"type":"string","x-backplane-omit":"never"},
    "number":{"type":"integer","format":"int32","x-backplane-omit":"never","x-backplane-rules":{"immutable":true}},
    "inner":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"$ref":"#/definitions/Port"}}}},
  "Holder":{"type":"object","properties":{
    "named":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"$ref":"#/definitions/Port"}},
    "listed":{"type":"array","items":{"$ref":"#/definitions/Port"}},
    "units":{"type":"array","x-kubernetes-list-type":"atomic","items":{"$ref":"#/definitions/Port"}},
    "mapped":{"type":"object","additionalProperties":{"$ref":"#/definitions/Port"}},
    "counts":{"type":"object","additionalProperties":{"type":"integer","format":"int32",
      "x-backplane-rules":{"rising":"must not fall"}}},
    "held":{"allOf":[{"$ref":"#/definitions/Port"}],"x-backplane-pointer":true,
      "x-backplane-rules":{"members":{"name":{"once":"may not change"}}}}}}}})";

std::string holder_problems(std::string_view now, std::string_view old) {
  static const auto set = compile_documents({kHolder});
  const auto object = [](std::string_view text) {
    Value value = json_of(text);
    EXPECT_TRUE(set->find(std::string_view("Holder"))->normalize(value, nullptr).ok());
    return value.get_object();
  };
  const Object before = object(old);
  FieldErrors errors;
  set->find(std::string_view("Holder"))->check(object(now), &before, ObjectPart::kWhole, "", errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

// Regression: rules on changes treated every item of a list and every entry of a map as new.
TEST(Rules, ChangesInsideListsAndMapsAreComparedWithTheOldItems) {
  const std::string refused = ": Invalid value: 2: field is immutable";
  const std::string before = R"([{"name":"a","number":1},{"name":"b","number":2}])";
  EXPECT_EQ(holder_problems(R"({"named":[{"name":"c","number":9},{"name":"b","number":2},{"name":"a","number":1}]})",
                            R"({"named":)" + before + "}"),
            "")
      << "items go by their keys, not by their places";
  EXPECT_EQ(holder_problems(R"({"named":[{"name":"b","number":2},{"name":"a","number":2}]})", R"({"named":)" + before + "}"),
            "named[1].number" + refused);
  EXPECT_EQ(holder_problems(R"({"named":[{"name":"a","number":1,"inner":[{"name":"x","number":2}]}]})",
                            R"({"named":[{"name":"a","number":1,"inner":[{"name":"x","number":1}]}]})"),
            "named[0].inner[0].number" + refused);
  EXPECT_EQ(holder_problems(R"({"listed":[{"name":"a","number":2}]})", R"({"listed":[{"name":"a","number":1}]})"), "");
  EXPECT_EQ(holder_problems(R"({"units":[{"name":"a","number":2}]})", R"({"units":[{"name":"a","number":1}]})"), "");
  EXPECT_EQ(holder_problems(R"({"mapped":{"k":{"name":"a","number":2},"l":{"number":5}}})", R"({"mapped":{"k":{"name":"a","number":1}}})"),
            "mapped[k].number" + refused);
  EXPECT_EQ(holder_problems(R"({"counts":{"a":1,"b":3}})", R"({"counts":{"a":2,"b":2}})"), "counts[a]: Invalid value: 1: must not fall");
  EXPECT_EQ(holder_problems(R"({"held":{"name":"b"}})", R"({"held":{"name":"a"}})"), "held.name: Forbidden: may not change");
}

// Regression: each item was searched linearly among all old items.
TEST(Rules, TheCostOfFindingItemsOfALongListIsLinear) {
  const auto cost = [](int items) {
    std::string before, now;
    for (int i = 0; i < items; ++i) {
      before += (i ? "," : "") + (R"({"name":"n)" + std::to_string(i)) + R"(","number":1})";
      const int reversed = items - 1 - i;
      now += (i ? "," : "") + (R"({"name":"n)" + std::to_string(reversed)) + R"(","number":)" + (reversed == 42 ? "2}" : "1}");
    }
    now = R"({"named":[)" + now + "]}";
    before = R"({"named":[)" + before + "]}";
    return backplane::test_support::least_cpu_seconds([&] {
      EXPECT_EQ(holder_problems(now, before), "named[" + std::to_string(items - 43) + "].number: Invalid value: 2: field is immutable");
    });
  };
  EXPECT_LT(backplane::test_support::growth_of(cost, 2000), backplane::test_support::kMostGrowthOfLinear);
}

constexpr std::string_view kRolling = R"({"definitions":{
  "Roll":{"type":"object",
    "x-backplane-struct-rules":{"frozen":{"except":["deadline","ready","metrics","rolling","kindOf","least","most"],"text":"only few may change"},
      "above":[{"members":["deadline"],"limit":"ready","text":"must be greater than ready"}],
      "notBelow":[{"members":["most"],"limit":"least","text":"must not be below `least`"}]},
    "properties":{
      "name":{"type":"string"},
      "kindOf":{"type":"string","x-backplane-default":"Rolling","x-backplane-default-when":{"kindOf":false}},
      "deadline":{"type":"integer","format":"int32","x-backplane-pointer":true},
      "ready":{"type":"integer","format":"int32"},
      "least":{"type":"integer","format":"int32","x-backplane-pointer":true,
        "x-backplane-rules":[{"unlessWas":{"least":0},"minimum":1},{"whenWas":{"least":0},"minimum":0}]},
      "most":{"type":"integer","format":"int32","x-backplane-omit":"never"},
      "rolling":{"allOf":[{"$ref":"#/definitions/Amounts"}],"x-backplane-pointer":true,
        "x-backplane-rules":{"unless":{"kindOf":"Rolling"},"opaque":true},
        "x-backplane-default":{"lost":1,"more":0},"x-backplane-default-when":{"kindOf":"Rolling"},"x-backplane-default-fills":true},
      "begin":{"allOf":[{"$ref":"#/definitions/Amounts"}],"x-backplane-pointer":true,
        "x-backplane-default":{},"x-backplane-default-when":{"kindOf":false}},
      "metrics":{"type":"array","items":{"$ref":"#/definitions/Metric"},
        "x-backplane-rules":{"when":{"least":0},"unlessItem":{"type":["Far"]},"forbidden":"must look far"}},
      "target":{"allOf":[{"$ref":"#/definitions/Target"}],"x-backplane-pointer":true,
        "x-backplane-rules":{"members":{"apiVersion":{"optional":false,"format":"groupVersion","keeps":true}}}},
      "selector":{"allOf":[{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"}],"x-backplane-pointer":true,
        "x-backplane-rules":{"format":"labelSelector"}}}},
  "Amounts":{"type":"object","properties":{
    "lost":{"x-backplane-type":"intOrString","x-backplane-pointer":true,"x-backplane-rules":[{"format":"intOrPercent","maxPercent":100},
      {"when":{"lost":{"is":"zero"},"more":{"is":"zero"}},"missing":"cannot be 0 when more is 0"}]},
    "more":{"x-backplane-type":"intOrString","x-backplane-pointer":true,"x-backplane-rules":[{"format":"intOrPercent"},
      {"when":{"lost":{"is":"nonZero"},"more":{"is":"nonZero"}},"refused":"not with lost"}]}}},
  "Target":{"type":"object","properties":{"apiVersion":{"type":"string"}}},
  "Metric":{"type":"object",
    "x-backplane-struct-rules":{"union":{"by":"type","of":{"Far":"far","Near":"near"},"none":"must be there","many":"must be alone"}},
    "properties":{
      "type":{"type":"string"},
      "near":{"allOf":[{"$ref":"#/definitions/Sized"}],"x-backplane-pointer":true},
      "far":{"allOf":[{"$ref":"#/definitions/Sized"}],"x-backplane-pointer":true}}},
  "Sized":{"type":"object","properties":{
    "name":{"type":"string","x-backplane-rules":{"format":"containerResourceName"}},
    "size":{"x-backplane-type":"quantity","x-backplane-pointer":true,"x-backplane-rules":[
      {"format":"positive","rangeText":"must be positive"},{"when":{"size":{"is":"absent"},"name":{"is":"there"}},"missing":"must have a size"}]}}}}})";

const Schema& rolling() {
  static const auto set = compile_documents({kRolling});
  return *set->find(std::string_view("Roll"));
}
std::string roll_problems(std::string_view text, std::string_view old = {}) {
  const Object object = json_of(text).get_object();
  const Object before = old.empty() ? Object() : json_of(old).get_object();
  FieldErrors errors;
  rolling().check(object, old.empty() ? nullptr : &before, ObjectPart::kWhole, "", errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(Rules, AmountsAreNumbersOrPercentages) {
  const auto amounts = [](std::string_view text) { return roll_problems(R"({"kindOf":"Rolling","rolling":)" + std::string(text) + "}"); };
  EXPECT_EQ(amounts(R"({"lost":"100%","more":0})"), "");
  EXPECT_EQ(amounts(R"({"lost":"101%","more":0})"), "rolling.lost: Invalid value: \"101%\": must not be greater than 100%");
  EXPECT_EQ(amounts(R"({"lost":0,"more":"101%"})"), "");
  EXPECT_EQ(amounts(R"({"lost":-1,"more":0})"), "rolling.lost: Invalid value: -1: must be greater than or equal to 0");
  // A number in a string is invalid there, but counts as a number.
  const std::string both = amounts(R"({"lost":"5","more":1})"), one = amounts(R"({"lost":"5"})");
  EXPECT_TRUE(both.starts_with("[rolling.lost: Invalid value: \"5\": a valid percent string must be")) << both;
  EXPECT_TRUE(both.ends_with("rolling.more: Invalid value: 1: not with lost]")) << both;
  EXPECT_TRUE(one.starts_with("rolling.lost: Invalid value: \"5\": a valid percent string must be")) << one;
  EXPECT_EQ(amounts(R"({"lost":"0%","more":0})"), "rolling.lost: Required value: cannot be 0 when more is 0");
  EXPECT_EQ(amounts(R"({"lost":1,"more":"5%"})"), "rolling.more: Invalid value: \"5%\": not with lost");
  EXPECT_EQ(roll_problems(R"({"kindOf":"Other","rolling":{"lost":"x"}})"), "") << "opaque there";
}

TEST(Rules, NumbersAreComparedWithOtherMembers) {
  EXPECT_EQ(roll_problems(R"({"ready":5})"), "");
  EXPECT_EQ(roll_problems(R"({"deadline":5,"ready":5})"), "deadline: Invalid value: 5: must be greater than ready");
  EXPECT_EQ(roll_problems(R"({"deadline":6,"ready":5})"), "");
  EXPECT_EQ(roll_problems(R"({"least":2,"most":1})"), "most: Invalid value: 1: must not be below `least`");
  EXPECT_EQ(roll_problems(R"({"most":-1})"), "");
}

TEST(Rules, UpdatesMayKeepWhatOldObjectsHave) {
  EXPECT_EQ(roll_problems(R"({"least":0,"metrics":[{"type":"Far","far":{}}]})"),
            "least: Invalid value: 0: must be greater than or equal to 1");
  EXPECT_EQ(roll_problems(R"({"least":0})", R"({"least":0})"), "");
  EXPECT_EQ(roll_problems(R"({"least":-1})", R"({"least":0})"), "least: Invalid value: -1: must be greater than or equal to 0");
  EXPECT_EQ(roll_problems(R"({"least":0,"metrics":[{"type":"Near","near":{}}]})", R"({"least":0})"), "metrics: Forbidden: must look far");
  const std::string_view wrong = R"({"target":{"apiVersion":"v1"}})", good = R"({"target":{"apiVersion":"apps/v1"}})";
  EXPECT_EQ(roll_problems(wrong), "target.apiVersion: Invalid value: \"v1\": apiVersion must specify API group");
  EXPECT_EQ(roll_problems(R"({"target":{"apiVersion":"a/b/c"}})"),
            "target.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c");
  EXPECT_EQ(roll_problems(wrong, wrong), "");
  EXPECT_NE(roll_problems(wrong, good), "");
}

TEST(Rules, AFrozenStructMayChangeInAFewMembers) {
  EXPECT_EQ(roll_problems(R"({"name":"a","ready":1})", R"({"name":"a","ready":2})"), "");
  EXPECT_EQ(roll_problems(R"({"name":"a"})", R"({"name":"b"})"), "<nil>: Forbidden: only few may change");
  EXPECT_EQ(roll_problems(R"({"name":"a"})"), "");
}

TEST(Rules, AMemberCanNameTheAlternativeOfAUnion) {
  const auto metric = [](std::string_view text) { return roll_problems(R"({"metrics":[)" + std::string(text) + "]}"); };
  EXPECT_EQ(metric(R"({"type":"Near","near":{}})"), "");
  EXPECT_EQ(metric(R"({"type":"Far","near":{}})"), "metrics[0].far: Required value: must be there");
  EXPECT_EQ(metric(R"({"type":"Far","near":{"name":"x"},"far":{}})"), "metrics[0].near: Forbidden: must be alone")
      << "only the first in the order of the document is looked into";
  EXPECT_EQ(metric(R"({"type":"Near","near":{"name":"cpu","size":"-1"}})"),
            "metrics[0].near.size: Invalid value: \"-1\": must be positive");
  EXPECT_EQ(metric(R"({"type":"Near","near":{"name":"pods"}})"),
            "[metrics[0].near.name: Invalid value: \"pods\": must be a standard resource for containers, "
            "metrics[0].near.size: Required value: must have a size]");
  EXPECT_EQ(metric(R"({"type":"Near","near":{"name":"example.com/gpu","size":"1"}})"), "");
}

TEST(Rules, LabelSelectorsAreOnesThatCanBeRead) {
  EXPECT_EQ(roll_problems(R"({"selector":{"matchLabels":{"a":"b"}}})"), "");
  EXPECT_TRUE(roll_problems(R"({"selector":{"matchExpressions":[{"key":"a","operator":"In"}]}})")
                  .starts_with("selector.matchExpressions[0].values: Required value"));
}

TEST(Rules, UnknownTestsAreNoRules) {
  const std::string_view document = R"({"definitions":{"T":{"type":"object","properties":{
    "a":{"type":"string","x-backplane-rules":{"when":{"a":{"is":"odd"}},"forbidden":"no"}}}}}})";
  EXPECT_FALSE(SchemaSet::compile(std::span(&document, 1)).ok());
}

TEST(Defaults, UnknownConditionsAndMisplacedFillsAreRefused) {
  const auto compiles = [](std::string_view words) {
    const std::string text = R"({"definitions":{"T":{"type":"object","properties":{"a":{"type":"string",)" + std::string(words) + "}}}}}";
    const std::string_view document = text;
    return SchemaSet::compile(std::span(&document, 1)).ok();
  };
  EXPECT_TRUE(compiles(R"("x-backplane-default":"x","x-backplane-default-when":{"a":false})"));
  EXPECT_FALSE(compiles(R"("x-backplane-default":"x","x-backplane-default-when":{"a":{"is":"odd"}})"));
  EXPECT_FALSE(compiles(R"("x-backplane-default":"x","x-backplane-default-fills":true)"));
}

TEST(Defaults, FillAbsentMembersAndDependOnTheSentValues) {
  const auto defaulted = [](std::string_view text) {
    Value value = json_of(text);
    EXPECT_TRUE(rolling().normalize(value, nullptr).ok());
    rolling().apply_defaults(value);
    EXPECT_TRUE(rolling().normalize(value, nullptr).ok());  // the result replaces the input
    return to_json(value);
  };
  EXPECT_EQ(defaulted("{}"), R"({"kindOf":"Rolling","most":0,"begin":{}})") << "conditions see what was said, not each other";
  EXPECT_EQ(defaulted(R"({"kindOf":"Rolling"})"), R"({"kindOf":"Rolling","most":0,"rolling":{"lost":1,"more":0}})");
  EXPECT_EQ(defaulted(R"({"kindOf":"Rolling","rolling":{"more":"5%"}})"),
            R"({"kindOf":"Rolling","most":0,"rolling":{"lost":1,"more":"5%"}})");
  EXPECT_EQ(defaulted(R"({"kindOf":"Other","rolling":{}})"), R"({"kindOf":"Other","most":0,"rolling":{}})");
}

TEST(Defaults, CanDependOnOtherMembersAndCopyThem) {
  const auto defaulted = [](std::string_view text) {
    Value value = json_of(text);
    EXPECT_TRUE(conditional().normalize(value, nullptr).ok());
    conditional().apply_defaults(value);
    return to_json(value);
  };
  EXPECT_EQ(defaulted("{}"), R"({"kindOf":"Soft","limit":5})") << "the condition's own default comes first";
  EXPECT_EQ(defaulted(R"({"kindOf":"Odd"})"), R"({"kindOf":"Odd"})");
  EXPECT_EQ(defaulted(R"({"kindOf":"Odd","ports":[{"number":80},{"number":80,"target":"web"}]})"),
            R"({"kindOf":"Odd","ports":[{"number":80,"target":80},{"number":80,"target":"web"}]})");
}

constexpr std::string_view kTogether = R"({"definitions":{
  "Door":{"type":"object","x-backplane-struct-rules":{"keys":[
      {"when":{"kindOf":"Locked"},"member":"meta.notes","filled":["key"]},
      {"when":{"kindOf":"Pair"},"member":"map","there":["a","b"]},
      {"when":{"kindOf":"One"},"member":"map","oneOf":["a","b"]}]},
    "properties":{
      "meta":{"type":"object","properties":{"notes":{"type":"object","additionalProperties":{"type":"string"}}}},
      "kindOf":{"type":"string"},
      "map":{"type":"object","additionalProperties":{"type":"string","format":"byte"}},
      "texts":{"type":"object","additionalProperties":{"type":"string"},"x-backplane-into":"map"},
      "labels":{"type":"object","additionalProperties":{"type":"string"},"x-backplane-rules":{"format":"labels"}},
      "why":{"type":"string","x-backplane-rules":{"format":"conditionReason"}},
      "one":{"type":"string","x-backplane-first-of":"many"},
      "many":{"type":"array","items":{"type":"string"},"x-backplane-rules":[
        {"perFamily":"one of each family"},{"when":[{"kindOf":"A"},{"kindOf":"B"}],"items":{"format":"paddedCidr"}}]},
      "only":{"type":"string","x-backplane-drop-when":[{"kindOf":"A"},{"kindOf":"B"}],
        "x-backplane-rules":{"when":{"kindOf":"New"},"whenWas":{"kindOf":"Old"},"immutable":true}},
      "amounts":{"type":"object","additionalProperties":{"x-backplane-type":"quantity"},"x-backplane-round":"thousandths",
        "x-backplane-fill-from":["most"],"x-backplane-fill-when":{"kindOf":"C"}},
      "most":{"type":"object","additionalProperties":{"x-backplane-type":"quantity"}},
      "words":{"type":"array","items":{"type":"string","x-backplane-rules":{"enum":["x"],"enumText":"unknown","whole":true}},
        "x-backplane-rules":{"wholeList":true}}}}}})";

const Schema& door() {
  static const auto set = compile_documents({kTogether});
  return *set->find(std::string_view("Door"));
}
std::string door_problems(std::string_view text, std::string_view old = {}) {
  Value value = json_of(text), before = json_of(old.empty() ? "{}" : old);
  EXPECT_TRUE(door().normalize(value, nullptr).ok());
  FieldErrors errors;
  door().check(value.get_object(), old.empty() ? nullptr : &before.get_object(), ObjectPart::kWhole, "", errors);
  return errors.empty() ? "" : errors.aggregate_message();
}
std::string door_defaulted(std::string_view text) {
  Value value = json_of(text);
  EXPECT_TRUE(door().normalize(value, nullptr).ok());
  const auto fill = [&] {
    door().apply_defaults(value);
    EXPECT_TRUE(door().normalize(value, nullptr).ok());  // the result replaces the input
  };
  fill();
  const std::string once = to_json(value);
  fill();
  EXPECT_EQ(to_json(value), once);
  return once;
}

TEST(Rules, KeysMustBeThere) {
  EXPECT_EQ(door_problems(R"({"kindOf":"Locked","meta":{"notes":{"key":""}}})"), "meta.notes[key]: Required value");
  EXPECT_EQ(door_problems(R"({"kindOf":"Locked","meta":{"notes":{"key":"k"}}})"), "");
  EXPECT_EQ(door_problems(R"({"kindOf":"Pair","map":{"a":""}})"), "map[b]: Required value");
  EXPECT_EQ(door_problems(R"({"kindOf":"One"})"), "[map[a]: Required value, map[b]: Required value]");
  EXPECT_EQ(door_problems(R"({"kindOf":"One","map":{"b":"AA=="}})"), "");
}

constexpr std::string_view kListed = R"({"definitions":{
  "io.k8s.api.Listed":{"type":"object","properties":{
    "verbs":{"type":"array","items":{"type":"string"},
      "x-backplane-rules":{"required":"at least one","alone":"'*' stands alone"}},
    "choice":{"allOf":[{"$ref":"#/definitions/io.k8s.api.Choice"}],"x-backplane-pointer":true}}},
  "io.k8s.api.Choice":{"type":"object","properties":{
    "type":{"type":"string","x-backplane-omit":"never","x-backplane-rules":{"optional":false,"enum":["A","B"],"whole":true}}}}}})";

std::string listed(std::string_view text) {
  static const auto set = compile_documents({kListed});
  const Schema& schema = *set->find(std::string_view("io.k8s.api.Listed"));
  Value value = json_of(text);
  EXPECT_TRUE(schema.normalize(value, nullptr).ok());
  FieldErrors errors;
  schema.check(value.get_object(), nullptr, ObjectPart::kWhole, "", errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(Rules, AStarStandsAlone) {
  EXPECT_EQ(listed(R"({"verbs":["*"]})"), "");
  EXPECT_EQ(listed(R"({"verbs":[]})"), "verbs: Required value: at least one");
  EXPECT_EQ(listed(R"({"verbs":["get","*"]})"), R"(verbs: Invalid value: ["get","*"]: '*' stands alone)");
}

TEST(Rules, AnUnsetChoiceIsQuotedWithItsStructWhereItIsLookedAt) {
  EXPECT_EQ(listed(R"({"verbs":["a"],"choice":{}})"), R"(choice.type: Unsupported value: {"Type":""}: supported values: "A", "B")");
  EXPECT_EQ(listed(R"({"verbs":["a"],"choice":{"type":"B"}})"), "");
}

TEST(Rules, OfItemsHoldInTheirPlaceUnderConditions) {
  const std::string expected = "many[0]: Invalid value: \"x\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
  EXPECT_EQ(door_problems(R"({"kindOf":"A","many":["x"]})"), expected);
  EXPECT_EQ(door_problems(R"({"kindOf":"B","many":["x"]})"), expected);
  EXPECT_EQ(door_problems(R"({"kindOf":"C","many":["x"]})"), "");
  EXPECT_EQ(door_problems(R"({"kindOf":"A","many":[" 10.0.0.0/8 ","fd00::/8"]})"), "");
  EXPECT_EQ(door_problems(R"({"many":["10.0.0.0/8","11.0.0.0/8"]})"),
            R"(many: Invalid value: ["10.0.0.0/8","11.0.0.0/8"]: one of each family)");
  EXPECT_EQ(door_problems(R"({"words":["x","y"]})"), R"(words: Invalid value: ["x","y"]: unknown)");
}

// Regression: the whole list was printed for each of its items, although only a few such texts are stored.
TEST(Rules, WholeListsArePrintedUpToALimit) {
  constexpr int kMany = 50'000;
  std::string words;
  for (int i = 0; i < kMany; ++i) words += (i == 0 ? "\"w" : ",\"w") + std::to_string(i) + "\"";
  Value value = json_of("{\"words\":[" + words + "]}");
  EXPECT_TRUE(door().normalize(value, nullptr).ok());
  FieldErrors errors;
  door().check(value.get_object(), nullptr, ObjectPart::kWhole, "", errors);
  EXPECT_EQ(errors.size() + errors.left_out(), static_cast<std::size_t>(kMany));
}

TEST(Rules, MayAskWhatTheStructWas) {
  EXPECT_EQ(door_problems(R"({"kindOf":"New","only":"b"})", R"({"kindOf":"Old","only":"a"})"),
            "only: Invalid value: \"b\": field is immutable");
  EXPECT_EQ(door_problems(R"({"kindOf":"New","only":"b"})", R"({"kindOf":"New","only":"a"})"), "");
  EXPECT_EQ(door_problems(R"({"kindOf":"New","only":"b"})"), "");
}

TEST(Rules, ReasonsOfConditionsAreOneWord) {
  EXPECT_EQ(door_problems(R"({"why":"It_is:So,9"})"), "");
  for (const char* bad : {"9lives", "two words", "Ends:", "-"}) {
    const std::string expected =
        "why: Invalid value: \"" + std::string(bad) + "\": a condition reason must start with alphabetic character,";
    EXPECT_TRUE(door_problems("{\"why\":\"" + std::string(bad) + "\"}").starts_with(expected)) << bad;
  }
}

TEST(Rules, LabelsAreLabels) {
  EXPECT_EQ(door_problems(R"({"labels":{"a":"b"}})"), "");
  EXPECT_TRUE(door_problems(R"({"labels":{"a":"-"}})").starts_with("labels: Invalid value: \"-\": a valid label must be"));
}

constexpr std::string_view kShelf = R"({"definitions": {
  "test.api.v1.Shelf": {"type": "object", "properties": {
    "boxes": {"type": "array", "items": {"type": "string", "x-backplane-rules": {"format": "dns1123Label"}},
      "x-backplane-rules": {"maxItems": 2}},
    "note": {"allOf": [{"$ref": "#/definitions/io.k8s.apimachinery.pkg.runtime.RawExtension"}],
      "x-backplane-rules": {"required": true, "format": "jsonObject", "maxLength": 9}},
    "place": {"allOf": [{"$ref": "#/definitions/test.api.v1.Place"}], "x-backplane-rules": {"immutable": true, "asGo": true}}}},
  "test.api.v1.Place": {"type": "object", "properties": {"roomNumber": {"type": "integer", "format": "int32"}, "row": {"type": "string"}}}
}})";

std::string shelf_problems(std::string_view text, std::string_view old = {}) {
  static const auto set = compile_documents({kShelf});
  FieldErrors errors;
  const Value object = json_of(text);
  const Value before = old.empty() ? Value() : json_of(old);
  set->find("test.api.v1.Shelf")->check(object.get_object(), old.empty() ? nullptr : &before.get_object(), ObjectPart::kWhole, "", errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(Rules, ListsHaveALimitBeyondWhichNothingIsLookedAt) {
  EXPECT_EQ(shelf_problems(R"({"note":{},"boxes":["a","b"]})"), "");
  EXPECT_EQ(shelf_problems(R"({"note":{},"boxes":["A","b","c"]})"), "boxes: Too many: 3: must have at most 2 items");
}

TEST(Rules, RawValuesAreObjectsOfALimitedLength) {
  EXPECT_EQ(shelf_problems("{}"), "note: Required value");
  EXPECT_EQ(shelf_problems(R"({"note":null})"), "note: Required value");
  EXPECT_EQ(shelf_problems(R"({"note":[1]})"), R"(note: Invalid value: "<value omitted>": must be a valid JSON object)");
  EXPECT_EQ(shelf_problems(R"({"note":{"a":1000}})"), "note: Too long: may not be more than 9 bytes");
}

TEST(Rules, ImmutableStructsAreQuotedAsGoPrintsThem) {
  EXPECT_EQ(shelf_problems(R"({"note":{},"place":{"roomNumber":2}})", R"({"note":{},"place":{"roomNumber":1}})"),
            R"(place: Invalid value: {"RoomNumber":2,"Row":""}: field is immutable)");
}

TEST(Defaults, QuantitiesAreRoundedUpToThousandths) {
  EXPECT_EQ(door_defaulted(R"({"amounts":{"cpu":"1500u","memory":"1n","pods":"3"}})"),
            R"({"meta":{},"amounts":{"cpu":"2m","memory":"1m","pods":"3"}})");
}

// Regression: "-0.0015" became "2m", and numbers beyond 64 bits became arbitrary values.
TEST(Defaults, QuantitiesAreRoundedAwayFromZero) {
  Value value = json_of(R"({"amounts":{"a":"-1500u","b":"-1n","c":"123456789012345678901234567890u","d":"-999999n","e":"1999500u"}})");
  door().apply_defaults(value);
  const Object& amounts = value.get_object().at("amounts").get_object();
  EXPECT_EQ(get_string(amounts, "a"), "-2m");
  EXPECT_EQ(get_string(amounts, "b"), "-1m");
  EXPECT_EQ(get_string(amounts, "c"), *canonical_quantity("123456789012345678901234568m"));
  EXPECT_EQ(get_string(amounts, "d"), "-1m");
  EXPECT_EQ(get_string(amounts, "e"), "2");
}

TEST(Defaults, CopyMoveAndDropMembers) {
  EXPECT_EQ(door_defaulted(R"({"map":{"a":"AA=="},"texts":{"b":"hello"}})"), R"({"meta":{},"map":{"a":"AA==","b":"aGVsbG8="}})");
  EXPECT_EQ(door_defaulted(R"({"one":"x"})"), R"({"meta":{},"one":"x","many":["x"]})");
  EXPECT_EQ(door_defaulted(R"({"many":["x","y"]})"), R"({"meta":{},"one":"x","many":["x","y"]})");
  EXPECT_EQ(door_defaulted(R"({"one":"z","many":["x","y"]})"), R"({"meta":{},"one":"z","many":["z"]})");
  EXPECT_EQ(door_defaulted(R"({"kindOf":"B","only":"x"})"), R"({"meta":{},"kindOf":"B"})");
  EXPECT_EQ(door_defaulted(R"({"kindOf":"C","amounts":{"cpu":"1u"},"most":{"cpu":"2","memory":"1Gi"}})"),
            R"({"meta":{},"kindOf":"C","amounts":{"cpu":"1m","memory":"1Gi"},"most":{"cpu":"2","memory":"1Gi"}})");
}

constexpr std::string_view kGate = R"({"definitions":{
  "io.k8s.api.test.v1.Bolt":{"type":"object","properties":{
    "name":{"type":"string","x-backplane-omit":"never"},"size":{"type":"integer","format":"int32"}}},
  "Way":{"type":"object",
    "x-backplane-struct-rules":{
      "blame":[{"when":{"bolt":{"is":"absent"},"words":false},"invalid":"bolt or words","quotes":"words"},
               {"when":{"bolt":{"is":"there"},"bolt.name":true,"bolt.size":{"is":"nonZero"}},"forbidden":"name or size"},
               {"when":{"bolt":{"is":"there"}},"unless":[{"bolt.name":true},{"bolt.size":{"is":"nonZero"}}],"required":"name or size"}],
      "notBelow":[{"members":["last"],"limit":"first","text":"not before the first","quotesLimit":true}]},
    "properties":{
      "bolt":{"allOf":[{"$ref":"#/definitions/io.k8s.api.test.v1.Bolt"}],"x-backplane-pointer":true,
        "x-backplane-rules":{"immutable":true,"asGo":true}},
      "words":{"type":"array","items":{"type":"string","x-backplane-rules":{"enum":["a","b"]}},"x-backplane-rules":{"maxItems":2,"whenChanged":true}},
      "few":{"type":"array","items":{"type":"string"},"x-backplane-rules":{"maxItems":1,"maxItemsText":"one is enough"}},
      "bolts":{"type":"array","items":{"$ref":"#/definitions/io.k8s.api.test.v1.Bolt"},"x-backplane-rules":{"unique":"name","emptyToo":true}},
      "first":{"x-backplane-type":"intOrString","x-backplane-pointer":true},
      "last":{"type":"integer","format":"int32","x-backplane-pointer":true,
        "x-backplane-rules":[{"when":{"first":{"is":"text"}},"refused":"has no number"},{"when":{"first":{"is":"number"}},"format":"port"}]},
      "address":{"type":"string","x-backplane-rules":{"format":"ip"}},
      "host":{"type":"string","x-backplane-rules":[{"format":"notIp"},{"format":"dnsPattern"}]},
      "path":{"type":"string","x-backplane-rules":{"format":"plainPath"}},
      "fixed":{"type":"string","x-backplane-rules":{"immutable":true}}}}}})";

std::string gate_problems(std::string_view text, std::string_view old = {}) {
  static const auto set = compile_documents({kGate});
  const Schema& way = *set->find(std::string_view("Way"));
  const auto normal = [&](std::string_view source) {
    Value value = json_of(source);
    EXPECT_TRUE(way.normalize(value, nullptr).ok());
    return value.get_object();
  };
  const Object before = old.empty() ? Object() : normal(old);
  FieldErrors errors;
  way.check(normal(text), old.empty() ? nullptr : &before, ObjectPart::kWhole, "way", errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(Rules, ErrorsMayBeReportedForTheStruct) {
  EXPECT_EQ(gate_problems("{}"), "way: Invalid value: null: bolt or words");
  EXPECT_EQ(gate_problems(R"({"bolt":{}})"), "way: Required value: name or size");
  EXPECT_EQ(gate_problems(R"({"bolt":{"name":"a","size":1}})"), "way: Forbidden: name or size");
  EXPECT_EQ(gate_problems(R"({"bolt":{"name":"a"}})"), "");
}

TEST(Rules, ListsMayBeTooLong) {
  EXPECT_EQ(gate_problems(R"({"words":["a","x"]})"), R"(way.words[1]: Unsupported value: "x": supported values: "a", "b")");
  EXPECT_EQ(gate_problems(R"({"words":["a","x","y"]})"), "way.words: Too many: 3: must have at most 2 items") << "no more is said of it";
  EXPECT_EQ(gate_problems(R"({"words":["a"],"few":["a","b"]})"), R"(way.few: Invalid value: ["a","b"]: one is enough)");
  EXPECT_EQ(gate_problems(R"({"words":["x","y","z"],"address":"10.0.0.1"})", R"({"words":["x","y","z"]})"), "") << "it is as it was";
}

TEST(Rules, EmptyNamesMayNotBeTheSame) {
  EXPECT_EQ(gate_problems(R"({"words":["a"],"bolts":[{},{"name":"b"},{"name":""}]})"), "way.bolts[2].name: Duplicate value: \"\"");
  EXPECT_EQ(gate_problems(R"({"words":["a"],"bolts":[{"name":"b"},{"name":"b"}]})"), "way.bolts[1].name: Duplicate value: \"b\"");
}

TEST(Rules, WhatHasChangedIsQuotedAsGoPrintsIt) {
  EXPECT_EQ(gate_problems(R"({"bolt":{"name":"b"}})", R"({"bolt":{"name":"a"}})"),
            R"(way.bolt: Invalid value: {"Name":"b","Size":0}: field is immutable)");
  EXPECT_EQ(gate_problems(R"({"words":["a"]})", R"({"words":["a"],"fixed":"a"})"), "way.fixed: Invalid value: \"\": field is immutable");
}

TEST(Rules, LimitsOfNumbersMayDependOnSiblings) {
  EXPECT_EQ(gate_problems(R"({"words":["a"],"first":80,"last":70})"), "way.last: Invalid value: 80: not before the first");
  EXPECT_EQ(gate_problems(R"({"words":["a"],"first":80})"), "");
  EXPECT_EQ(gate_problems(R"({"words":["a"],"first":"x","last":-1})"), "way.last: Invalid value: -1: has no number");
}

TEST(Rules, AddressesHostsAndPathsHaveOneForm) {
  const auto member = [](std::string_view text) { return gate_problems(R"({"words":["a"],)" + std::string(text) + "}"); };
  EXPECT_EQ(member(R"("address":"fd00::1")"), "");
  EXPECT_EQ(member(R"("address":"FD00::1")"), R"(way.address: Invalid value: "FD00::1": must be in canonical form ("fd00::1"))");
  EXPECT_EQ(member(R"("address":"010.0.0.1")"), R"(way.address: Invalid value: "010.0.0.1": must not have leading 0s)");
  EXPECT_EQ(member(R"("host":"*.a-b.c")"), "");
  EXPECT_EQ(member(R"("host":"1.2.3.4")"), R"(way.host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address)");
  EXPECT_NE(member(R"("host":"a.*")").find("a wildcard DNS-1123 subdomain must start with '*.'"), std::string::npos);
  EXPECT_EQ(
      member(R"("path":"/a/%2fb/.")"),
      R"([way.path: Invalid value: "/a/%2fb/.": must not contain '%2f', way.path: Invalid value: "/a/%2fb/.": cannot end with '/.'])");
}

}  // namespace
}  // namespace backplane
