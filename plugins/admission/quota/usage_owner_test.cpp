#include "quota/usage_owner.hpp"

#include <gtest/gtest.h>

namespace backplane::admission::quota {
namespace {

Object owned_by_recorder(std::string_view fields) {
  return json::parse(R"({"metadata":{"managedFields":[{"manager":"recorder","operation":"Update","apiVersion":"v1",)"
                     R"("time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":)" +
                     std::string(fields) + R"(,"subresource":"status"}]}})")
      .as_object();
}

std::string fields_of(const Object& quota, std::size_t entry) {
  return json::serialize(quota.at("metadata").at("managedFields").at(entry).at("fieldsV1"));
}

TEST(UsageOwner, TakesTheChangedAmountsOnly) {
  Object quota = owned_by_recorder(R"({"f:status":{"f:used":{".":{},"f:pods":{},"f:secrets":{}}}})");
  own_used(quota, {"pods"}, "2026-01-02T00:00:00Z");
  EXPECT_EQ(fields_of(quota, 0), R"({"f:status":{"f:used":{".":{},"f:secrets":{}}}})");
  EXPECT_EQ(fields_of(quota, 1), R"({"f:status":{"f:used":{"f:pods":{}}}})");
  own_used(quota, {"cpu"}, "2026-01-03T00:00:00Z");
  EXPECT_EQ(fields_of(quota, 1), R"({"f:status":{"f:used":{"f:cpu":{},"f:pods":{}}}})");
  EXPECT_EQ(quota.at("metadata").at("managedFields").as_array().size(), 2U);
}

TEST(UsageOwner, AnEmptiedMapIsKeptByItsOwner) {
  Object quota = owned_by_recorder(R"({"f:status":{"f:used":{".":{},"f:pods":{}}}})");
  own_used(quota, {"pods"}, "2026-01-02T00:00:00Z");
  EXPECT_EQ(fields_of(quota, 0), R"({"f:status":{"f:used":{}}})");
}

TEST(UsageOwner, AnEntryWithoutFieldsEnds) {
  Object quota = owned_by_recorder(R"({"f:status":{"f:used":{"f:pods":{}}}})");
  own_used(quota, {"pods"}, "2026-01-02T00:00:00Z");
  ASSERT_EQ(quota.at("metadata").at("managedFields").as_array().size(), 1U);
  EXPECT_EQ(quota.at("metadata").at("managedFields").at(0).at("manager"), "kube-apiserver");
}

TEST(UsageOwner, NothingChangesWithoutAChange) {
  Object quota = owned_by_recorder(R"({"f:status":{"f:used":{"f:pods":{}}}})");
  const Object before = quota;
  own_used(quota, {}, "2026-01-02T00:00:00Z");
  EXPECT_EQ(quota, before);
}

}  // namespace
}  // namespace backplane::admission::quota
