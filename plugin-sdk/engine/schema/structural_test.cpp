#include "backplane/types/regexp.hpp"
#include "engine/schema_change.hpp"
#include "schema/schema_test_support.hpp"

namespace backplane {
namespace {

constexpr std::string_view kFoo = R"({"type": "object", "properties": {"spec": {"type": "object", "required": ["size"], "properties": {
  "size": {"type": "integer", "minimum": 1, "maximum": 10},
  "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
  "name": {"type": "string", "pattern": "^[a-z]*$", "minLength": 2, "maxLength": 5},
  "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2, "x-kubernetes-list-type": "set"},
  "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"],
    "items": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}, "p": {"type": "string", "default": "tcp"}}}},
  "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"known": {"type": "object"}}},
  "ios": {"x-kubernetes-int-or-string": true},
  "when": {"type": "string", "format": "date-time", "nullable": true},
  "ratio": {"type": "number", "multipleOf": 0.5},
  "mode": {"type": "string", "oneOf": [{"pattern": "^a"}, {"pattern": "^b"}]},
  "any": {"type": "string", "anyOf": [{"maxLength": 1}, {"pattern": "^long"}]},
  "all": {"type": "integer", "allOf": [{"minimum": 2}, {"maximum": 5}], "not": {"enum": [3]}},
  "map": {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2},
  "int32": {"type": "integer", "format": "int32"},
  "pod": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}
}}}})";

const Schema& foo() {
  static const auto set = compile_documents({structural_document(kFoo)});
  return *set->find("Foo");
}

std::string decoded(std::string_view text, DecodeReport* report = nullptr) {
  Value value = json_of(text);
  const Status status = foo().normalize(value, report);
  if (!status.ok()) return status.message();
  foo().apply_defaults(value);
  return to_json(value);
}
std::string problems_of(std::string_view spec) {
  FieldErrors errors;
  foo().validate(json_of(R"({"spec":)" + std::string(spec) + "}"), "", errors);
  return errors.aggregate_message();
}

TEST(Structural, SortsKeysPrunesAndReports) {
  DecodeReport report;
  EXPECT_EQ(decoded(R"({"spec":{"size":1,"nope":1,"ports":[{"zz":1,"n":2}],"color":"blue"},"kind":"Foo","aa":1})", &report),
            R"({"kind":"Foo","spec":{"color":"blue","ports":[{"n":2,"p":"tcp"}],"size":1}})");
  const std::vector<std::string> expected{"unknown field \"aa\"", "unknown field \"spec.nope\"", "unknown field \"spec.ports[0].zz\""};
  EXPECT_EQ(report.problems, expected);
}

TEST(Structural, EmbeddedResourcesSayWhatTheyAre) {
  const auto problems = [](std::string_view pod) { return problems_of(R"({"size":1,"pod":)" + std::string(pod) + "}"); };
  EXPECT_EQ(problems("{}"), "[spec.pod.apiVersion: Required value, spec.pod.kind: Required value]");
  EXPECT_EQ(problems(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})"), "");
  EXPECT_EQ(problems(R"({"apiVersion":"","kind":"Pod"})"), R"(spec.pod.apiVersion: Invalid value: "": must not be empty)");
  EXPECT_EQ(problems(R"({"apiVersion":"a/b/c","kind":"Pod"})"),
            R"(spec.pod.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c)");
  EXPECT_TRUE(
      problems(R"({"apiVersion":"v1","kind":"a.b"})")
          .starts_with(R"(spec.pod.kind: Invalid value: "a.b": may have mixed case, but should otherwise match: a DNS-1035 label)"));
  EXPECT_TRUE(problems(R"({"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a b":"c"}}})")
                  .starts_with(R"(spec.pod.metadata.labels: Invalid value: "a b": )"));
}

TEST(Structural, KeepsUnknownMembersWhereTheSchemaSaysSo) {
  EXPECT_EQ(decoded(R"({"spec":{"size":1,"free":{"b":{"x":1},"a":[{"z":1,"c":2}],"known":{"dropped":1}}}})"),
            R"({"spec":{"color":"red","free":{"a":[{"c":2,"z":1}],"b":{"x":1},"known":{}},"size":1}})");
}

