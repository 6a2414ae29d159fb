#include <gtest/gtest.h>

#include "kinds.hpp"

namespace backplane::internal {
namespace {

const kit::KindRow& row() {
  static const kit::KindRow row = internal_group()->kind("StorageVersion");
  return row;
}
std::string name_problems(std::string_view name) {
  FieldErrors errors;
  RequestContext context;
  row().strategy()->validate(context, Object{{"metadata", Object{{"name", name}}}}, errors);
  return errors.empty() ? "" : errors.aggregate_message();
}
std::string status_problems(std::string_view status) {
  static const auto sets = internal_schemas();
  const Schema* schema = sets->front()->find(GroupVersionKind{"internal.apiserver.k8s.io", "v1alpha1", "StorageVersion"});
  Value value = json::parse(R"({"metadata":{"name":"core.pods"},"spec":{},"status":)" + std::string(status) + "}");
  EXPECT_TRUE(schema->normalize(value, nullptr).ok());
  FieldErrors errors;
  RequestContext context;
  const Object& object = value.get_object();
  schema->check(object, &object, ObjectPart::kStatus, "", errors);
  row().status_strategy(row().strategy())->validate_update(context, object, object, errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(StorageVersions, AreNamedAfterGroupAndResource) {
  EXPECT_EQ(name_problems("apps.deployments"), "");
  EXPECT_EQ(name_problems("pods"), "metadata.name: Invalid value: \"pods\": name must be in the form of <group>.<resource>");
  EXPECT_TRUE(name_problems("core.Pods").starts_with("metadata.name: Invalid value: \"core.Pods\": the resource segment a DNS-1035 label"));
}

TEST(StorageVersions, ServersReadWhatTheyWriteAndServe) {
  EXPECT_EQ(
      status_problems(
          R"({"storageVersions":[{"apiServerID":"a","encodingVersion":"v1","decodableVersions":["v1"]}],"commonEncodingVersion":"v1"})"),
      "");
  EXPECT_EQ(
      status_problems(
          R"({"storageVersions":[{"apiServerID":"a","encodingVersion":"v2","decodableVersions":["v1","v3"],"servedVersions":["v4"]}],
                                "commonEncodingVersion":"v2"})"),
      "[status.storageVersions[0].decodableVersions: Invalid value: [\"v1\",\"v3\"]: decodableVersions must include encodingVersion v2, "
      "status.storageVersions[0].servedVersions[0]: Invalid value: \"v4\": individual served version : v4 must be included in "
      "decodableVersions : [v1 v3]]");
  EXPECT_TRUE(
      status_problems(
          R"({"storageVersions":[{"apiServerID":"a","encodingVersion":"V1","decodableVersions":["V1"]}],"commonEncodingVersion":"V1"})")
          .starts_with("[status.storageVersions[0].encodingVersion: Invalid value: \"V1\": version part: a DNS-1035 label"));
}

TEST(StorageVersions, HaveACommonVersionWhereServersAgree) {
  constexpr std::string_view kTwo =
      R"({"storageVersions":[{"apiServerID":"a","encodingVersion":"v1","decodableVersions":["v1"]},
                             {"apiServerID":"b","encodingVersion":"v2","decodableVersions":["v2"]}])";
  EXPECT_EQ(status_problems(std::string(kTwo) + "}"), "");
  EXPECT_TRUE(status_problems(std::string(kTwo) + R"(,"commonEncodingVersion":"v1"})")
                  .starts_with("status.commonEncodingVersion: Invalid value: \"v1\": should be nil"));
  EXPECT_EQ(status_problems(R"({"storageVersions":[{"apiServerID":"a","encodingVersion":"v1","decodableVersions":["v1"]}]})"),
            "status.commonEncodingVersion: Invalid value: null: the common encoding version is v1");
}

TEST(StorageVersions, ReportErrorsOfConditionsForTheStatus) {
  EXPECT_EQ(
      status_problems(
          R"({"conditions":[{"type":"A","status":"True","reason":"","message":"m"},{"type":"A","status":"True","reason":"r","message":"m"}]})"),
      "[status[0].reason: Required value, status[1].type: Invalid value: \"A\": the type of the condition is not unique, it also appears "
      "in conditions[0]]");
}

}  // namespace
}  // namespace backplane::internal
