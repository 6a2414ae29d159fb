// Keywords of x-backplane-rules about texts and about whole lists and maps, on new and old objects.
#include "backplane/types/names.hpp"
#include "schema/schema_test_support.hpp"

namespace backplane {
namespace {

constexpr std::string_view kDocument = R"({"definitions":{
  "io.k8s.api.test.v1.Part":{"type":"object","properties":{
    "name":{"type":"string","x-backplane-omit":"never"},
    "size":{"type":"integer","format":"int32","x-backplane-pointer":true},
    "note":{"type":"string"}}},
  "io.k8s.api.test.v1.Choice":{"type":"object",
    "x-backplane-struct-rules":{"blame":[
      {"when":{"one":{"is":"absent"},"other":{"is":"absent"}},"invalid":"needs one","shows":{}},
      {"when":{"one":true,"other":true},"invalid":"has both","whole":true}]},
    "properties":{"one":{"type":"string","x-backplane-pointer":true},"other":{"type":"string","x-backplane-pointer":true}}},
  "Words":{"type":"object","properties":{
    "amounts":{"type":"object","x-backplane-rules":{"asMembers":true},
      "additionalProperties":{"x-backplane-type":"quantity","x-backplane-rules":{"format":"notNegative","counted":true}}},
    "least":{"x-backplane-type":"quantity","x-backplane-pointer":true,"x-backplane-rules":{"when":{"least":{"is":"negative"}},"forbidden":"is less than nothing"}},
    "open":{"type":"boolean","x-backplane-pointer":true,"x-backplane-rules":{"when":{"open":{"is":"off"}},"forbidden":"is never closed"}},
    "modes":{"type":"array","items":{"type":"string"},"x-backplane-rules":{"alone":{"item":"Once","forbidden":"stands alone"}}},
    "id":{"type":"string","x-backplane-rules":{"instead":true,"format":"noSlash"}},
    "choice":{"allOf":[{"$ref":"#/definitions/io.k8s.api.test.v1.Choice"}],"x-backplane-pointer":true},
    "kind":{"type":"string","x-backplane-rules":{"lowered":true,"format":"qualifiedName"}},
    "label":{"type":"string","x-backplane-omit":"never","x-backplane-rules":{"joined":true,"format":"dns1035Label"}},
    "version":{"type":"string","x-backplane-rules":{"format":"apiVersion","joined":true}},
    "node":{"type":"string","x-backplane-rules":{"maxLength":4,"rangeText":"must be 4 characters or less"}},
    "settings":{"type":"object","additionalProperties":{"type":"string"},"x-backplane-omit":"never",
      "x-backplane-rules":{"immutable":true,"maxEntries":2,"maxBytes":8,"keys":{"nonEmpty":"must not be empty","holder":true}}},
    "keys":{"type":"array","items":{"type":"string","x-backplane-rules":{"required":true,"format":"labelValue"}},
      "x-backplane-rules":{"wholeList":true,"unique":true,"maxItems":3}},
    "names":{"type":"array","items":{"$ref":"#/definitions/io.k8s.api.test.v1.Part"},"x-backplane-rules":{"unique":"name","emptyToo":true}},
    "pairs":{"type":"array","items":{"$ref":"#/definitions/io.k8s.api.test.v1.Part"},"x-backplane-rules":{"unique":["name","note"],"whole":true}},
    "part":{"allOf":[{"$ref":"#/definitions/io.k8s.api.test.v1.Part"}],"x-backplane-pointer":true,"x-backplane-rules":{"immutable":true}},
    "shown":{"allOf":[{"$ref":"#/definitions/io.k8s.api.test.v1.Part"}],"x-backplane-pointer":true,
      "x-backplane-rules":{"immutable":true,"unquoted":true}},
    "conditions":{"type":"array","items":{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Condition"},
      "x-backplane-rules":{"format":"conditions"}}}}}})";

