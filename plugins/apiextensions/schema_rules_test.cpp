#include "schema_rules.hpp"

#include <gtest/gtest.h>

#include "schema_warnings.hpp"

namespace backplane::apiextensions {
namespace {

std::string problems(const std::string& schema) {
  FieldErrors errors;
  validate_schema(json::parse(schema).as_object(), "s", false, {}, errors);
  return errors.empty() ? "" : errors.aggregate_message();
}
std::string problems_of_a(const std::string& a) { return problems(R"({"type":"object","properties":{"a":)" + a + "}}"); }

TEST(SchemaRulesTest, TheRootIsAnObject) {
  EXPECT_EQ(problems(R"({"type":"string"})"), R"(s.type: Invalid value: "string": must be object at the root)");
}

TEST(SchemaRulesTest, EveryPartHasAType) {
  EXPECT_EQ(problems_of_a("{}"), "s.properties[a].type: Required value: must not be empty for specified object fields");
  EXPECT_EQ(problems_of_a(R"({"type":"array"})"), "s.properties[a].items: Required value: must be specified");
  EXPECT_EQ(
      problems_of_a(R"({"type":"nope"})"),
      R"(s.properties[a].type: Unsupported value: "nope": supported values: "array", "boolean", "integer", "number", "object", "string")");
  EXPECT_EQ(problems_of_a(R"({"x-kubernetes-preserve-unknown-fields":true})"), "");
  EXPECT_EQ(problems_of_a(R"({"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]})"), "");
}

TEST(SchemaRulesTest, PropertiesAndAdditionalPropertiesExcludeEachOther) {
  EXPECT_EQ(problems_of_a(R"({"type":"object","additionalProperties":{"type":"string"},"properties":{"b":{"type":"string"}}})"),
            "s.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive");
}

TEST(SchemaRulesTest, ListsOfTypeMapNeedKeysAndObjects) {
  EXPECT_EQ(problems_of_a(R"({"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"map"})"),
            "[s.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map, "
            R"(s.properties[a].items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map])");
}

// Regression: empty texts and lists counted as no default.
TEST(SchemaRulesTest, ADefaultMayBeEmpty) {
  EXPECT_EQ(problems(R"({"type":"object","properties":{"kind":{"type":"string","default":""}}})"),
            R"([s.properties[kind].default: Invalid value: "": must result in valid metadata: kind: Invalid value: "": must not be empty, )"
            "s.properties[kind].default: Forbidden: must not be set in top-level kind]");
  EXPECT_EQ(problems_of_a(R"({"type":"array","items":{"type":"string"},"not":{"default":[]}})"),
            "s.properties[a].not.default: Forbidden: must be undefined to be structural");
}

TEST(SchemaRulesTest, DefaultsDeclareWhatTheyHoldAndKeepTheRules) {
  EXPECT_EQ(problems_of_a(R"({"type":"integer","default":{"b":1}})"),
            R"([s.properties[a].default: Invalid value: {"b":1}: must not have unknown fields, )"
            R"(s.properties[a].default: Invalid value: "object":  in body must be of type integer: "object"])");
  // Regression: if a default had members that are pruned, its rules did not run.
  EXPECT_NE(problems_of_a(R"x({"type":"object","properties":{"c":{"type":"string"}},"default":{"b":1},
    "x-kubernetes-validations":[{"rule":"has(self.c)"}]})x")
                .find("has(self.c)"),
            std::string::npos);
}

TEST(SchemaRulesTest, AListOfSchemasIsLookedAtThoughItIsRefused) {
  EXPECT_EQ(problems_of_a(R"({"type":"array","items":[{"x-kubernetes-list-type":"set"}]})"),
            "[s.properties[a].items: Forbidden: items must be a schema object and not an array, "
            "s.properties[a].items[0].type: Required value: must be array if x-kubernetes-list-type is specified]");
}

