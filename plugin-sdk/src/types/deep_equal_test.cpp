#include "backplane/types/deep_equal.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

bool are_deep_equal(const char* a, const char* b) {
  const Value left = json::parse(a), right = json::parse(b);
  const bool out = alike(&left, &right);
  EXPECT_EQ(alike(&right, &left), out);
  return out;
}

TEST(Alike, EmptyListsEqualAbsentOnesAndNull) {
  EXPECT_TRUE(are_deep_equal(R"({"a":[],"b":1})", R"({"b":1})"));
  EXPECT_TRUE(are_deep_equal(R"({"a":[]})", R"({"a":null})"));
  EXPECT_TRUE(are_deep_equal(R"([{"a":{"b":[]}}])", R"([{"a":{}}])"));
  EXPECT_TRUE(alike(nullptr, nullptr));
  const Value empty = Array(), none = nullptr, item = Array{1};
  EXPECT_TRUE(alike(&empty, nullptr));
  EXPECT_TRUE(alike(&empty, &none));
  EXPECT_FALSE(alike(&item, nullptr));
}

TEST(Alike, DifferentValuesDiffer) {
  EXPECT_FALSE(are_deep_equal(R"({"a":{}})", R"({})"));
  EXPECT_FALSE(are_deep_equal(R"({"a":[1]})", R"({"a":[]})"));
  EXPECT_FALSE(are_deep_equal(R"([[],[1]])", R"([[1],[]])"));
  EXPECT_FALSE(are_deep_equal(R"([1])", R"([1,2])"));
  EXPECT_FALSE(are_deep_equal(R"({"a":""})", R"({})"));
  EXPECT_FALSE(are_deep_equal(R"({"a":1,"b":[]})", R"({"a":2})"));
}

}  // namespace
}  // namespace backplane
