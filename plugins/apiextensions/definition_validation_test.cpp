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

TEST(DefinitionValidationTest, DefaultsNeedPruning) {
  Object crd = with_version(R"({"schema":{"openAPIV3Schema":{"properties":{"spec":{"properties":{"color":{"default":""}}}}}}})");
  crd.at("spec").as_object()["preserveUnknownFields"] = true;
  EXPECT_NE(problems(crd).find("spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema"),
            std::string::npos);
}

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

Object with_webhook(const std::string& changes) {
  Value crd(definition(R"({"spec":{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://example.com/convert"},
    "conversionReviewVersions":["v1"]}}}})"));
  merge_patch(crd, json::parse("{\"spec\":{\"conversion\":{\"webhook\":" + changes + "}}}"));
  return crd.as_object();
}

TEST(DefinitionValidationTest, WebhooksSayHowTheyAreReached) {
  EXPECT_EQ(problems(with_webhook("{}")), "");
  EXPECT_EQ(problems(with_webhook(R"({"clientConfig":null})")),
            "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook");
  EXPECT_EQ(problems(with_webhook(R"({"clientConfig":{"service":{"namespace":"a","name":"b","port":443}}})")),
            "spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required");
  EXPECT_EQ(problems(with_webhook(R"({"clientConfig":{"url":"http://example.com"}})")),
            "spec.conversion.webhookClientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: "
            "https://host[/path]");
  EXPECT_EQ(problems(with_webhook(R"({"clientConfig":{"url":null,"service":{"namespace":"a","name":"b","path":"/x//y","port":443}}})")),
            "spec.conversion.webhookClientConfig.service.path: Invalid value: \"/x//y\": segment[1] may not be empty");
}

TEST(DefinitionValidationTest, WebhooksNeedAReviewThatIsKnown) {
  EXPECT_EQ(problems(with_webhook(R"({"conversionReviewVersions":[]})")), "spec.conversion.conversionReviewVersions: Required value");
  EXPECT_EQ(problems(with_webhook(R"({"conversionReviewVersions":["v2","v2"]})")),
            "[spec.conversion.conversionReviewVersions[1]: Invalid value: \"v2\": duplicate version, "
            "spec.conversion.conversionReviewVersions: Invalid value: [\"v2\",\"v2\"]: must include at least one of v1, v1beta1]");
  // Unknown values of the old object remain allowed.
  const Object old = with_webhook(R"({"conversionReviewVersions":["v3"]})");
  EXPECT_EQ(problems(with_webhook(R"({"conversionReviewVersions":["v2"]})"), &old), "");
}

TEST(DefinitionValidationTest, AuthoritiesAreLookedAtOnceTheDefinitionIsEstablished) {
  const Object broken = with_webhook(R"({"clientConfig":{"caBundle":"bm8gUEVN"}})");
  EXPECT_EQ(problems(broken), "");
  Object old = with_webhook("{}");
  EXPECT_EQ(problems(broken, &old), "");
  set_condition(old, {"Established", "True", "InitialNamesAccepted", ""});
  EXPECT_EQ(problems(broken, &old),
            "spec.conversion.webhookClientConfig.caBundle: Invalid value: \"bm8gUEVN\": unable to load root certificates: unable to parse "
            "bytes as PEM block");
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
  EXPECT_EQ(problems(with_version(R"({"deprecated":true,"deprecationWarning":"gehe \"über\" C:\\ 日本"})")), "");
  EXPECT_EQ(problems(with_version("{\"deprecationWarning\":\"\xC2\x80\"}")),
            "spec.versions[0].deprecationWarning: Invalid value: \"\xC2\x80\": can only be set for deprecated versions");
  // Regression: only ASCII was checked.
  EXPECT_EQ(problems(with_version(R"({"deprecated":true,"deprecationWarning":"ü\u00a0b"})")),
            "spec.versions[0].deprecationWarning: Invalid value: \"ü\xC2\xA0"
            R"(b": must only contain printable UTF-8 characters; non-printable )"
            "character found at index 2");
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