TEST(SchemaRulesTest, RefusesWhatKubernetesDoesNotTake) {
  EXPECT_EQ(problems(R"({"type":"object","$ref":"#/x"})"), "s.$ref: Forbidden: $ref is not supported");
  EXPECT_EQ(problems_of_a(R"({"type":"string","uniqueItems":true})"),
            "s.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
  EXPECT_EQ(problems(R"({"type":"object","x-kubernetes-preserve-unknown-fields":false})"),
            "s.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined");
  EXPECT_EQ(problems(R"({"type":"object","nullable":true})"), "s.nullable: Forbidden: nullable cannot be true at the root");
}

TEST(SchemaRulesTest, MetadataMayOnlyRestrictNames) {
  EXPECT_EQ(problems(R"({"type":"object","properties":{"metadata":{"type":"object","properties":{"labels":{"type":"object"}}}}})"),
            "s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly "
            "specified");
  EXPECT_EQ(
      problems(R"({"type":"object","properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","pattern":"^a"}}}}})"),
      "");
}

TEST(SchemaRulesTest, JunctionsNeedTheirPropertiesOutside) {
  EXPECT_EQ(problems(R"({"type":"object","anyOf":[{"properties":{"b":{"type":"string"}}}]})"),
            "[s.anyOf[0].properties[b].type: Forbidden: must be empty to be structural, "
            "s.properties[b]: Required value: because it is defined in s.anyOf[0].properties[b]]");
  // Only junctions of the root are checked. Regression: such definitions were refused, unlike upstream.
  EXPECT_EQ(problems(R"({"type":"object","properties":{"p":{"type":"string","oneOf":[{"properties":{"b":{"pattern":"a"}}}]}}})"), "");
}

TEST(SchemaRulesTest, EmbeddedResourcesNeedPropertiesOrToKeepUnknownOnes) {
  EXPECT_EQ(problems_of_a(R"({"type":"object","x-kubernetes-embedded-resource":true})"),
            "s.properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without "
            "x-kubernetes-preserve-unknown-fields");
}

TEST(SchemaRulesTest, RulesMustBeWritten) {
  EXPECT_EQ(problems_of_a(R"({"type":"string","x-kubernetes-validations":[{"rule":" "}]})"),
            "s.properties[a].x-kubernetes-validations[0].rule: Required value: rule is not specified");
}

TEST(SchemaRulesTest, RulesMustCompile) {
  EXPECT_EQ(
      problems_of_a(R"({"type":"integer","x-kubernetes-validations":[{"rule":"self < 9"},{"rule":"self > 1 ? 'a' : 'b'"}]})"),
      "s.properties[a].x-kubernetes-validations[1].rule: Invalid value: {\"Rule\":\"self \\u003e 1 ? 'a' : 'b'\",\"Message\":\"\","
      "\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: cel expression must evaluate to a bool");
  EXPECT_NE(
      problems_of_a(R"({"type":"integer","x-kubernetes-validations":[{"rule":"self.size < 9"}]})").find("compilation failed: ERROR: "),
      std::string::npos);
  EXPECT_NE(problems_of_a(R"({"type":"integer","x-kubernetes-validations":[{"rule":"self < 9","messageExpression":"self"}]})")
                .find("messageExpression must evaluate to a string"),
            std::string::npos);
}

TEST(SchemaRulesTest, OldValuesAreThereWhereTheyAreKnown) {
  const std::string rule = R"("type":"integer","x-kubernetes-validations":[{"rule":"self >= oldSelf"}])";
  EXPECT_EQ(problems_of_a("{" + rule + "}"), "");
  EXPECT_EQ(problems_of_a(R"({"type":"array","maxItems":3,"items":{)" + rule + "}}"),
            "s.properties[a].items.x-kubernetes-validations[0].rule: Invalid value: \"self >= oldSelf\": oldSelf cannot be used on the "
            "uncorrelatable portion of the schema within s.properties[a]");
  EXPECT_EQ(
      problems_of_a(R"({"type":"integer","x-kubernetes-validations":[{"rule":"self > 1","optionalOldSelf":true}]})"),
      "s.properties[a].x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule");
}

TEST(SchemaRulesTest, RulesMayNotCostTooMuch) {
  const std::string all = problems_of_a(R"x({"type":"array","items":{"type":"array","items":{"type":"string"}},
    "x-kubernetes-validations":[{"rule":"self.all(x, self.all(y, x == y))"}]})x");
  EXPECT_NE(
      all.find(
          "s.properties[a].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x "
          "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"),
      std::string::npos)
      << all;
  EXPECT_NE(all.find("s: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget"),
            std::string::npos);
  EXPECT_NE(all.find("contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"), std::string::npos);
}

TEST(SchemaRulesTest, FieldPathsOfRulesMustLeadSomewhere) {
  const auto problem = [](const std::string& path) {
    const std::string all =
        problems_of_a(R"({"type":"object","properties":{"b":{"type":"object","additionalProperties":{"type":"string"}}},)"
                      R"("x-kubernetes-validations":[{"rule":"true","fieldPath":")" +
                      path + "\"}]}");
    return all.find("must be a valid path") != std::string::npos;
  };
  EXPECT_FALSE(problem(".b"));
  EXPECT_FALSE(problem(".b.key"));
  EXPECT_FALSE(problem(".b['a.b']"));
  EXPECT_TRUE(problem("b"));
  EXPECT_TRUE(problem(".c"));
  EXPECT_TRUE(problem(".b['a"));
  EXPECT_TRUE(problem(".b.c.d"));
}

TEST(SchemaRulesTest, AnUnsupportedKeywordIsReportedOnce) {
  EXPECT_EQ(problems(R"({"type":"object","properties":{"a":{"type":"string","definitions":{"x":{"type":"string"}}},"b":{}}})"),
            "s.properties[a].definitions: Forbidden: definitions is not supported");
  EXPECT_EQ(problems(R"({"type":"object","$schema":"x"})"), R"(s: Invalid value: "": OpenAPIV3Schema 'schema' is not supported)");
}

TEST(SchemaRulesTest, AForbiddenKeywordOfTheRootIsReportedWithTheWholeRoot) {
  FieldErrors errors;
  validate_schema(json::parse(R"({"type":"object","oneOf":[{}],"x-kubernetes-validations":[]})").as_object(), "s", true, {}, errors);
  const std::string all = errors.aggregate_message();
  EXPECT_TRUE(all.starts_with(R"(s: Invalid value: {"ID":"","Schema":"","Ref":null,"Description":"","Type":"object","Nullable":false,)"))
      << all;
  EXPECT_NE(all.find(R"("OneOf":[{"ID":"",)"), std::string::npos);
  EXPECT_NE(all.find(R"("XMapType":null,"XValidations":[]}: only [Description Type)"), std::string::npos);
}

// Regression: such defaults in a list were accepted, and the root was not treated as a resource.
TEST(SchemaRulesTest, DefaultsMustBeWhatIsLeftOfThemOncePruned) {
  const std::string prefix = "s.properties[a].default: Invalid value: ";
  EXPECT_EQ(problems_of_a(R"({"type":"array","default":[{"b":1}],"items":{"type":"object"}})"),
            prefix + R"([{"b":1}]: must not have unknown fields)");
  EXPECT_EQ(problems_of_a(R"({"type":"object","default":{"kind":"x"}})"), prefix + R"({"kind":"x"}: must not have unknown fields)");
  EXPECT_EQ(problems_of_a(R"({"type":"object","default":{"b":1},"x-kubernetes-preserve-unknown-fields":true})"), "");
  EXPECT_EQ(problems(R"({"type":"object","default":{}})"), "[s.default.apiVersion: Required value, s.default.kind: Required value]");
}

TEST(SchemaRulesTest, ADefaultOfIntOrStringMayBeAnythingThatIsNotPruned) {
  EXPECT_EQ(problems_of_a(R"({"x-kubernetes-int-or-string":true,"default":true})"), "");
  EXPECT_EQ(problems_of_a(R"({"x-kubernetes-int-or-string":true,"default":{"b":1}})"),
            R"(s.properties[a].default: Invalid value: {"b":1}: must not have unknown fields)");
  EXPECT_EQ(problems_of_a(R"({"x-kubernetes-int-or-string":true,"pattern":"^b","default":"a"})"),
            R"(s.properties[a].default: Invalid value: "a":  in body should match '^b')");
}

TEST(SchemaRulesTest, AnEmptyListTypeInsideAnAlternativeIsOne) {
  EXPECT_EQ(problems_of_a(R"({"type":"array","items":{"type":"string"},"oneOf":[{"x-kubernetes-list-type":""}]})").substr(0, 104),
            "[s.properties[a].oneOf[0].x-kubernetes-list-type: Forbidden: must be undefined to be structural, s.prope");
}

TEST(SchemaRulesTest, DefaultsOfAnUnknownTypeAreReportedToo) {
  EXPECT_EQ(problems_of_a(R"({"type":"nope","default":5})"),
            "[s.properties[a].default: Invalid value: \"integer\":  in body must be of type nope: \"integer\", "
            "s.properties[a].type: Unsupported value: \"nope\": supported values: \"array\", \"boolean\", \"integer\", \"number\", "
            "\"object\", \"string\"]");
}

TEST(SchemaRulesTest, DefaultsMustFitTheirSchema) {
  EXPECT_EQ(problems_of_a(R"({"type":"string","default":5})"),
            R"(s.properties[a].default: Invalid value: "integer":  in body must be of type string: "integer")");
  EXPECT_EQ(problems_of_a(R"({"type":"string","default":"x"})"), "");
}

TEST(SchemaRulesTest, DefaultsOfEmbeddedResourcesMustBeReadable) {
  const auto embedded = [](const std::string& words) {
    return problems_of_a(R"({"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,)" + words +
                         "}");
  };
  EXPECT_EQ(embedded(R"("default":{"kind":5})"), "s.properties[a].default.kind: Invalid value: 5: must be a string");
  EXPECT_EQ(embedded(R"("default":{"metadata":5})"),
            "s.properties[a].default.metadata: Invalid value: 5: json: cannot unmarshal number into Go value of type v1.ObjectMeta");
  EXPECT_EQ(embedded(R"("default":{"kind":"K"})"), "s.properties[a].default.apiVersion: Required value");
  EXPECT_EQ(embedded(R"("properties":{"kind":{"type":"string","default":5}})"),
            "s.properties[a].properties[kind].default: Invalid value: 5: must result in valid metadata: kind: Invalid value: 5: must be a "
            "string");
  EXPECT_EQ(embedded(R"("properties":{"metadata":{"type":"object","default":{"name":"x"}}})"), "");
}

