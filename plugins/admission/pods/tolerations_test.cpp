#include "pods/tolerations.hpp"

#include "objects/objects_test_kit.hpp"
#include "pods/rows.hpp"
#include "pods/toleration_config.hpp"

namespace backplane::admission::test {
namespace {

using pods::covers;

Array list_of(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).as_array(); }

TEST(Tolerations, CoverWhatUpstreamSaysTheyCover) {
  struct Case {
    std::string_view cover, toleration;
    bool covered;
  };
  const Case cases[] = {
      {R"({"operator":"Exists"})", R"({"key":"foo","operator":"Equal","value":"bar"})", true},
      {R"({"operator":"Exists","effect":"NoSchedule"})", R"({"key":"foo","operator":"Exists"})", false},
      {R"({"key":"foo","operator":"Exists"})", R"({"key":"foo","operator":"Equal","value":"bar","effect":"NoSchedule"})", true},
      {R"({"key":"foo","operator":"Equal","value":"bar"})", R"({"key":"foo","operator":"Equal","value":"baz"})", false},
      {R"({"key":"foo","operator":"Equal","value":"bar"})", R"({"key":"foo","operator":"Exists"})", false},
      {R"({"key":"foo","value":"bar"})", R"({"key":"foo","operator":"Equal","value":"bar"})", true},
      {R"({"key":"foo","value":"bar","effect":"NoSchedule"})", R"({"key":"foo","value":"bar","effect":"NoSchedule"})", true},
      {R"({"key":"foo","value":"bar"})", R"({"key":"foo","value":"bar","effect":"NoSchedule"})", false},
      {R"({"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":60})",
       R"({"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":30})", true},
      {R"({"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":30})",
       R"({"key":"a","operator":"Exists","effect":"NoExecute"})", false},
      {R"({"key":"a","operator":"Exists","effect":"NoExecute"})",
       R"({"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":30})", true},
      {R"({"key":"a","operator":"Gt","value":"1"})", R"({"key":"a","operator":"Gt","value":"2"})", false},
  };
  for (const Case& each : cases) EXPECT_EQ(covers(tree_of(each.cover), tree_of(each.toleration)), each.covered) << each.cover;
}

TEST(Tolerations, MergingLeavesOutWhatAnotherOneCovers) {
  const auto merged = [](std::string_view first, std::string_view second) {
    const Array a = list_of(first), b = list_of(second);
    return to_json(pods::merge_tolerations(&a, &b, {}));
  };
  EXPECT_EQ(merged(R"([{"key":"a","operator":"Exists"}])", R"([{"key":"a","operator":"Exists"}])"), R"([{"key":"a","operator":"Exists"}])");
  EXPECT_EQ(
      merged(R"([{"key":"a","operator":"Equal","value":"v"},{"key":"b","operator":"Exists"}])", R"([{"key":"a","operator":"Exists"}])"),
      R"([{"key":"b","operator":"Exists"},{"key":"a","operator":"Exists"}])");
  EXPECT_EQ(merged(R"([{"operator":"Exists"}])", R"([{"key":"a","operator":"Exists"}])"), R"([{"operator":"Exists"}])");
}

TEST(DefaultTolerationSeconds, AddsWhatIsNotTolerated) {
  PluginUnderTest under;
  under.host.flags["default-not-ready-toleration-seconds"] = "60";
  under.host.flags["default-unreachable-toleration-seconds"] = "90";
  under.make(pod_plugins(), "DefaultTolerationSeconds");
  const auto tolerations = [&](std::string_view spec) {
    PodUnderTest pod(spec);
    EXPECT_TRUE(under.admit(pod.attributes).ok());
    return pod.member("spec.tolerations");
  };
  const std::string not_ready = R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":60})";
  const std::string unreachable =
      R"({"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":90})";
  EXPECT_EQ(tolerations("{}"), "[" + not_ready + "," + unreachable + "]");
  const std::string other = R"({"key":"foo","operator":"Equal","value":"bar","effect":"NoSchedule"})";
  EXPECT_EQ(tolerations(R"({"tolerations":[)" + other + "]}"), "[" + other + "," + not_ready + "," + unreachable + "]");
  const std::string own = R"({"key":"node.kubernetes.io/not-ready","operator":"Exists"})";
  EXPECT_EQ(tolerations(R"({"tolerations":[)" + own + "]}"), "[" + own + "," + unreachable + "]");
  EXPECT_EQ(tolerations(R"({"tolerations":[{"operator":"Exists"}]})"), R"([{"operator":"Exists"}])");
  EXPECT_EQ(tolerations(R"({"tolerations":[{"operator":"Exists","effect":"NoSchedule"}]})"),
            R"([{"operator":"Exists","effect":"NoSchedule"},)" + not_ready + "," + unreachable + "]");
}

TEST(ExtendedResourceToleration, ToleratesTheTaintsOfRequestedResources) {
  PluginUnderTest under;
  under.make(pod_plugins(), "ExtendedResourceToleration");
  PodUnderTest pod(R"({"containers":[{"name":"a","resources":{"requests":{"example.com/z":"1","cpu":"1","kubernetes.io/thing":"1"}}}],)"
                   R"("initContainers":[{"name":"b","resources":{"requests":{"example.com/a":"1","requests.example.com/b":"1"}}}],)"
                   R"("tolerations":[{"key":"example.com/z","operator":"Exists","effect":"NoSchedule","tolerationSeconds":3}]})");
  EXPECT_TRUE(under.admit(pod.attributes).ok());
  EXPECT_EQ(
      pod.member("spec.tolerations"),
      R"([{"key":"example.com/z","operator":"Exists","effect":"NoSchedule"},{"key":"example.com/a","operator":"Exists","effect":"NoSchedule"}])");
}

constexpr std::string_view kRestriction =
    R"({"apiVersion":"podtolerationrestriction.admission.k8s.io/v1alpha1","kind":"Configuration",)"
    R"("default":[{"key":"cluster","operator":"Exists"}],"whitelist":[{"key":"cluster","operator":"Exists"},{"key":"ok","operator":"Exists"},)"
    R"({"key":"node.kubernetes.io/memory-pressure","operator":"Exists"}]})";

class TolerationRestrictionTest : public ::testing::Test {
 protected:
  TolerationRestrictionTest() {
    under_.store({"", "v1", "Namespace"}, "namespaces");
    under_.make(pod_plugins(), "PodTolerationRestriction", std::string(kRestriction));
    under_.start();
  }
  void name_space(std::string_view annotations) {
    under_.put({"", "v1", "Namespace"}, "namespaces", R"({"metadata":{"name":"default","annotations":)" + std::string(annotations) + "}}");
  }
  // The tolerations, or the error.
  std::string admitted(std::string_view spec) {
    PodUnderTest pod(spec);
    const Status status = under_.admit(pod.attributes);
    return status.ok() ? pod.member("spec.tolerations") : std::to_string(status.code()) + " " + status.message();
  }
  PluginUnderTest under_;
};

constexpr std::string_view kConflict = "500 pod tolerations (possibly merged with namespace default tolerations) conflict with its ";

TEST_F(TolerationRestrictionTest, ClusterDefaultsApplyWithoutAnnotationsOfTheNamespace) {
  name_space("{}");
  EXPECT_EQ(admitted("{}"), R"([{"key":"cluster","operator":"Exists"}])");
  EXPECT_EQ(admitted(R"({"tolerations":[{"key":"ok","operator":"Exists"}]})"),
            R"([{"key":"ok","operator":"Exists"},{"key":"cluster","operator":"Exists"}])");
  EXPECT_EQ(admitted(R"({"tolerations":[{"key":"bad","operator":"Exists"}]})"), std::string(kConflict) + "cluster whitelist");
}

TEST_F(TolerationRestrictionTest, PodsThatAskForSizesTolerateMemoryPressure) {
  name_space("{}");
  EXPECT_EQ(
      admitted(R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]})"),
      R"([{"key":"cluster","operator":"Exists"},{"key":"node.kubernetes.io/memory-pressure","operator":"Exists","effect":"NoSchedule"}])");
}