TEST(Structural, ReadsMetadataAsObjectMeta) {
  DecodeReport report;
  EXPECT_EQ(decoded(R"({"metadata":{"name":"n","labels2":{},"creationTimestamp":null,"labels":{"b":"1","a":"2"}}})", &report),
            R"({"metadata":{"labels":{"a":"2","b":"1"},"name":"n"}})");
  EXPECT_EQ(report.problems, std::vector<std::string>{"unknown field \"metadata.labels2\""});
  EXPECT_EQ(decoded(R"({"metadata":{"labels":[]}})"),
            "json: cannot unmarshal array into Go struct field ObjectMeta.labels of type map[string]string");
}

TEST(Structural, DropsNullsThatMayNotBeAndDefaultsThoseThatHaveOne) {
  EXPECT_EQ(decoded(R"({"spec":{"size":null,"color":null,"when":null}})"), R"({"spec":{"color":"red","when":null}})");
}

TEST(Structural, TreatsEmbeddedResourcesLikeTheRoot) {
  EXPECT_EQ(decoded(R"({"spec":{"size":1,"pod":{"metadata":{"zz":1,"name":"p"},"kind":"Pod","apiVersion":"v1","x":1}}})"),
            R"({"spec":{"color":"red","pod":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"x":1},"size":1}})");
  EXPECT_EQ(decoded(R"({"spec":{"pod":{"kind":7}}})"), "spec.pod.kind: Invalid value: 7: must be a string");
}

TEST(Structural, HoldsLargeNumbersAsFloats) {
  Value value = json_of(R"({"spec":{"free":{"n":9223372036854775808}}})");
  ASSERT_TRUE(foo().normalize(value, nullptr).ok());
  const Value& number = *find_path(value.get_object(), "spec.free.n");
  ASSERT_TRUE(number.is_double());
  EXPECT_EQ(number.get_double(), 9223372036854775808.0);
}

struct Case {
  std::string_view spec, message;
};

TEST(Structural, ValidationHasUpstreamsMessages) {
  const Case kCases[] = {
      {R"({"size":5})", ""},
      {"{}", "spec.size: Required value"},
      {R"({"size":0})", "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"},
      {R"({"size":11})", "spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10"},
      {R"({"size":"x"})", R"(spec.size: Invalid value: "string": spec.size in body must be of type integer: "string")"},
      {R"({"size":1.5})", R"([spec.size: Invalid value: "number": spec.size in body must be of type integer: "number", )"
                          R"(<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.size])"},
      {R"({"size":5,"color":"green"})", R"(spec.color: Unsupported value: "green": supported values: "red", "blue")"},
      {R"({"size":5,"name":"A"})", R"(spec.name: Invalid value: "A": spec.name in body should be at least 2 chars long)"},
      {R"({"size":5,"name":"AB"})", R"(spec.name: Invalid value: "AB": spec.name in body should match '^[a-z]*$')"},
      {R"({"size":5,"name":"toolong"})", "spec.name: Too long: may not be more than 5 bytes"},
      {R"({"size":5,"tags":["a","a"]})", R"(spec.tags[1]: Duplicate value: "a")"},
      {R"({"size":5,"tags":["a","b","c"]})", "spec.tags: Too many: 3: must have at most 2 items"},
      {R"({"size":5,"ports":[{"n":1},{"n":1}]})", R"(spec.ports[1]: Duplicate value: {"n":1})"},
      {R"({"size":5,"ports":[{"p":"x"}]})", "spec.ports[0].n: Required value"},
      {R"({"size":5,"ios":"x"})", ""},
      {R"({"size":5,"ios":1})", ""},
      {R"({"size":5,"ios":true})", R"(spec.ios: Invalid value: "boolean": spec.ios in body must be of type integer,string: "boolean")"},
      {R"({"size":5,"when":"notdate"})", R"(spec.when: Invalid value: "notdate": spec.when in body must be of type date-time: "notdate")"},
      {R"({"size":5,"when":null})", ""},
      {R"({"size":5,"when":"2026-01-02T03:04:05.5+01:00"})", ""},
      {R"({"size":5,"ratio":0.3})", "spec.ratio: Invalid value: 0.3: spec.ratio in body should be a multiple of 0.5"},
      {R"({"size":5,"ratio":1})", "spec.ratio: Invalid value: 0: factor MultipleOf declared for spec.ratio must be positive: 0"},
      {R"({"size":5,"mode":"c"})",
       R"([<nil>: Invalid value: "": "spec.mode" must validate one and only one schema (oneOf). Found none valid, )"
       R"(spec.mode: Invalid value: "c": spec.mode in body should match '^a'])"},
      {R"({"size":5,"any":"xyz"})",
       R"([<nil>: Invalid value: "": "spec.any" must validate at least one schema (anyOf), spec.any: Too long: may not be more than 1 byte])"},
      {R"({"size":5,"any":"longer"})", ""},
      {R"({"size":5,"all":3})", R"(<nil>: Invalid value: "": "spec.all" must not validate the schema (not))"},
      {R"({"size":5,"all":6})", R"([spec.all: Invalid value: 6: spec.all in body should be less than or equal to 5, )"
                                R"(<nil>: Invalid value: "": "spec.all" must validate all the schemas (allOf)])"},
      {R"({"size":5,"map":{"a":"x"}})", R"(spec.map.a: Invalid value: "string": spec.map.a in body must be of type integer: "string")"},
      {R"({"size":5,"map":{"a":1,"b":2,"c":3}})", "spec.map: Too many: 3: must have at most 2 items"},
      {R"({"size":5,"int32":2147483648})",
       R"(<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.int32)"},
      {R"("text")", R"(spec: Invalid value: "string": spec in body must be of type object: "string")"},
  };
  for (const Case& one : kCases) EXPECT_EQ(problems_of(one.spec), one.message) << one.spec;
}

