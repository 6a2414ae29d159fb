#include "registry/fields/managers.hpp"

#include <gtest/gtest.h>

#include "engine/object_fields.hpp"
#include "registry/fields/entry_update.hpp"

namespace backplane::registry {
namespace {

Value tree(std::string_view text) { return json::parse(text); }

std::string entry(const std::string& manager, const std::string& operation, const std::string& rest = "",
                  const std::string& fields = R"({"f:data":{}})") {
  return R"({"manager":")" + manager + R"(","operation":")" + operation + R"(","apiVersion":"v1",)" + rest +
         R"("fieldsType":"FieldsV1","fieldsV1":)" + fields + "}";
}
std::string at(const std::string& time) { return R"("time":")" + time + R"(",)"; }

TEST(ManagersTest, AnApplierIsTheSameInEveryVersionAndAnUpdaterIsNot) {
  EXPECT_EQ((Manager{"m", true, "v1", ""}).identifier(), R"({"manager":"m","operation":"Apply"})");
  EXPECT_EQ((Manager{"m", false, "v1", "status"}).identifier(),
            R"({"manager":"m","operation":"Update","apiVersion":"v1","subresource":"status"})");
  const Manager back = Manager::of((Manager{"a\"<b", false, "apps/v1", "scale"}).identifier());
  EXPECT_EQ(back.name, "a\"<b");
  EXPECT_EQ(back.text(), R"("a\"<b" with subresource "scale" using apps/v1)");
  EXPECT_EQ((Manager{"m", true, "v1", ""}).text(), R"("m")");
}

TEST(ManagersTest, EntriesComeBackInOrderOfOperationTimeAndName) {
  const std::string applied = entry("z", "Apply", at("2026-01-02T00:00:00Z")), untimed = entry("y", "Apply"),
                    late = entry("a", "Update", at("2026-01-03T00:00:00Z")), early = entry("b", "Update", at("2026-01-01T00:00:00Z"));
  const Value sent = tree("[" + late + "," + early + "," + applied + "," + untimed + "]");
  const auto managed = decode_managed(&sent);
  ASSERT_TRUE(managed.ok()) << managed.status().message();
  EXPECT_EQ(to_json(encode_managed(*managed, {})), "[" + untimed + "," + applied + "," + early + "," + late + "]");
}

TEST(ManagersTest, UnreadableManagersHaveAReason) {
  const auto problem = [](std::string_view text) {
    const Value sent = tree(text);
    const auto managed = decode_managed(&sent);
    return managed.ok() ? std::string() : managed.status().message();
  };
  EXPECT_EQ(problem("[{}]"), "operation must be `Apply` or `Update`");
  EXPECT_EQ(problem(R"([{"operation":"Update"}])"), "apiVersion must not be empty");
  EXPECT_EQ(problem(R"([{"operation":"Update","apiVersion":"v1"}])"), "missing fieldsType in managed fields entry 0");
  EXPECT_EQ(problem(R"([{"operation":"Update","apiVersion":"v1","fieldsType":"FieldsV2"}])"),
            "invalid fieldsType \"FieldsV2\" in managed fields entry 0");
  EXPECT_EQ(problem(R"([{"operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1"}])"), "");
}

TEST(ManagersTest, OfTwoEntriesOfOneManagerTheLastCounts) {
  const FieldFilter everything;
  EntryUpdate update;
  update.filter = &everything;
  update.api_version = "v1";
  const Value object = tree(R"({"data":{}})"), one = tree("[" + entry("m", "Update") + "," + entry("m", "Apply") + "]");
  EXPECT_TRUE(update_entries(update, object.get_object(), object.get_object(), one).has_value());
  const Value two = tree("[" + entry("m", "Update") + "," + entry("m", "Update", at("2026-01-01T00:00:00Z")) + "]");
  EXPECT_FALSE(update_entries(update, object.get_object(), object.get_object(), two).has_value()) << "it is not that simple";
  EXPECT_EQ(to_json(encode_managed(*decode_managed(&two), {})), "[" + entry("m", "Update", at("2026-01-01T00:00:00Z")) + "]");
}

TEST(ManagersTest, AnEmptyListAndAnEmptyEntryAskForANewRecord) {
  const Value none = tree("[]"), empty = tree("[{}]"), some = tree("[" + entry("m", "Update") + "]"), null;
  EXPECT_TRUE(resets_managed(&none));
  EXPECT_TRUE(resets_managed(&empty));
  EXPECT_FALSE(resets_managed(&some));
  EXPECT_FALSE(resets_managed(&null));
  EXPECT_FALSE(resets_managed(nullptr));
}

TEST(ManagersTest, AManagerWithoutANameIsTheFirstPartOfItsUserAgent) {
  EXPECT_EQ(manager_name("m", "kubectl/v1.36"), "m");
  EXPECT_EQ(manager_name("", "kubectl/v1.36 (linux)"), "kubectl");
  EXPECT_EQ(manager_name("",
                         "a\x01\x7f"
                         "b c"),
            "ab c");
  EXPECT_EQ(manager_name("", ""), "unknown");
  EXPECT_EQ(manager_name("", "/x"), "unknown");
  EXPECT_EQ(manager_name("", std::string(127, 'x') + "\xc3\xa9y").size(), 127u);
}

TEST(ManagersTest, TheOldestUpdatersOfAVersionAreMergedBeyondTen) {
  ManagedFields managed;
  for (int i = 0; i < 12; ++i) {
    const std::string id = Manager{"m" + std::to_string(10 + i), false, "v1", ""}.identifier();
    managed.owners[id] = {FieldSet{fields_path({"data", "k" + std::to_string(i)})}, "v1", false};
    managed.times[id] = "2026-01-01T00:00:" + std::to_string(10 + i) + "Z";
  }
  managed.owners[Manager{"applier", true, "v1", ""}.identifier()] = {FieldSet{fields_path({"spec"})}, "v1", true};
  cap_update_managers(managed);
  EXPECT_EQ(managed.owners.size(), 11u);
  const auto bucket = managed.owners.find(Manager{"ancient-changes", false, "v1", ""}.identifier());
  ASSERT_NE(bucket, managed.owners.end());
  EXPECT_EQ(bucket->second.fields.encode(), R"({"f:data":{"f:k0":{},"f:k1":{},"f:k2":{}}})");
  EXPECT_EQ(managed.times.at(bucket->first), "2026-01-01T00:00:12Z");
  // The result is the same if the bucket is the oldest entry.
  const std::string another = Manager{"m99", false, "v1", ""}.identifier();
  managed.owners[another] = {FieldSet{fields_path({"data", "k99"})}, "v1", false};
  managed.times[another] = "2026-01-01T00:01:00Z";
  cap_update_managers(managed);
  EXPECT_EQ(managed.owners.size(), 11u);
  EXPECT_TRUE(managed.owners.at(Manager{"ancient-changes", false, "v1", ""}.identifier()).fields.has(fields_path({"data", "k3"})));
}

TEST(ManagersTest, ChangesOfTimesAloneAreNone) {
  const auto object = [](const std::string& time, const std::string& data) {
    return tree(R"({"kind":"Thing","metadata":{"name":"a","managedFields":[)" + entry("m", "Update", at(time)) + R"(]},"data":")" + data +
                R"("})")
        .get_object();
  };
  const Object old = object("2026-01-01T00:00:00Z", "x");
  Object same = object("2026-01-02T00:00:00Z", "x"), other = object("2026-01-02T00:00:00Z", "y");
  keep_times(same, old, false);
  keep_times(other, old, false);
  EXPECT_EQ(same, old);
  EXPECT_NE(*managed_fields_of(other), *managed_fields_of(old));
}

