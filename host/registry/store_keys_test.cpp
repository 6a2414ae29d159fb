#include "registry/store_keys.hpp"

#include <gtest/gtest.h>

namespace backplane::registry {
namespace {

TEST(StoreKeysTest, NamespacedKeysHoldNamespaceAndName) {
  const StoreKeys keys("pods", true);
  EXPECT_EQ(keys.root(), "/registry/pods/");
  EXPECT_EQ(*keys.key("default", "a"), "/registry/pods/default/a");
  EXPECT_EQ(keys.key("", "a").status().message(), "Namespace parameter required.");
}

TEST(StoreKeysTest, ClusterScopedKeysIgnoreTheNamespace) {
  const StoreKeys keys("minions", false);
  EXPECT_EQ(*keys.key("default", "n1"), "/registry/minions/n1");
}

TEST(StoreKeysTest, NamesMustBePathSegments) {
  const StoreKeys keys("minions", false);
  EXPECT_EQ(keys.key("", "").status().message(), "Name parameter required.");
  EXPECT_EQ(keys.key("", "..").status().message(), R"(Name parameter invalid: "..": may not be '..')");
  EXPECT_EQ(keys.key("", "a/b").status().message(), R"(Name parameter invalid: "a/b": may not contain '/')");
}

TEST(StoreKeysTest, DryRunsNameTheKeyWithoutTheBackendsPrefix) {
  EXPECT_EQ(StoreKeys::shown("/registry/pods/default/a", true), "/pods/default/a");
  EXPECT_EQ(StoreKeys::shown("/registry/pods/default/a", false), "/registry/pods/default/a");
}

}  // namespace
}  // namespace backplane::registry