// Regression: the fields were dropped; errors about metadata lacked the parts that had been decoded. The values of the enum were listed
// again for each wrong value.
TEST(Structural, ValuesOfALargeEnumAreListedOnceForMany) {
  constexpr int kValues = 1'000, kWrong = 20'000;
  std::string values, wrong;
  for (int i = 0; i < kValues; ++i) values += (i == 0 ? "\"v" : ",\"v") + std::to_string(i) + "\"";
  for (int i = 0; i < kWrong; ++i) wrong += (i == 0 ? "\"w" : ",\"w") + std::to_string(i) + "\"";
  const std::string schema = R"({"type":"object","properties":{"l":{"type":"array","items":{"type":"string","enum":[)" + values + "]}}}}";
  const auto set = compile_documents({structural_document(schema)});
  FieldErrors errors;
  set->find("Foo")->validate(json_of("{\"l\":[" + wrong + "]}"), "", errors);
  ASSERT_GT(errors.size(), 1u);
  EXPECT_EQ(errors.list().front().field, "l[0]");
  EXPECT_TRUE(errors.list().front().text.starts_with(R"(Unsupported value: "w0": supported values: "v0", "v1", )"));
  EXPECT_TRUE(errors.list().back().text.ends_with(R"("v999")"));
}

TEST(Structural, WhatWasAppliedKeepsItsNullsAndErrorsTellWhatWasSent) {
  const auto set = compile_documents({structural_document(R"({"type":"object","properties":{"a":{"type":"string"},
    "e":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}})")});
  const Schema* foo = set->find("Foo");
  Value sent = json_of(R"({"a":null})"), applied = sent;
  ASSERT_TRUE(foo->normalize(sent, nullptr).ok());
  EXPECT_EQ(to_json(sent), "{}");
  DecodeReport report;
  report.restore = true;
  ASSERT_TRUE(foo->normalize(applied, &report).ok());
  EXPECT_EQ(to_json(applied), R"({"a":null})");
  Value wrong = json_of(R"({"e":{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b"},"name":[]}}})");
  EXPECT_EQ(
      foo->normalize(wrong, nullptr).message(),
      R"(e.metadata: Invalid value: {"labels":{"a":"b"},"name":[]}: json: cannot unmarshal array into Go struct field ObjectMeta.name of )"
      "type string");
}

// Regression: alternatives accepted any members.
TEST(Structural, AlternativesMayForbidOtherMembers) {
  const auto set = compile_documents({structural_document(R"({"type":"object","properties":{"s":{"type":"object",
    "properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"}},
    "anyOf":[{"properties":{"a":{},"b":{}},"required":["a"],"additionalProperties":false},
             {"properties":{"c":{}},"required":["c"],"additionalProperties":false}]},
    "free":{"type":"object","additionalProperties":false,"x-kubernetes-preserve-unknown-fields":true}}})")});
  const auto problems = [&](std::string_view text) {
    FieldErrors errors;
    set->find("Foo")->validate(json_of(text), "", errors);
    return errors.aggregate_message();
  };
  EXPECT_EQ(problems(R"({"s":{"a":"1","b":"2"}})"), "");
  EXPECT_EQ(problems(R"({"s":{"c":"1"}})"), "");
  EXPECT_EQ(problems(R"({"s":{"a":"1","c":"2"}})"), R"([<nil>: Invalid value: "": "s" must validate at least one schema (anyOf), )"
                                                    R"(s: Invalid value: "c": s.c in body is a forbidden property])");
  EXPECT_EQ(problems(R"({"free":{"x":1}})"), R"(free: Invalid value: "x": free.x in body is a forbidden property)");
}