// Regression: entries of custom resources had the member order of built-in kinds.
TEST(ManagersTest, EntriesOfCustomResourcesHaveSortedKeysAtEveryLevel) {
  Object custom = tree(R"({"metadata":{"name":"a"}})").get_object();
  put_managed_fields(custom, tree(R"([{"manager":"m","apiVersion":"v1","fieldsV1":{"f:b":{"k:{\"n\":9}":{},"i:1":{}},"f:a":{}}}])"), true);
  EXPECT_EQ(
      to_json(custom),
      R"({"metadata":{"managedFields":[{"apiVersion":"v1","fieldsV1":{"f:a":{},"f:b":{"i:1":{},"k:{\"n\":9}":{}}},"manager":"m"}],"name":"a"}})");
}

TEST(ManagersTest, TheRecordIsLastOrAmongSortedKeys) {
  Object typed = tree(R"({"metadata":{"name":"a","labels":{}}})").get_object(),
         custom = tree(R"({"metadata":{"labels":{},"name":"a"}})").get_object();
  put_managed_fields(typed, tree("[1]"), false);
  put_managed_fields(custom, tree("[1]"), true);
  EXPECT_EQ(to_json(typed), R"({"metadata":{"name":"a","labels":{},"managedFields":[1]}})");
  EXPECT_EQ(to_json(custom), R"({"metadata":{"labels":{},"managedFields":[1],"name":"a"}})");
  EXPECT_EQ(to_json(take_managed_fields(custom)), "[1]");
  EXPECT_EQ(to_json(custom), R"({"metadata":{"labels":{},"name":"a"}})");
}

}  // namespace
}  // namespace backplane::registry
