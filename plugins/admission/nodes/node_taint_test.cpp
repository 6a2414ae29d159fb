#include "nodes/node_taint.hpp"

#include <gtest/gtest.h>

#include "common/plugin_test_kit.hpp"

namespace backplane::admission::nodes {
namespace {

TEST(TaintNodesByCondition, NewNodesAreNotReady) {
  PluginUnderTest test;
  const auto plugin = taint_nodes_by_condition();
  EXPECT_TRUE(plugin->mutates() && !plugin->validates() && !plugin->handles(AdmissionOperation::kUpdate));
  const auto after = [&](const char* object, const char* subresource = "") {
    TestWrite write{.resource = {"", "v1", "nodes"}, .subresource = subresource, .name = "n", .object = object};
    EXPECT_EQ(test.message(*plugin, write), "");
    return test.json();
  };
  const std::string taint = R"({"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"})";
  EXPECT_EQ(after("{}"), R"({"spec":{"taints":[)" + taint + "]}}");
  const std::string tainted = R"({"spec":{"taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule","value":"x"}]}})";
  EXPECT_EQ(after(tainted.c_str()), tainted);
  EXPECT_EQ(after(R"({"spec":{"taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoExecute"}]}})"),
            R"({"spec":{"taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoExecute"},)" + taint + "]}}");
  EXPECT_EQ(after("{}", "status"), "{}");
}

}  // namespace
}  // namespace backplane::admission::nodes
