#include "registry/fields/field_owners_fixture.hpp"

namespace backplane::registry_test {
namespace {

constexpr char kSchema[] = R"({"type":"object","properties":{"spec":{"type":"object","properties":{
  "a":{"type":"string"},"b":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"},
  "set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
  "list":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","properties":{
    "name":{"type":"string"},"x":{"type":"string"},"y":{"type":"string"}}}},
  "labels":{"type":"object","additionalProperties":{"type":"string"}}}},
  "status":{"type":"object","properties":{"a":{"type":"string"}}}}})";

std::string atomic_schema() {
  std::string out = kSchema;
  const std::string labels = R"("labels":{)";
  out.insert(out.find(labels) + labels.size(), R"("x-kubernetes-map-type":"atomic",)");
  return out;
}

class Owners : public FieldOwnersTest {
 protected:
  Owners() { versions.serve("v1", structural_set(kSchema)); }
  static Object spec_of(std::string_view text) { return object_of(R"({"spec":)" + std::string(text) + "}"); }
  // The conflicts of an apply as text: "owner.path", joined by spaces.
  static std::string conflicts(const Result<AppliedFields>& applied) {
    std::string out;
    if (!applied.ok()) return applied.status().message();
    for (const FieldConflict& each : applied->conflicts) {
      each.fields.for_each([&](std::span<const PathElement> path) { out += (out.empty() ? "" : " ") + each.owner + path_text(path); });
    }
    return out;
  }
};

TEST_F(Owners, WhatAnUpdateChangesIsItsWritersAlone) {
  ASSERT_TRUE(update(spec_of(R"({"a":"1","b":"1"})"), "one").ok());
  EXPECT_EQ(fields("one"), R"({"f:spec":{"f:a":{},"f:b":{}}})");
  ASSERT_TRUE(update(spec_of(R"({"a":"2","b":"1","labels":{"x":"1"}})"), "two").ok());
  EXPECT_EQ(fields("one"), R"({"f:spec":{"f:b":{}}})");
  EXPECT_EQ(fields("two"), R"({"f:spec":{"f:a":{},"f:labels":{".":{},"f:x":{}}}})");
  ASSERT_TRUE(update(spec_of(R"({"a":"2"})"), "three").ok());
  EXPECT_EQ(owners.size(), 1U) << "whose fields have gone is no owner";
  EXPECT_EQ(fields("two"), R"({"f:spec":{"f:a":{}}})");
}

TEST_F(Owners, AnUpdateWithoutAChangeKeepsAllOwners) {
  ASSERT_TRUE(update(spec_of(R"({"a":"1"})"), "one").ok());
  const FieldOwners before = owners;
  ASSERT_TRUE(update(spec_of(R"({"a":"1"})"), "two").ok());
  EXPECT_EQ(owners, before);
  EXPECT_EQ(owners.at("one").fields.root(), before.at("one").fields.root()) << "shared, not copied";
}

TEST_F(Owners, AppliersShareWhatTheyAgreeOn) {
  ASSERT_EQ(conflicts(apply(spec_of(R"({"a":"1","b":"1"})"), "one")), "");
  ASSERT_EQ(conflicts(apply(spec_of(R"({"a":"1"})"), "two")), "");
  EXPECT_EQ(fields("one"), R"({"f:spec":{"f:a":{},"f:b":{}}})");
  EXPECT_EQ(fields("two"), R"({"f:spec":{"f:a":{}}})");
  EXPECT_TRUE(owners.at("one").applied);
}

