#include "definition_validation.hpp"

#include <gtest/gtest.h>

#include "definition.hpp"
#include "definition_strategy.hpp"

namespace backplane::apiextensions {
namespace {

Object definition(const std::string& changes = "{}") {
  Value crd =
      json::parse(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"foos.cr.example.com"},
    "spec":{"group":"cr.example.com","scope":"Namespaced","names":{"plural":"foos","singular":"foo","kind":"Foo","listKind":"FooList"},
    "conversion":{"strategy":"None"},
    "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",
      "properties":{"size":{"type":"integer"},"color":{"type":"string"}}}}}},"subresources":{"status":{},
      "scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.replicas"}},
      "additionalPrinterColumns":[{"name":"Size","type":"integer","jsonPath":".spec.size"}],"selectableFields":[{"jsonPath":".spec.color"}]}]},
    "status":{"storedVersions":["v1"]}})");
  merge_patch(crd, json::parse(changes));
  return crd.as_object();
}

// The first version with changes; lists are replaced whole by merge patches.
Object with_version(const std::string& changes) {
  Object crd = definition();
  Value& version = crd.at("spec").as_object().at("versions").as_array().at(0);
  merge_patch(version, json::parse(changes));
  return crd;
}

std::string problems(const Object& crd, const Object* old = nullptr) {
  FieldErrors errors;
  validate_definition(crd, old, errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(DefinitionValidationTest, AcceptsAWholeDefinition) { EXPECT_EQ(problems(definition()), ""); }

TEST(DefinitionValidationTest, GroupsAreDomains) {
  EXPECT_EQ(problems(definition(R"({"spec":{"group":""}})")), "spec.group: Required value");
  EXPECT_EQ(problems(definition(R"({"spec":{"group":"other"}})")),
            R"(spec.group: Invalid value: "other": should be a domain with at least one dot)");
}

TEST(DefinitionValidationTest, VersionsArePrintedAsUpstreamsTypeHasThem) {
  EXPECT_EQ(problems(definition(R"({"spec":{"versions":null},"status":{"storedVersions":["v1"]}})"))
                .substr(0, std::string("[spec.versions: Invalid value: null: must have exactly one").size()),
            "[spec.versions: Invalid value: null: must have exactly one");
  Object crd = with_version(R"({"storage":false,"subresources":null,"selectableFields":null,"additionalPrinterColumns":null})");
  const std::string expected =
      R"(spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,)"
      R"("Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one)";
  EXPECT_EQ(problems(crd).substr(0, expected.size()), expected);
}

TEST(DefinitionValidationTest, TheFirstVersionsNameIsLookedAtTwice) {
  const std::string all = problems(with_version(R"({"name":"V 1"})"));
  EXPECT_NE(all.find("spec.versions[0].name: Invalid value: \"V 1\""), std::string::npos);
  EXPECT_NE(all.find("spec.version: Invalid value: \"V 1\""), std::string::npos);
}

TEST(DefinitionValidationTest, ScopeIsOneOfTwo) {
  EXPECT_EQ(problems(definition(R"({"spec":{"scope":"x"}})")),
            R"(spec.scope: Unsupported value: "x": supported values: "Cluster", "Namespaced")");
}

TEST(DefinitionValidationTest, NamesAreLabelsAndKindsMayHaveCapitals) {
  EXPECT_NE(problems(definition(R"({"spec":{"names":{"kind":"Bad Kind"}}})")).find("may have mixed case, but should otherwise match: "),
            std::string::npos);
  EXPECT_EQ(problems(definition(R"({"spec":{"names":{"listKind":"Foo"}}})")),
            R"(spec.names.listKind: Invalid value: "Foo": kind and listKind may not be the same)");
}

TEST(DefinitionValidationTest, AConversionThatIsNotMadeIsRefusedRatherThanIgnored) {
  const std::string webhook = R"("conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://example.com/convert"},
    "conversionReviewVersions":["v1"]}})";
  EXPECT_EQ(problems(definition("{\"spec\":{" + webhook + "}}")), "") << "one version needs no conversion";
  const std::string versions = R"("versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},
    {"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}])";
  EXPECT_EQ(problems(definition("{\"spec\":{" + versions + "," + webhook + "}}")),
            "spec.conversion.strategy: Forbidden: conversion webhooks are not called by this server: several versions need None");
  EXPECT_EQ(problems(definition("{\"spec\":{" + versions + "}}")), "");
}

TEST(DefinitionValidationTest, ExactlyOneVersionIsStored) {
  EXPECT_NE(problems(with_version(R"({"storage":false})")).find("must have exactly one version marked as storage version"),
            std::string::npos);
  EXPECT_NE(problems(definition(R"({"spec":{"versions":[]}})"))
                .find("spec.versions: Invalid value: []: must have exactly one version marked as storage version"),
            std::string::npos);
}

