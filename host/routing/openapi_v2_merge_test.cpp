#include "routing/openapi_v2_merge.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

Object part(const std::string& group, const std::string& definition) {
  return json::parse(R"({"paths":{"/apis/)" + group + R"(/v1/x":{"get":{"$ref":"#/definitions/T"}}},"definitions":{"T":)" + definition +
                     "}}")
      .as_object();
}

std::string reference(const Object& paths) {
  return std::string(get_string(paths.begin()->value().as_object().at("get").as_object(), "$ref"));
}

TEST(OpenApiV2Merge, EqualDefinitionsAreSharedAndDifferentOnesRenamed) {
  OpenApiV2Merge merge([](std::string_view) { return false; });
  EXPECT_EQ(reference(merge.add(part("a", R"({"type":"object","x-kubernetes-group-version-kind":[1]})"))), "#/definitions/T");
  EXPECT_EQ(reference(merge.add(part("b", R"({"type":"object","x-kubernetes-group-version-kind":[2]})"))), "#/definitions/T");
  EXPECT_EQ(reference(merge.add(part("c", R"({"type":"string","properties":{"own":{"$ref":"#/definitions/T"}}})"))), "#/definitions/T_v2");
  EXPECT_EQ(reference(merge.add(part("d", R"({"type":"integer"})"))), "#/definitions/T_v3");
  EXPECT_EQ(to_json(merge.definitions()),
            R"({"T":{"type":"object","x-kubernetes-group-version-kind":[1,2]},)"
            R"("T_v2":{"type":"string","properties":{"own":{"$ref":"#/definitions/T_v2"}}},"T_v3":{"type":"integer"}})");
}

TEST(OpenApiV2Merge, ADefinitionOfThisServerKeepsItsNameUnlessItIsOfALibrary) {
  OpenApiV2Merge merge([](std::string_view name) { return name == "T" || name.starts_with("io.k8s."); });
  EXPECT_EQ(reference(merge.add(part("a", R"({"type":"object"})"))), "#/definitions/T_v2");
  Object library = json::parse(R"({"paths":{"/p":{"get":{"$ref":"#/definitions/io.k8s.M"}}},"definitions":{"io.k8s.M":{}}})").as_object();
  EXPECT_EQ(reference(merge.add(std::move(library))), "#/definitions/io.k8s.M");
}

TEST(OpenApiV2Merge, ParametersAreRenamedInTheSameWay) {
  OpenApiV2Merge merge([](std::string_view) { return false; });
  const auto with = [](const std::string& parameter) {
    return json::parse(R"({"paths":{"/p":{"get":{"$ref":"#/parameters/P"}}},"parameters":{"P":)" + parameter + "}}").as_object();
  };
  EXPECT_EQ(reference(merge.add(with(R"({"name":"a"})"))), "#/parameters/P");
  EXPECT_EQ(reference(merge.add(with(R"({"name":"b"})"))), "#/parameters/P_v2");
  EXPECT_EQ(to_json(merge.parameters()), R"({"P":{"name":"a"},"P_v2":{"name":"b"}})");
}

}  // namespace
}  // namespace backplane