TEST_F(Owners, AConflictNamesOwnersAndPathsAndChangesNothing) {
  ASSERT_EQ(conflicts(apply(spec_of(R"({"a":"1","list":[{"name":"n","x":"1"}]})"), "one")), "");
  ASSERT_TRUE(update(spec_of(R"({"a":"1","b":"1","list":[{"name":"n","x":"1"}]})"), "two").ok());
  const FieldOwners before = owners;
  EXPECT_EQ(conflicts(apply(spec_of(R"({"a":"2","b":"2","list":[{"name":"n","x":"2"}]})"), "three")),
            R"(one.spec.a one.spec.list[name="n"].x two.spec.b)");
  EXPECT_EQ(owners, before);
  EXPECT_EQ(spec(), R"({"a":"1","b":"1","list":[{"name":"n","x":"1"}]})");
}

TEST_F(Owners, ForceTakesFields) {
  ASSERT_EQ(conflicts(apply(spec_of(R"({"a":"1","b":"1"})"), "one")), "");
  ASSERT_EQ(conflicts(apply(spec_of(R"({"a":"2"})"), "two", true)), "");
  EXPECT_EQ(spec(), R"({"a":"2","b":"1"})");
  EXPECT_EQ(fields("one"), R"({"f:spec":{"f:b":{}}})");
  EXPECT_EQ(fields("two"), R"({"f:spec":{"f:a":{}}})");
}

TEST_F(Owners, FieldsDroppedByAnApplierAreRemovedUnlessAnotherOwnsThem) {
  ASSERT_EQ(
      conflicts(apply(spec_of(R"({"a":"1","b":"1","set":["x","y"],"list":[{"name":"n","x":"1"},{"name":"m"}],"labels":{"k":"v","l":"v"}})"),
                      "one")),
      "");
  ASSERT_EQ(conflicts(apply(spec_of(R"({"b":"1","set":["y"],"list":[{"name":"m"}],"labels":{"l":"v"}})"), "two")), "");
  ASSERT_EQ(conflicts(apply(spec_of(R"({"a":"1"})"), "one")), "");
  EXPECT_EQ(spec(), R"({"a":"1","b":"1","set":["y"],"list":[{"name":"m"}],"labels":{"l":"v"}})");
  EXPECT_EQ(fields("one"), R"({"f:spec":{"f:a":{}}})");
}

TEST_F(Owners, UnownedFieldsStayWhenAnApplierDropsItsFields) {
  live = spec_of(R"({"b":"unowned"})");
  ASSERT_EQ(conflicts(apply(spec_of(R"({"a":"1"})"), "one")), "");
  ASSERT_EQ(conflicts(apply(spec_of("{}"), "one")), "");
  EXPECT_EQ(spec(), R"({"b":"unowned"})");
}

TEST_F(Owners, AnApplyOfTheSameValuesChangesNothing) {
  ASSERT_EQ(conflicts(apply(spec_of(R"({"a":"1","set":["x"]})"), "one")), "");
  const FieldOwners before = owners;
  const auto again = apply(spec_of(R"({"a":"1","set":["x"]})"), "one");
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(again->object.has_value());
  EXPECT_EQ(owners, before);
}

TEST_F(Owners, IgnoredFieldsHaveNoOwner) {
  const std::map<std::string, FieldFilter> without_status = {{"v1", FieldFilter::excluding(set_of(R"({"f:status":{}})"))}};
  filters = &without_status;
  ASSERT_TRUE(update(object_of(R"({"spec":{"a":"1"},"status":{"a":"1"}})"), "one").ok());
  EXPECT_EQ(fields("one"), R"({"f:spec":{"f:a":{}}})");
  ASSERT_EQ(conflicts(apply(object_of(R"({"spec":{"b":"1"},"status":{"a":"2"}})"), "two")), "");
  EXPECT_EQ(fields("two"), R"({"f:spec":{"f:b":{}}})");
}

TEST_F(Owners, AVersionThatIsNotServedLosesItsOwners) {
  owners["gone"] = OwnedFields{set_of(R"({"f:spec":{"f:a":{}}})"), "v0", true};
  live = spec_of(R"({"a":"1"})");
  ASSERT_EQ(conflicts(apply(spec_of(R"({"a":"2"})"), "one")), "");
  EXPECT_EQ(owners.count("gone"), 0U);
  EXPECT_EQ(spec(), R"({"a":"2"})");
}