const Schema& words() {
  static const auto set = SchemaSet::compile(std::array{kDocument}, {meta_schemas()});
  if (!set.ok()) throw std::logic_error(set.status().message());
  return *(*set)->find(std::string_view("Words"));
}
Object normalized(std::string_view members) {
  Value value = json_of(R"({"label":"a")" + std::string(members.empty() ? "" : ",") + std::string(members) + "}");
  EXPECT_TRUE(words().normalize(value, nullptr).ok());
  return value.get_object();
}
std::string problems(std::string_view members) {
  FieldErrors errors;
  words().check(normalized(members), nullptr, ObjectPart::kWhole, "", errors);
  return errors.empty() ? "" : errors.aggregate_message();
}
std::string changed(std::string_view members, std::string_view before) {
  const Object old = normalized(before);
  FieldErrors errors;
  words().check(normalized(members), &old, ObjectPart::kWhole, "", errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(RuleWords, LoweredTextsAreLookedAtAndQuotedInLowerCase) {
  EXPECT_EQ(problems(R"("kind":"Example.com/Disk")"), "");
  EXPECT_TRUE(problems(R"("kind":"Bad Value!")").starts_with("kind: Invalid value: \"bad value!\": name part must consist of"));
}

TEST(RuleWords, JoinedProblemsAreSaidAsOne) {
  const std::string found = problems(R"("label":")" + std::string(64, '-') + "\"");
  EXPECT_NE(found.find("must be no more than 63 characters,a DNS-1035 label must consist"), std::string::npos) << found;
  EXPECT_EQ(problems(R"("version":"apps/v1")"), "");
  EXPECT_EQ(problems(R"("version":"v1")"), "");
  EXPECT_EQ(problems(R"("version":"/")"), "version: Invalid value: \"/\": group part: must be non-empty,version part: must be non-empty");
  EXPECT_TRUE(problems(R"("version":"a/b/c")").starts_with("version: Invalid value: \"a/b/c\": an apiVersion is a DNS-1035 label"));
}

TEST(RuleWords, TextsThatAreTooLongMayBeInvalid) {
  EXPECT_EQ(problems(R"("node":"12345")"), "node: Invalid value: \"12345\": must be 4 characters or less");
}

TEST(RuleWords, MapsHaveSoManyEntriesAndBytes) {
  EXPECT_EQ(problems(R"("settings":{"a":"1","b":"2"})"), "");
  EXPECT_EQ(problems(R"("settings":{"a":"1","b":"2","c":"3"})"), "settings: Too long: may not be more than 2 bytes");
  EXPECT_EQ(problems(R"("settings":{"a":"12345678"})"), "settings: Too long: may not be more than 8 bytes");
  EXPECT_EQ(problems(R"("settings":{"":"1"})"), "settings: Invalid value: \"\": must not be empty");
}

TEST(RuleWords, ItemsMayBeRequiredAndTheErrorReportedForTheList) {
  EXPECT_EQ(problems(R"("keys":[""])"), "keys: Required value");
  EXPECT_EQ(problems(R"("keys":["a","a"])"), "keys: Duplicate value: \"a\"");
  EXPECT_EQ(problems(R"("keys":["a","b","c","d"])"), "keys: Too many: 4: must have at most 3 items");
}

TEST(RuleWords, EmptyNamesMayCountAsEqual) {
  EXPECT_EQ(problems(R"("names":[{"name":""},{"name":""}])"), "names[1].name: Duplicate value: \"\"");
}

TEST(RuleWords, RepeatedItemsMayBeQuotedCompletely) {
  EXPECT_EQ(problems(R"("pairs":[{"name":"a","size":1},{"name":"a","size":2}])"),
            R"(pairs[1]: Duplicate value: {"Name":"a","Size":2,"Note":""})");
}

TEST(RuleWords, ChangedStructsAreQuotedAsGoPrintsThem) {
  EXPECT_EQ(changed(R"("part":{"name":"b"})", R"("part":{"name":"a"})"),
            R"(part: Invalid value: {"Name":"b","Size":null,"Note":""}: field is immutable)");
  EXPECT_EQ(changed("", R"("part":{"name":"a"})"), "part: Invalid value: null: field is immutable");
  EXPECT_EQ(changed(R"("shown":{"name":"b"})", ""), "shown: Invalid value: null: field is immutable");
}

TEST(RuleWords, AMapWithoutContentIsAsGoodAsNone) {
  EXPECT_EQ(changed(R"("settings":{})", ""), "");
  EXPECT_EQ(changed(R"("settings":{})", R"("settings":{"a":"1"})"), "settings: Invalid value: {}: field is immutable");
}

TEST(RuleWords, IndivisibleResourcesAreCountedInIntegers) {
  EXPECT_EQ(problems(R"("amounts":{"cpu":"100m","pods":"2","example.com/gpu":"1"})"), "");
  EXPECT_EQ(problems(R"("amounts":{"pods":"1500m"})"), R"(amounts.pods: Invalid value: "1500m": must be an integer)");
  EXPECT_EQ(problems(R"("amounts":{"example.com/gpu":"-500m"})"),
            R"([amounts.example.com/gpu: Invalid value: "-500m": must be greater than or equal to 0, )"
            R"(amounts.example.com/gpu: Invalid value: "-500m": must be an integer])");
}

TEST(RuleWords, AnAmountMayBeNegativeAndAFlagOff) {
  EXPECT_EQ(problems(R"("least":"0","open":true)"), "");
  EXPECT_EQ(problems(R"("least":"-1")"), "least: Forbidden: is less than nothing");
  EXPECT_EQ(problems(R"("open":false)"), "open: Forbidden: is never closed");
}

TEST(RuleWords, AnItemMayHaveToStandAlone) {
  EXPECT_EQ(problems(R"("modes":["Once"])"), "");
  EXPECT_EQ(problems(R"("modes":["Many","Once"])"), "modes: Forbidden: stands alone");
}

TEST(RuleWords, ARuleMayTakeThePlaceOfWhatWasSaidBefore) {
  FieldErrors errors;
  errors.required("other");
  errors.invalid("id", "a/b", "is no part of a path");
  words().check(normalized(R"("id":"a/b")"), nullptr, ObjectPart::kWhole, "", errors);
  EXPECT_EQ(errors.aggregate_message(), R"([other: Required value, id: Invalid value: "a/b": must not contain '/'])");
}

TEST(RuleWords, AnErrorOfAStructQuotesWhatTheRuleShows) {
  EXPECT_EQ(problems(R"("choice":{"one":"a"})"), "");
  EXPECT_EQ(problems(R"("choice":{})"), "choice: Invalid value: {}: needs one");
  EXPECT_EQ(problems(R"("choice":{"one":"a","other":"b"})"), R"(choice: Invalid value: {"One":"a","Other":"b"}: has both)");
}

TEST(RuleWords, ConditionsHaveTypeStatusTimeAndReason) {
  EXPECT_EQ(
      problems(R"("conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"R","message":""}])"),
      "");
  EXPECT_EQ(problems(R"("conditions":[{"type":"Ready","status":"Yes"}])"),
            "[conditions[0].status: Unsupported value: \"Yes\": supported values: \"False\", \"True\", \"Unknown\", "
            "conditions[0].lastTransitionTime: Required value, conditions[0].reason: Required value]");
  EXPECT_NE(problems(R"("conditions":[{"type":"A","reason":"no words"},{"type":"A","reason":"A,"}])").find("a condition reason must start"),
            std::string::npos);
  EXPECT_NE(problems(R"("conditions":[{"type":"A"},{"type":"A"}])").find("conditions[1].type: Duplicate value: \"A\""), std::string::npos);
}

}  // namespace
}  // namespace backplane