TEST(SchemaRulesTest, OnlyTheEmptyReferenceOfAnAlternativeIsReported) {
  EXPECT_EQ(problems_of_a(R"({"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer","$ref":""},{"type":"string"}]})"),
            "s.properties[a].anyOf[0].$ref: Forbidden: $ref is not supported");
}

TEST(SchemaWarningsTest, NamesUnknownFormatsOnce) {
  const Object crd = json::parse(R"({"spec":{"versions":[{"schema":{"openAPIV3Schema":{"type":"object","properties":{
    "a":{"type":"string","format":"zip"},"b":{"type":"string","format":"date-time"}}}}}]}})")
                         .as_object();
  EXPECT_EQ(schema_warnings(crd, nullptr), (std::vector<std::string>{R"(unrecognized format "zip")"}));
  EXPECT_TRUE(schema_warnings(crd, &crd).empty());
}

// Regression: formats of other types were accepted, dashes were significant, and sets of objects caused warnings.
TEST(SchemaRulesTest, FormatsBelongToTypes) {
  const Object crd = json::parse(R"({"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object","properties":{
    "a":{"type":"string","format":"int32"},"b":{"type":"integer","format":"date"},"c":{"type":"string","format":"da-te"},
    "d":{"type":"number","format":"double"},"e":{"type":"integer","format":"int64"},"f":{"type":"object","format":"date"},
    "g":{"x-kubernetes-int-or-string":true,"format":"k8s-short-name"},
    "h":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"object","x-kubernetes-map-type":"atomic"}}}}}}]}})")
                         .as_object();
  EXPECT_EQ(schema_warnings(crd, nullptr),
            (std::vector<std::string>{R"(unrecognized format "int32")", R"(unrecognized format "date")", R"(unrecognized format "date")"}));
}

}  // namespace
}  // namespace backplane::apiextensions