TEST_F(Owners, OwnersOfDifferentVersionsAreComparedByConversion) {
  versions.serve("v2", structural_set(kSchema));
  owners["other"] = OwnedFields{set_of(R"({"f:spec":{"f:b":{},"f:new":{}}})"), "v2", true};
  live = spec_of(R"({"b":"1","old":"1"})");
  EXPECT_EQ(conflicts(apply(spec_of(R"({"old":"2"})"), "one")), "other.spec.new");
  ASSERT_EQ(conflicts(apply(spec_of(R"({"old":"2"})"), "one", true)), "");
  EXPECT_EQ(fields("other"), R"({"f:spec":{"f:b":{}}})");
  EXPECT_EQ(spec(), R"({"b":"1","old":"2"})");
  const int before = versions.conversions;
  ASSERT_TRUE(update(spec_of(R"({"b":"1","old":"2"})"), "two").ok());
  EXPECT_EQ(versions.conversions, before) << "what is the same is so in every version";
}

TEST_F(Owners, AnApplierMayChangeItsVersion) {
  versions.serve("v2", structural_set(kSchema));
  owners["one"] = OwnedFields{set_of(R"({"f:spec":{"f:a":{},"f:new":{}}})"), "v2", true};
  live = spec_of(R"({"a":"1","b":"unowned","old":"1"})");
  ASSERT_EQ(conflicts(apply(spec_of(R"({"a":"1"})"), "one")), "");
  EXPECT_EQ(spec(), R"({"a":"1","b":"unowned"})");
  EXPECT_EQ(fields("one"), R"({"f:spec":{"f:a":{}}})");
  EXPECT_EQ(owners.at("one").api_version, "v1");
}

TEST_F(Owners, AFailedConversionIsReported) {
  versions.serve("v2", structural_set(kSchema));
  owners["other"] = OwnedFields{set_of(R"({"f:spec":{"f:new":{}}})"), "v2", true};
  versions.failure = "no way";
  const auto updated = update(spec_of(R"({"old":"2"})"), "one");
  ASSERT_FALSE(updated.ok());
  EXPECT_EQ(updated.status().message(), "failed to convert old object: no way");
}

TEST_F(Owners, AnAtomicFieldIsOwnedAsAWhole) {
  ASSERT_EQ(conflicts(apply(spec_of(R"({"labels":{"x":"1"}})"), "one")), "");
  ASSERT_EQ(conflicts(apply(spec_of(R"({"labels":{"y":"1"}})"), "two")), "");
  versions.serve("v1", structural_set(atomic_schema()));
  EXPECT_EQ(conflicts(apply(spec_of(R"({"labels":{"x":"2"}})"), "one")), "two.spec.labels");
  ASSERT_EQ(conflicts(apply(spec_of(R"({"labels":{"x":"2"}})"), "one", true)), "");
  EXPECT_EQ(spec(), R"({"labels":{"x":"2"}})");
  EXPECT_EQ(fields("one"), R"({"f:spec":{"f:labels":{}}})");
  EXPECT_EQ(fields("two"), "");
}

TEST_F(Owners, ObjectsWithoutASchemaAreDeduced) {
  versions.serve("v1", nullptr);
  ASSERT_EQ(conflicts(apply(spec_of(R"({"list":[{"name":"a"}],"m":{"x":"1"}})"), "one")), "");
  EXPECT_EQ(fields("one"), R"({"f:spec":{".":{},"f:list":{},"f:m":{".":{},"f:x":{}}}})");
  EXPECT_EQ(conflicts(apply(spec_of(R"({"list":[{"name":"b"}],"m":{"y":"1"}})"), "two")), "one.spec.list");
}

}  // namespace
}  // namespace backplane::registry_test