// The problems of a member `v` of the schema.
std::string problems_with(std::string_view schema, std::string_view value) {
  const auto set = compile_documents({structural_document(R"({"type":"object","properties":{"v":)" + std::string(schema) + "}}")});
  FieldErrors errors;
  set->find("Foo")->validate(json_of(R"({"v":)" + std::string(value) + "}"), "", errors);
  return errors.aggregate_message();
}

TEST(Structural, NumbersOfAnEnumAreComparedAsGoConvertsThem) {
  constexpr std::string_view kOneOrTwo = R"({"type":"number","enum":[1,2]})";
  for (const char* value : {"1", "1.0", "1e0", "1.5", "2.9"}) EXPECT_EQ(problems_with(kOneOrTwo, value), "") << value;
  EXPECT_EQ(problems_with(kOneOrTwo, "3.0"), R"(v: Unsupported value: 3: supported values: "1", "2")");
  constexpr std::string_view kFraction = R"({"type":"number","enum":[2.5]})";
  EXPECT_EQ(problems_with(kFraction, "2.5"), "");
  EXPECT_NE(problems_with(kFraction, "2"), "");
  constexpr std::string_view kTexts = R"({"x-kubernetes-int-or-string":true,"enum":["A","3"]})";
  EXPECT_EQ(problems_with(kTexts, "65"), "");
  EXPECT_NE(problems_with(kTexts, "3"), "");
  EXPECT_NE(problems_with(R"({"type":"number","nullable":true,"enum":[1,null]})", "null"), "");
  EXPECT_NE(problems_with(R"({"type":"object","properties":{"a":{"type":"number"}},"enum":[{"a":1}]})", R"({"a":1.0})"), "");
}

TEST(Structural, NumbersAreInTheRangeOfTheirFormat) {
  constexpr std::string_view kFloat = R"({"type":"number","format":"float"})", kInt64 = R"({"type":"integer","format":"int64"})";
  for (const char* value : {"3.4028235e38", "1e-50", "1", "340282356779733661637539395458142568448"})
    EXPECT_EQ(problems_with(kFloat, value), "") << value;
  for (const char* value : {"1e39", "-1e39", "3.4028236e38", "400000000000000000000000000000000000000"}) {
    EXPECT_EQ(problems_with(kFloat, value), R"(<nil>: Invalid value: "": Checked value must be of type number with format float in v)")
        << value;
  }
  EXPECT_EQ(problems_with(kInt64, "9223372036854775807"), "");
  EXPECT_NE(problems_with(kInt64, "9223372036854775808.0").find("Checked value must be of type integer with format int64 in v"),
            std::string::npos);
  // Go on amd64 converts numbers that are too large for int64 to its minimum.
  EXPECT_EQ(problems_with(R"({"type":"number","maximum":1e30})", "5"),
            "v: Invalid value: 5: v in body should be less than or equal to -9223372036854775808");
  EXPECT_EQ(problems_with(R"({"type":"number","maximum":1e30})", "5.0"), "");
}

TEST(Structural, ItemsAreCheckedWhereNoTypeIsNamed) {
  constexpr std::string_view kSchema = R"({"type":"array","items":{"type":"integer"},"allOf":[{"items":{"minimum":5}}]})";
  EXPECT_EQ(problems_with(kSchema, "[5,6]"), "");
  EXPECT_NE(problems_with(kSchema, "[5,4]").find("v[1] in body should be greater than or equal to 5"), std::string::npos);
  EXPECT_EQ(problems_with(R"({"items":{"type":"string"}})", "7"), "");
}

