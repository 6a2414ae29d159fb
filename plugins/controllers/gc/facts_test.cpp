#include "gc/facts.hpp"

#include <gtest/gtest.h>

#include "gc/uid.hpp"

namespace backplane::controllers::gc {
namespace {

// The reader of the text finds the same facts as the reader of the whole tree.
void expect_same(const char* text) {
  const std::optional<Facts> read = read_facts(text);
  const Facts wanted = facts_of(json::parse(text).as_object());
  ASSERT_TRUE(read) << text;
  EXPECT_EQ(read->uid, wanted.uid);
  EXPECT_EQ(read->name, wanted.name);
  EXPECT_EQ(read->ns, wanted.ns);
  EXPECT_EQ(read->resource_version, wanted.resource_version);
  EXPECT_EQ(read->owners, wanted.owners);
  EXPECT_EQ(read->deleted, wanted.deleted);
  EXPECT_EQ(read->orphan, wanted.orphan);
  EXPECT_EQ(read->foreground, wanted.foreground);
}

TEST(Facts, AreReadFromMetadataOnly) {
  constexpr const char* kObject = R"({"kind":"Pod","apiVersion":"v1","items":[{"metadata":{"uid":"no","name":"no"}}],
    "data":{"metadata":{"uid":"no"},"uid":"no"},
    "metadata":{"name":"p","namespace":"n","uid":"u","resourceVersion":"7","labels":{"uid":"no","name":"no"},
      "annotations":{"finalizers":"orphan"},"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["a","foregroundDeletion"],
      "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r\u00e9","uid":"o","controller":true,"blockOwnerDeletion":true},
        {"apiVersion":"v1","kind":"Node","name":"n1","uid":"o2"}],
      "managedFields":[{"manager":"m","fieldsV1":{"f:metadata":{"f:uid":{}}},"uid":"no","name":"no"}]},
    "spec":{"metadata":{"uid":"no"},"name":"no"}})";
  expect_same(kObject);
  const Facts facts = *read_facts(kObject);
  EXPECT_EQ(facts.uid, "u");
  ASSERT_EQ(facts.owners.size(), 2u);
  EXPECT_TRUE(facts.owners[0].blocks);
  EXPECT_FALSE(facts.owners[1].blocks);
  EXPECT_TRUE(facts.deleted && facts.foreground && !facts.orphan);
}

TEST(Facts, OfAnObjectWithoutOwnersAreItsIdentity) {
  expect_same(R"({"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"g","uid":"u","finalizers":["orphan"]}})");
  expect_same(R"({"metadata":{"name":"g","uid":"u","ownerReferences":[],"deletionTimestamp":null}})");
  EXPECT_FALSE(read_facts(R"({"kind":"Status"})"));
  EXPECT_FALSE(read_facts("broken"));
}

TEST(Uid, KeepsUuidsAndHashesOtherTexts) {
  const std::string text = "01234567-89ab-cdef-0123-456789abcdef";
  EXPECT_EQ(Uid::of(text).hex(), "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(Uid::from_hex(Uid::of(text).hex()), Uid::of(text));
  EXPECT_EQ(Uid::of("any"), Uid::of("any"));
  EXPECT_NE(Uid::of("any"), Uid::of("other"));
  EXPECT_NE(Uid::of("01234567-89AB-cdef-0123-456789abcdef"), Uid::of(text)) << "uids are compared as texts";
}

}  // namespace
}  // namespace backplane::controllers::gc
