#include "backplane/rest/scheme.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

const GroupVersionKind kOne{"g", "v1", "Thing"}, kHub{"g", "v2", "Thing"}, kThree{"g", "v3", "Thing"};

Scheme::Conversion adds(const char* step) {
  return [step](Object& object) {
    ensure_array(object, "steps").push_back(Value(step));
    return Status();
  };
}

TEST(SchemeTest, ConvertsByTheFunctionOrOverOneVersionInBetween) {
  Scheme scheme;
  ASSERT_TRUE(scheme.add_conversion(kOne, kHub, adds("1 to 2")).ok());
  ASSERT_TRUE(scheme.add_conversion(kHub, kThree, adds("2 to 3")).ok());
  Object object;
  ASSERT_TRUE(scheme.convert(kOne, kThree, object).ok());
  EXPECT_EQ(to_json(object), R"({"steps":["1 to 2","2 to 3"],"kind":"Thing","apiVersion":"g/v3"})");
  EXPECT_TRUE(scheme.converts(kOne, kThree));
  EXPECT_TRUE(scheme.converts(kThree, kThree));
  EXPECT_FALSE(scheme.converts(kThree, kOne));
  EXPECT_EQ(scheme.convert(kThree, kOne, object).message(), "converting (v3.Thing) to (v1.Thing): unknown conversion");
}

TEST(SchemeTest, AFailedConversionIsReported) {
  Scheme scheme;
  ASSERT_TRUE(scheme.add_conversion(kOne, kHub, [](Object&) { return bad_request("no"); }).ok());
  Object object;
  EXPECT_EQ(scheme.convert(kOne, kHub, object).message(), "no");
  EXPECT_EQ(scheme.add_conversion(kOne, kHub, adds("")).reason(), Reason::kAlreadyExists);
}

TEST(SchemeTest, FieldLabelsAreThoseOfTheStoredVersion) {
  Scheme scheme;
  ASSERT_TRUE(scheme.add_field_labels(kOne, {{"spec.a", "spec.b"}, {"spec.c", ""}}).ok());
  EXPECT_EQ(*scheme.stored_field_label(kOne, "spec.a"), "spec.b");
  EXPECT_EQ(*scheme.stored_field_label(kOne, "spec.c"), "spec.c");
  EXPECT_EQ(*scheme.stored_field_label(kOne, "metadata.name"), "metadata.name");
  EXPECT_EQ(scheme.stored_field_label(kOne, "spec.b").status().message(), "field label not supported: spec.b");
  ASSERT_TRUE(scheme.add_field_labels(kHub, {}).ok());
  EXPECT_EQ(scheme.stored_field_label(kHub, "spec.b").status().message(),
            R"("spec.b" is not a known field selector: only "metadata.name", "metadata.namespace")");
}

TEST(SchemeTest, MergingCopiesEverythingOrNothing) {
  Scheme scheme, other, again;
  ASSERT_TRUE(other.add_conversion(kOne, kHub, adds("1 to 2")).ok());
  ASSERT_TRUE(other.add_field_labels(kOne, {{"spec.a", ""}}).ok());
  ASSERT_TRUE(again.add_conversion(kOne, kHub, adds("again")).ok());
  ASSERT_TRUE(scheme.merge(other).ok());
  EXPECT_TRUE(scheme.converts(kOne, kHub));
  EXPECT_TRUE(scheme.stored_field_label(kOne, "spec.a").ok());
  EXPECT_EQ(scheme.merge(again).reason(), Reason::kAlreadyExists);
  Scheme later;
  ASSERT_TRUE(later.merge(other).ok()) << "the merged scheme is unchanged";
  EXPECT_TRUE(later.converts(kOne, kHub));
}

}  // namespace
}  // namespace backplane