TEST(DefinitionValidationTest, StoredVersionsMustStay) {
  const std::string text = problems(definition(R"({"status":{"storedVersions":["v0","v1"]}})"));
  EXPECT_EQ(
      text.rfind("status.storedVersions[0]: Invalid value: \"v0\": missing from spec.versions; v0 was previously a storage version", 0), 0u)
      << text;
}

TEST(DefinitionValidationTest, ScalePathsStartInSpecAndStatus) {
  EXPECT_EQ(problems(with_version(R"({"subresources":{"scale":{"specReplicasPath":".status.x"}}})")),
            R"(spec.subresources.scale.specReplicasPath: Invalid value: ".status.x": should be a json path under .spec)");
  EXPECT_EQ(problems(with_version(R"({"subresources":{"scale":{"statusReplicasPath":""}}})")),
            "spec.subresources.scale.statusReplicasPath: Required value");
}

TEST(DefinitionValidationTest, ColumnsHaveKnownTypesAndPaths) {
  EXPECT_EQ(problems(with_version(R"({"additionalPrinterColumns":[{"name":"A","type":"x","jsonPath":"spec"}]})")),
            R"([spec.additionalPrinterColumns[0].type: Invalid value: "x": must be one of boolean,date,integer,number,string, )"
            R"(spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .])");
}

TEST(DefinitionValidationTest, SelectableFieldsAreScalarsOfTheSchema) {
  EXPECT_EQ(problems(with_version(R"({"selectableFields":[{"jsonPath":".spec"}]})")),
            R"(spec.selectableFields[0].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. )"
            "Enum string fields and strings with formats are allowed.");
  EXPECT_NE(problems(with_version(R"({"selectableFields":[{"jsonPath":".spec.none"}]})")).find("is an invalid path"), std::string::npos);
}

TEST(DefinitionValidationTest, DeprecationTextsNeedADeprecatedVersion) {
  EXPECT_EQ(problems(with_version(R"({"deprecationWarning":"old"})")),
            R"(spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions)");
}

TEST(DefinitionValidationTest, ProtectedGroupsNeedAnApproval) {
  const std::string text = problems(definition(R"({"spec":{"group":"x.k8s.io"}})"));
  EXPECT_EQ(
      text.rfind("metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation", 0), 0u)
      << text;
  EXPECT_EQ(
      problems(definition(R"({"spec":{"group":"x.k8s.io"},"metadata":{"annotations":{"api-approved.kubernetes.io":"https://a.b/c"}}})")),
      "");
}

TEST(DefinitionValidationTest, EstablishedNamesAndScopeStay) {
  Object old = definition();
  set_condition(old, {"Established", "True", "InitialNamesAccepted", "the initial names have been accepted"});
  EXPECT_EQ(problems(definition(R"({"spec":{"scope":"Cluster"}})"), &old), R"(spec.scope: Invalid value: "Cluster": field is immutable)");
  EXPECT_EQ(problems(definition(R"({"spec":{"names":{"plural":"bars"}}})"), &old),
            R"(spec.names.plural: Invalid value: "bars": field is immutable)");
}

TEST(DefinitionStrategyTest, FillsWhatFollowsFromTheKind) {
  Object crd =
      json::parse(R"({"metadata":{"name":"foos.cr.example.com"},"spec":{"group":"cr.example.com","names":{"plural":"foos","kind":"Foo"},
    "versions":[{"name":"v1","served":true,"storage":true}]}})")
          .as_object();
  RequestContext context;
  make_definition_strategy()->apply_defaults(crd);
  make_definition_strategy()->prepare_for_create(context, crd);
  EXPECT_EQ(get_string_path(crd, "spec.names.singular"), "foo");
  EXPECT_EQ(get_string_path(crd, "spec.names.listKind"), "FooList");
  EXPECT_EQ(get_string_path(crd, "spec.conversion.strategy"), "None");
  EXPECT_EQ(to_json(*find_path(crd, "status.storedVersions")), R"(["v1"])");
}

TEST(DefinitionStrategyTest, NamesFollowFromPluralAndGroup) {
  RequestContext context;
  FieldErrors errors;
  make_definition_strategy()->validate(context, definition(R"({"metadata":{"name":"a.b","generateName":"gen-"}})"), errors);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors.list()[0].field, "metadata.generateName");
  EXPECT_EQ(errors.list()[1].text, R"(Invalid value: "a.b": must be spec.names.plural+"."+spec.group)");
}

TEST(DefinitionStrategyTest, ADeleteMarksWithFinalizerAndCondition) {
  Object crd = definition();
  const auto strategy = make_definition_strategy();
  EXPECT_TRUE(strategy->held_by_other_finalizers(crd));
  strategy->mark_deleting(crd);
  ObjectMeta(crd).set("deletionTimestamp", "2026-01-01T00:00:00Z");
  EXPECT_TRUE(has_finalizer(crd, kCleanupFinalizer));
  EXPECT_TRUE(condition_is_true(crd, "Terminating"));
  EXPECT_FALSE(strategy->held_by_other_finalizers(crd));
}

}  // namespace
}  // namespace backplane::apiextensions