TEST(Structural, ASetTellsFloatsFromIntegers) {
  constexpr std::string_view kSet = R"({"type":"array","x-kubernetes-list-type":"set","items":{"type":"number"}})";
  EXPECT_EQ(problems_with(kSet, "[1,1.0]"), "");
  EXPECT_EQ(problems_with(kSet, "[1.0,1.0]"), "v[1]: Duplicate value: 1");
  EXPECT_EQ(problems_with(kSet, "[0.0,-0.0]"), "v[1]: Duplicate value: -0");
  constexpr std::string_view kMap = R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],)"
                                    R"("items":{"type":"object","properties":{"k":{"type":"number"}}}})";
  EXPECT_EQ(problems_with(kMap, R"([{"k":1},{"k":1.0}])"), "");
  EXPECT_EQ(problems_with(kMap, R"([{"k":1},{"k":1}])"), R"(v[1]: Duplicate value: {"k":1})");
  EXPECT_EQ(problems_with(kMap, R"([{},{}])"), "v[1]: Duplicate value: {}");
}

TEST(Structural, WhereNothingIsPrunedNullsStayToo) {
  const auto set = compile_documents({structural_document(
      R"({"type":"object","x-custom-keeps-unknown-fields":true,"properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}})")});
  Value value = json_of(R"({"z":1,"a":{"c":null,"b":null}})");
  EXPECT_TRUE(set->find("Foo")->normalize(value, nullptr).ok());
  EXPECT_EQ(to_json(value), R"({"a":{"b":null,"c":null},"z":1})");
}

TEST(Structural, ABadPatternIsACompileError) {
  const std::string document = structural_document(R"({"type":"object","properties":{"a":{"type":"string","pattern":"("}}})");
  const std::string_view documents[] = {document};
  auto set = SchemaSet::compile(documents);
  ASSERT_FALSE(set.ok());
  EXPECT_TRUE(set.status().message().starts_with("schema: Foo.properties.a.pattern: ")) << set.status().message();
}

TEST(Structural, FormatsAreCheckedWhenKnown) {
  const auto set = compile_documents({structural_document(R"({"type":"object","properties":{
    "ip":{"type":"string","format":"ipv4"},"cidr":{"type":"string","format":"cidr"},"u":{"type":"string","format":"uuid"},
    "d":{"type":"string","format":"duration"},"day":{"type":"string","format":"date"},"mine":{"type":"string","format":"mine"},
    "uri":{"type":"string","format":"uri"},"b":{"type":"string","format":"byte"},"n":{"type":"string","format":"k8s-short-name"}}})")});
  auto count = [&](std::string_view text) {
    FieldErrors errors;
    set->find("Foo")->validate(json_of(text), "", errors);
    return errors.size();
  };
  EXPECT_EQ(count(R"({"ip":"10.0.0.1","cidr":"10.0.0.0/8","u":"123e4567-e89b-12d3-a456-426614174000","d":"1h3m","day":"2026-02-28",
                      "mine":"x","uri":"https://a.b/c","b":"YQ==","n":"a-b"})"),
            0u);
  EXPECT_EQ(count(R"({"ip":"10.0.0","cidr":"10.0.0.0","u":"x","d":"soon","day":"2026-02-30","uri":"no uri","b":"?","n":"A"})"), 8u);
  // Errors show numbers that Go does not store as integers as Go prints them.
  const auto numbers = compile_documents({structural_document(R"({"type":"object","properties":{
    "m":{"type":"number","multipleOf":1000000},"n":{"type":"number","maximum":1000000}}})")});
  FieldErrors bounds;
  numbers->find("Foo")->validate(json_of(R"({"m":1.5,"n":1000000.5})"), "", bounds);
  EXPECT_EQ(bounds.aggregate_message(),
            "[m: Invalid value: 1.5: m in body should be a multiple of 1e+06, "
            "n: Invalid value: 1.0000005e+06: n in body should be less than or equal to 1e+06]");
  // An unknown format does not constrain the type either.
  FieldErrors errors;
  set->find("Foo")->validate(json_of(R"({"mine":5})"), "", errors);
  EXPECT_EQ(errors.aggregate_message(), R"(mine: Invalid value: "integer": mine in body must be of type string: "integer")");
}

// The errors of an update by the given schema, in the format of FieldErrors.
std::string change_problems(std::string_view schema, std::string_view before, std::string_view now) {
  const auto set = compile_documents({structural_document(R"({"type":"object","properties":{"spec":)" + std::string(schema) + "}}")});
  const auto object = [](std::string_view spec) { return json::parse("{\"spec\":" + std::string(spec) + "}"); };
  const Value old = object(before);
  FieldErrors errors;
  validate_change(*set->find("Foo"), object(now), &old, "", errors);
  return errors.aggregate_message();
}