TEST_F(TolerationRestrictionTest, AnnotationsReplaceTheConfiguration) {
  name_space(R"({"scheduler.alpha.kubernetes.io/defaultTolerations":"[{\"key\":\"ns\",\"operator\":\"Exists\"}]",)"
             R"("scheduler.alpha.kubernetes.io/tolerationsWhitelist":"[{\"key\":\"ns\",\"operator\":\"Exists\"}]"})");
  EXPECT_EQ(admitted("{}"), R"([{"key":"ns","operator":"Exists"}])");
  EXPECT_EQ(admitted(R"({"tolerations":[{"key":"ok","operator":"Exists"}]})"), std::string(kConflict) + "namespace whitelist");
  // Empty lists: no defaults, and everything allowed.
  name_space(R"({"scheduler.alpha.kubernetes.io/defaultTolerations":"","scheduler.alpha.kubernetes.io/tolerationsWhitelist":""})");
  EXPECT_EQ(admitted(R"({"tolerations":[{"key":"bad","operator":"Exists"}]})"), R"([{"key":"bad","operator":"Exists"}])");
  name_space(R"({"scheduler.alpha.kubernetes.io/defaultTolerations":"{}"})");
  EXPECT_EQ(admitted("{}"), "500 json: cannot unmarshal object into Go value of type []v1.Toleration");
}

TEST(TolerationConfig, IsReadStrictly) {
  const auto problem = [](std::string_view rest) {
    auto config = pods::parse_toleration_config(
        R"({"apiVersion":"podtolerationrestriction.admission.k8s.io/v1alpha1","kind":"Configuration",)" + std::string(rest) + "}");
    return config.ok() ? std::string() : config.status().message();
  };
  EXPECT_EQ(problem(R"("default":[{"key":"a","operator":"Exists"}])"), "");
  EXPECT_NE(problem(R"("defaults":[])").find("unknown field \"defaults\""), std::string::npos);
  EXPECT_EQ(
      problem(R"("default":[{"operator":"Equal"}])"),
      "invalid config: [podtolerationrestriction.default[0].operator: Invalid value: \"Equal\": operator must be Exists when `key` is "
      "empty, which means \"match all values and all keys\"]");
}

}  // namespace
}  // namespace backplane::admission::test
