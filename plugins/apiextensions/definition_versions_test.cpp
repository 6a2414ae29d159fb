#include "definition_versions.hpp"

#include <gtest/gtest.h>

#include "backplane/types/json_reading.hpp"

namespace backplane::apiextensions {
namespace {

const GroupVersionKind kServed = {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"};

std::string converted(const GroupVersionKind& from, const GroupVersionKind& to, std::string_view spec) {
  Scheme scheme;
  EXPECT_TRUE(add_definition_conversions(scheme).ok());
  auto tree = read_json("{\"spec\":" + std::string(spec) + "}");
  EXPECT_TRUE(tree);
  const Status status = scheme.convert(from, to, tree->get_object());
  EXPECT_TRUE(status.ok()) << status.message();
  return to_json(*find(tree->get_object(), "spec"));
}
std::string written(std::string_view spec) { return converted(kServed, written_definition(), spec); }
std::string served(std::string_view spec) { return converted(written_definition(), kServed, spec); }

TEST(DefinitionVersionsTest, EqualMembersOfAllVersionsMoveToTheSpecInV1beta1) {
  constexpr std::string_view kV1 =
      R"({"group":"g","names":{"plural":"p"},"scope":"Cluster","versions":[)"
      R"({"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}},"additionalPrinterColumns":[{"name":"A","jsonPath":".a"}]},)"
      R"({"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}],"conversion":{"strategy":"None"}})";
  constexpr std::string_view kV1beta1 =
      R"({"group":"g","version":"v1","names":{"plural":"p"},"scope":"Cluster","validation":{"openAPIV3Schema":{"type":"object"}},"versions":[)"
      R"({"name":"v1","served":true,"storage":true,"additionalPrinterColumns":[{"name":"A","JSONPath":".a"}]},)"
      R"({"name":"v2","served":true,"storage":false}],"conversion":{"strategy":"None"},"preserveUnknownFields":false})";
  EXPECT_EQ(written(kV1), kV1beta1);
  const std::string back = served(kV1beta1);
  EXPECT_EQ(back.find("validation"), std::string::npos);
  EXPECT_EQ(written(back), kV1beta1);
}

TEST(DefinitionVersionsTest, TheMemberVersionBecomesTheOnlyEntryOfVersions) {
  EXPECT_EQ(
      served(R"({"group":"g","version":"v1","names":{},"scope":"Cluster","subresources":{"status":{}},"preserveUnknownFields":false})"),
      R"({"group":"g","names":{},"scope":"Cluster","preserveUnknownFields":false,)"
      R"("versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}}}]})");
}

TEST(DefinitionVersionsTest, AbsentMembersOfV1beta1GetItsDefaults) {
  EXPECT_EQ(served(R"({"group":"g","versions":[]})"), R"({"group":"g","versions":[],"scope":"Namespaced","preserveUnknownFields":true})");
  EXPECT_EQ(served(R"({"versions":[],"scope":"Cluster","conversion":{"strategy":"Webhook","webhookClientConfig":{}}})"),
            R"({"versions":[],"scope":"Cluster","conversion":{"strategy":"Webhook",)"
            R"("webhook":{"clientConfig":{},"conversionReviewVersions":["v1beta1"]}},"preserveUnknownFields":true})");
}

TEST(DefinitionVersionsTest, AWebhookOfAConversionChangesItsShape) {
  constexpr std::string_view kV1 =
      R"({"scope":"Cluster","versions":[],"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"u"},"conversionReviewVersions":["v1"]}}})";
  EXPECT_EQ(
      written(kV1),
      R"({"scope":"Cluster","versions":[],"conversion":{"strategy":"Webhook","webhookClientConfig":{"url":"u"},"conversionReviewVersions":["v1"]},"preserveUnknownFields":false})");
  EXPECT_EQ(
      served(written(kV1)),
      R"({"scope":"Cluster","versions":[],"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"u"},"conversionReviewVersions":["v1"]}},"preserveUnknownFields":false})");
}

}  // namespace
}  // namespace backplane::apiextensions