// Regression: a wrong value that replaced another one with the same message passed, because only messages were compared.
TEST(StructuralChange, AWrongValueMayStayAndNotChange) {
  const std::string text = R"({"type":"object","properties":{"a":{"type":"string","maxLength":2},"b":{"type":"string"}}})";
  EXPECT_EQ(change_problems(text, R"({"a":"long"})", R"({"a":"long","b":"x"})"), "");
  EXPECT_EQ(change_problems(text, R"({"a":"long"})", R"({"a":"longer"})"), "spec.a: Too long: may not be more than 2 bytes");
  const std::string required = R"({"type":"object","required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"string"}}})";
  EXPECT_EQ(change_problems(required, R"({"b":"x"})", R"({"b":"x"})"), "");
  EXPECT_EQ(change_problems(required, R"({"b":"x"})", R"({"b":"y"})"), "spec.a: Required value");
}

TEST(StructuralChange, ItemsAreIdentifiedByTheKeysOfTheirList) {
  const std::string item = R"({"type":"object","properties":{"k":{"type":"string"},"v":{"type":"string","maxLength":2}}})";
  const std::string map = R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":)" + item + "}";
  const std::string list = R"({"type":"array","items":)" + item + "}";
  const std::string before = R"([{"k":"a","v":"long"}])", after = R"([{"k":"b","v":"x"},{"k":"a","v":"long"}])";
  EXPECT_EQ(change_problems(map, before, after), "");
  EXPECT_EQ(change_problems(map, before, R"([{"k":"b","v":"long"}])"), "spec[0].v: Too long: may not be more than 2 bytes");
  EXPECT_EQ(change_problems(list, before, before), "");
  EXPECT_EQ(change_problems(list, before, after), "spec[1].v: Too long: may not be more than 2 bytes");
  const std::string twice = R"([{"k":"a"},{"k":"a"}])", thrice = R"([{"k":"a"},{"k":"a"},{"k":"c"}])";
  EXPECT_EQ(change_problems(map, twice, thrice), "") << "it repeated itself before";
  EXPECT_NE(change_problems(map, "[]", twice), "");
}

// Regression: items of a list without a type were matched by index.
TEST(StructuralChange, ItemsOfListsWithoutKeysAreUnchangedOnlyWithTheWholeList) {
  const auto list = [](const std::string& type) {
    return R"({"type":"array",)" + (type.empty() ? "" : R"("x-kubernetes-list-type":")" + type + R"(",)") +
           R"("items":{"type":"string","maxLength":2}})";
  };
  const std::string before = R"(["long"])", first = "spec[0]: Too long: may not be more than 2 bytes",
                    second = "spec[1]: Too long: may not be more than 2 bytes";
  for (const char* type : {"", "atomic", "set"}) {
    EXPECT_EQ(change_problems(list(type), before, before), "") << type;
    EXPECT_EQ(change_problems(list(type), before, R"(["long","x"])"), first) << type;
    EXPECT_EQ(change_problems(list(type), before, R"(["x","long"])"), second) << type;
  }
}

// Regression: the parts of a value were checked against an alternative as if they were new.
TEST(StructuralChange, PartsOfAnAlternativeMayStay) {
  const std::string text = R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},
    "anyOf":[{"properties":{"a":{"maxLength":2}}}]})";
  EXPECT_EQ(change_problems(text, R"({"a":"long"})", R"({"a":"long","b":"x"})"), "");
  EXPECT_NE(change_problems(text, R"({"a":"long"})", R"({"a":"longer"})"), "");
}

// Regression: all items without the key were treated as the same item.
TEST(StructuralChange, AnItemWithoutItsKeyIsNew) {
  const std::string map = R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":
    {"type":"object","properties":{"k":{"type":"string"},"v":{"type":"string","maxLength":2},"w":{"type":"string"}}}})";
  EXPECT_EQ(change_problems(map, R"([{"k":"a","v":"long"}])", R"([{"k":"a","v":"long","w":"x"}])"), "");
  EXPECT_NE(change_problems(map, R"([{"v":"long"}])", R"([{"v":"long","w":"x"}])"), "");
}

