#include "objects/objects_test_kit.hpp"
#include "pods/node_selectors.hpp"
#include "pods/rows.hpp"

namespace backplane::admission::test {
namespace {

TEST(NodeSelectors, AreListsOfLabels) {
  const auto read = [](std::string_view text) {
    auto labels = pods::labels_of_selector(text);
    if (!labels.ok()) return std::to_string(labels.status().code()) + " " + labels.status().message();
    std::string out;
    for (const auto& [key, value] : *labels) out += key + ":" + value + ";";
    return out;
  };
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read("a=b, c = d"), "a:b;c:d;");
  EXPECT_EQ(read("a=b=c"), "500 invalid selector: [a b c]");
  EXPECT_EQ(read("a=b,"), "500 invalid selector: []");
  EXPECT_NE(read("-=b").find("500 <nil>: Invalid value: \"-\": "), std::string::npos);
  EXPECT_NE(read("a=-").find("500 [a]: Invalid value: \"-\": "), std::string::npos);
}

class PodNodeSelectorTest : public ::testing::Test {
 protected:
  PodNodeSelectorTest() {
    under_.store({"", "v1", "Namespace"}, "namespaces");
    under_.make(pod_plugins(), "PodNodeSelector",
                R"({"podNodeSelectorPluginConfig":{"clusterDefaultNodeSelector":"infra=false","default":"infra=false,tier=a"}})");
    under_.start();
  }
  void name_space(std::string_view annotations) {
    under_.put({"", "v1", "Namespace"}, "namespaces", R"({"metadata":{"name":"default","annotations":)" + std::string(annotations) + "}}");
  }
  std::string admitted(std::string_view selector) {
    PodUnderTest pod(R"({"nodeSelector":)" + std::string(selector) + "}");
    const Status status = under_.admit(pod.attributes);
    return status.ok() ? pod.member("spec.nodeSelector") : std::to_string(status.code()) + " " + status.message();
  }
  PluginUnderTest under_;
};

TEST_F(PodNodeSelectorTest, TheSelectorOfTheClusterIsMerged) {
  name_space("{}");
  EXPECT_EQ(admitted("{}"), R"({"infra":"false"})");
  EXPECT_EQ(admitted(R"({"tier":"a"})"), R"({"tier":"a","infra":"false"})");
  EXPECT_EQ(admitted(R"({"infra":"true"})"),
            "403 pods \"p\" is forbidden: pod node label selector conflicts with its namespace node label selector");
  EXPECT_EQ(admitted(R"({"tier":"b"})"),
            "403 pods \"p\" is forbidden: pod node label selector labels conflict with its namespace whitelist");
}

TEST_F(PodNodeSelectorTest, TheAnnotationReplacesTheDefault) {
  name_space(R"({"scheduler.alpha.kubernetes.io/node-selector":"tier=a"})");
  EXPECT_EQ(admitted("{}"), R"({"tier":"a"})");
  name_space(R"({"scheduler.alpha.kubernetes.io/node-selector":"tier"})");
  EXPECT_EQ(admitted("{}"), "500 invalid selector: [tier]");
}

TEST_F(PodNodeSelectorTest, ANamespaceThatIsNowhereIsAnInternalError) {
  EXPECT_EQ(admitted("{}"), "500 Internal error occurred: namespace default does not exist");
}

TEST(NodeSelectorConfig, RefusesWhatItDoesNotKnow) {
  EXPECT_TRUE(pods::parse_node_selector_config("").ok());
  EXPECT_TRUE(pods::parse_node_selector_config(R"({"PodNodeSelectorPluginConfig":{"a":"b"}})").ok());
  EXPECT_EQ(pods::parse_node_selector_config(R"({"other":{}})").status().message(), "unknown field \"other\"");
  EXPECT_EQ(pods::parse_node_selector_config(R"({"podNodeSelectorPluginConfig":{"a":1}})").status().message(),
            "podNodeSelectorPluginConfig must be an object of strings");
}

}  // namespace
}  // namespace backplane::admission::test