// Regression: the same items in another order were treated as a changed list.
TEST(StructuralChange, TheOrderOfAListMapIsNoChange) {
  const std::string map = R"({"type":"array","maxItems":1,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":
    {"type":"object","properties":{"k":{"type":"string"}}}})";
  EXPECT_EQ(change_problems(map, R"([{"k":"a"},{"k":"b"}])", R"([{"k":"b"},{"k":"a"}])"), "");
  EXPECT_NE(change_problems(map, R"([{"k":"a"},{"k":"b"}])", R"([{"k":"b"},{"k":"c"}])"), "");
}

// Regression: the path of each member repeated a long key above it.
TEST(Structural, ReportsTheFirstUnknownMembersOnly) {
  std::string many = "{";
  for (int i = 0; i < 500; ++i) many.append(i ? "," : "").append("\"u" + std::to_string(i) + "\":1");
  DecodeReport report;
  decoded(R"({"spec":{"size":1,"free":{"known":)" + many + "}}}}", &report);
  EXPECT_EQ(report.problems.size(), 100u);
}

TEST(Structural, ProblemsOfOneValueAreOfBoundedSize) {
  const std::string key(100'000, 'k');
  std::string many = "{";
  for (int i = 0; i < 1000; ++i) many.append(i ? "," : "").append("\"" + key + std::to_string(i) + "\":\"x\"");
  FieldErrors errors;
  foo().validate(json_of(R"({"spec":{"size":1,"map":)" + many + "}}}"), "", errors);
  EXPECT_GT(errors.size(), 1u);
  EXPECT_LT(errors.size(), 100u);
}

TEST(GoRegexp, RefusesWhatGoRefusesWithItsMessages) {
  EXPECT_EQ(regexp_problem("^[a-z]+(x|y)*$"), "");
  EXPECT_EQ(regexp_problem("("), "error parsing regexp: missing closing ): `(`");
  EXPECT_EQ(regexp_problem("a)"), "error parsing regexp: unexpected ): `a)`");
  EXPECT_EQ(regexp_problem("[a"), "error parsing regexp: missing closing ]: `[a`");
  EXPECT_EQ(regexp_problem("*a"), "error parsing regexp: missing argument to repetition operator: `*`");
  EXPECT_EQ(regexp_problem("a**"), "error parsing regexp: invalid nested repetition operator: `**`");
  EXPECT_EQ(regexp_problem("(?=a)"), "error parsing regexp: invalid or unsupported Perl syntax: `(?=`");
  EXPECT_EQ(regexp_problem("a{2,1}"), "error parsing regexp: invalid repeat count: `{2,1}`");
  EXPECT_EQ(regexp_problem("\\y"), "error parsing regexp: invalid escape sequence: `\\y`");
  EXPECT_EQ(regexp_problem("a\\C"), "error parsing regexp: invalid escape sequence: `\\C`") << "RE2's any byte";
  EXPECT_EQ(regexp_problem("\\Q\\C\\E\\\\C"), "");
  EXPECT_EQ(regexp_problem("a{1,,}b{,}"), "") << "text, and threw";
  EXPECT_EQ(regexp_problem("a{2,3}?(?i:b)(?P<n>c)[^]x]\\d\\."), "");
}

TEST(GoRegexp, TakesWhatGoTakes) {
  EXPECT_EQ(regexp_problem("(?<n>a)(?P<m>b)"), "");
  EXPECT_EQ(regexp_problem(R"(\(?<[(?<]x)"), "");
  EXPECT_EQ(regexp_problem("(?<=a)"), "error parsing regexp: invalid or unsupported Perl syntax: `(?<`");
  EXPECT_EQ(regexp_problem("\\p{Greek}+\\z"), "");
}

// Regression: a backtracking matcher reached its limit, and the value was refused.
TEST(GoRegexp, MatchesInLinearTime) {
  const auto set =
      compile_documents({structural_document(R"({"type":"object","properties":{"a":{"type":"string","pattern":"^(a|aa)+(a|aa)+$"}}})")});
  const auto problems = [&](const std::string& text) {
    FieldErrors errors;
    set->find("Foo")->validate(json_of(R"({"a":")" + text + R"("})"), "", errors);
    return errors.aggregate_message();
  };
  EXPECT_EQ(problems(std::string(5000, 'a')), "");
  EXPECT_NE(problems(std::string(5000, 'a') + "b").find("should match '^(a|aa)+(a|aa)+$'"), std::string::npos);
}

}  // namespace
}  // namespace backplane
