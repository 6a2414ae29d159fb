// RuntimeClass, PodTopologyLabels, PodResizeValidator, NodeDeclaredFeatureValidator, LimitPodHardAntiAffinityTopology, AlwaysPullImages.
#include "objects/objects_test_kit.hpp"
#include "pods/rows.hpp"

namespace backplane::admission::test {
namespace {

const GroupVersionKind kRuntimeClass{"node.k8s.io", "v1", "RuntimeClass"};
const GroupVersionKind kNode{"", "v1", "Node"};

class RuntimeClassTest : public ::testing::Test {
 protected:
  RuntimeClassTest() {
    under_.store(kRuntimeClass, "runtimeclasses");
    under_.make(pod_plugins(), "RuntimeClass");
  }
  void add_class(std::string_view rest) {
    under_.put(kRuntimeClass, "runtimeclasses", R"({"metadata":{"name":"rc"},"handler":"h")" + std::string(rest) + "}");
  }
  // The spec, or the error.
  std::string admitted(std::string_view spec) {
    PodUnderTest pod(spec);
    const Status status = under_.admit(pod.attributes);
    return status.ok() ? pod.member("spec") : status.message();
  }
  std::string problem(std::string_view spec) {
    PodUnderTest pod(spec);
    return under_.validate(pod.attributes).message();
  }
  PluginUnderTest under_;
};

TEST_F(RuntimeClassTest, TheClassSetsTheOverhead) {
  under_.start();
  add_class(R"(,"overhead":{"podFixed":{"cpu":"100m","memory":"1Mi"}})");
  EXPECT_EQ(admitted(R"({"runtimeClassName":"rc"})"), R"({"runtimeClassName":"rc","overhead":{"cpu":"100m","memory":"1Mi"}})");
  EXPECT_EQ(admitted(R"({"runtimeClassName":"rc","overhead":{"cpu":"0.1","memory":"1024Ki"}})"),
            R"({"runtimeClassName":"rc","overhead":{"cpu":"100m","memory":"1Mi"}})");
  EXPECT_EQ(admitted(R"({"runtimeClassName":"rc","overhead":{"cpu":"200m","memory":"1Mi"}})"),
            "pods \"p\" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  EXPECT_EQ(problem(R"({"runtimeClassName":"rc","overhead":{"cpu":"100m","memory":"1Mi"}})"), "");
  EXPECT_EQ(problem(R"({"runtimeClassName":"rc"})"),
            "pods \"p\" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
}

TEST_F(RuntimeClassTest, OverheadNeedsAClassThatHasOne) {
  under_.start();
  add_class("");
  const std::string refused = "pods \"p\" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
  EXPECT_EQ(problem(R"({"overhead":{"cpu":"100m"}})"), refused);
  EXPECT_EQ(problem(R"({"runtimeClassName":"rc","overhead":{"cpu":"100m"}})"), refused);
  EXPECT_EQ(problem(R"({"runtimeClassName":"rc"})"), "");
}

TEST_F(RuntimeClassTest, TheClassSetsWhereThePodRuns) {
  under_.start();
  add_class(R"(,"scheduling":{"nodeSelector":{"a":"b"},"tolerations":[{"key":"k","operator":"Exists"}]})");
  EXPECT_EQ(admitted(R"({"runtimeClassName":"rc"})"),
            R"({"runtimeClassName":"rc","nodeSelector":{"a":"b"},"tolerations":[{"key":"k","operator":"Exists"}]})");
  EXPECT_EQ(admitted(R"({"runtimeClassName":"rc","nodeSelector":{"a":"c"}})"),
            "pods \"p\" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c");
}

TEST_F(RuntimeClassTest, AClassThatTheCacheDoesNotHaveYetIsReadFromTheStore) {
  EXPECT_EQ(admitted(R"({"runtimeClassName":"rc"})"), "pods \"p\" is forbidden: pod rejected: RuntimeClass \"rc\" not found");
  add_class(R"(,"overhead":{"podFixed":{"cpu":"1"}})");
  EXPECT_EQ(admitted(R"({"runtimeClassName":"rc"})"), R"({"runtimeClassName":"rc","overhead":{"cpu":"1"}})");
  EXPECT_EQ(admitted(R"({"runtimeClassName":""})"), "resource name may not be empty");
}

TEST(PodTopologyLabels, CopiesZoneAndRegionOfTheNode) {
  PluginUnderTest under({"PodTopologyLabelsAdmission"});
  under.store(kNode, "nodes");
  under.make(pod_plugins(), "PodTopologyLabels");
  under.start();
  under.put(kNode, "nodes",
            R"({"metadata":{"name":"n","labels":{"topology.kubernetes.io/region":"r","topology.kubernetes.io/zone":"z","other":"o"}}})");
  WriteUnderTest binding({"", "v1", "Binding"}, "pods", R"({"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}})");
  binding.attributes.subresource = "binding";
  EXPECT_TRUE(under.admit(binding.attributes).ok());
  const std::string labels = R"({"topology.kubernetes.io/region":"r","topology.kubernetes.io/zone":"z"})";
  EXPECT_EQ(to_json(*ObjectMeta(binding.object).labels()), labels);
  WriteUnderTest other_target({"", "v1", "Binding"}, "pods", R"({"metadata":{"name":"p"},"target":{"kind":"Other","name":"n"}})");
  other_target.attributes.subresource = "binding";
  EXPECT_TRUE(under.admit(other_target.attributes).ok());
  EXPECT_EQ(ObjectMeta(other_target.object).labels(), nullptr);
  PodUnderTest pod(R"({"nodeName":"n"})");
  EXPECT_TRUE(under.admit(pod.attributes).ok());
  EXPECT_EQ(pod.member("metadata.labels"), labels);
  PodUnderTest missing(R"({"nodeName":"other"})");
  EXPECT_TRUE(under.admit(missing.attributes).ok());
  EXPECT_EQ(missing.member("metadata.labels"), "");
}

// An update of a pod on the node "n"; its generation has changed.
struct RunningPod : PodUnderTest {
  RunningPod(std::string_view spec, std::string_view old_spec, std::string subresource) : PodUnderTest(spec, old_spec) {
    attributes.subresource = std::move(subresource);
    for (Object* each : {&object, &old}) (*each)["spec"].get_object()["nodeName"] = "n";
    ObjectMeta(object).set_generation(2);
    ObjectMeta(old).set_generation(1);
  }
};

class RunningPodTest : public ::testing::Test {
 protected:
  RunningPodTest() : under_({"NodeDeclaredFeatures"}) { under_.store(kNode, "nodes"); }
  void make(std::string_view name, std::string_view node) {
    under_.make(pod_plugins(), name);
    under_.start();
    under_.put(kNode, "nodes", node);
  }
  PluginUnderTest under_;
};

TEST_F(RunningPodTest, AResizeMustFitTheNode) {
  make("PodResizeValidator",
       R"({"metadata":{"name":"n","labels":{"kubernetes.io/os":"linux"}},"status":{"allocatable":{"cpu":"1","memory":"1Gi"}}})");
  const auto status_of = [&](std::string_view requests, std::string subresource = "resize") {
    const std::string spec =
        R"({"containers":[{"name":"c","resources":{"requests":)" + std::string(requests) + R"(}}],"overhead":{"cpu":"50m"}})";
    RunningPod pod(spec, R"({"containers":[{"name":"c"}]})", std::move(subresource));
    return under_.validate(pod.attributes);
  };
  EXPECT_TRUE(status_of(R"({"cpu":"950m","memory":"1Gi"})").ok());
  EXPECT_TRUE(status_of(R"({"cpu":"2"})", "").ok());
  const Status refused = status_of(R"({"cpu":"1","memory":"2Gi"})");
  EXPECT_EQ(refused.message(),
            "pods \"p\" is forbidden: node didn't have enough allocatable resources: cpu, requested: 1050, allocatable: 1000; memory, "
            "requested: 2147483648, allocatable: 1073741824");
  ASSERT_EQ(refused.details()->causes.size(), 1U);
  EXPECT_EQ(refused.details()->causes[0].reason, "NodeCapacity");
  EXPECT_EQ(refused.details()->name, "p");
}

TEST_F(RunningPodTest, AResizeNeedsALinuxNodeThatExists) {
  make("PodResizeValidator", R"({"metadata":{"name":"n","labels":{"kubernetes.io/os":"windows"}}})");
  RunningPod pod(R"({"containers":[]})", R"({"containers":[{"name":"c"}]})", "resize");
  const Status refused = under_.validate(pod.attributes);
  EXPECT_EQ(refused.message(), "pods \"p\" is forbidden: pod resize is only supported on linux nodes, node \"n\" is \"windows\"");
  EXPECT_EQ(refused.details()->causes[0].reason, "UnsupportedPlatform");
  pod.object["spec"].get_object()["nodeName"] = "gone";
  EXPECT_EQ(under_.validate(pod.attributes).message(), "pods \"p\" is forbidden: node \"gone\" not found");
  ObjectMeta(pod.object).set_generation(1);
  EXPECT_TRUE(under_.validate(pod.attributes).ok());
}

TEST_F(RunningPodTest, AnUpdateNeedsWhatItsNodeDeclares) {
  make("NodeDeclaredFeatureValidator",
       R"({"metadata":{"name":"n"},"status":{"declaredFeatures":["InPlacePodLevelResourcesVerticalScaling"]}})");
  const std::string init = R"({"initContainers":[{"name":"i","resources":{"requests":{"cpu":"1"}}}]})";
  RunningPod resized(init, R"({"initContainers":[{"name":"i"}]})", "resize");
  EXPECT_EQ(under_.validate(resized.attributes).message(),
            "pods \"p\" is forbidden: pod update requires features InPlacePodVerticalScalingInitContainers which are not available on node "
            "\"n\"");
  RunningPod sidecar(R"({"initContainers":[{"name":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}]})",
                     R"({"initContainers":[{"name":"i","restartPolicy":"Always"}]})", "resize");
  EXPECT_TRUE(under_.validate(sidecar.attributes).ok());
  RunningPod whole(R"({"resources":{"requests":{"cpu":"1"}}})", "{}", "");
  EXPECT_TRUE(under_.validate(whole.attributes).ok());
}

TEST(AntiAffinityTopology, MayOnlyBeAboutNodes) {
  PluginUnderTest under;
  under.make(pod_plugins(), "LimitPodHardAntiAffinityTopology");
  const auto problem = [&](std::string_view list, std::string_view key) {
    PodUnderTest pod(R"({"affinity":{"podAntiAffinity":{")" + std::string(list) + R"(":[{"topologyKey":")" + std::string(key) +
                     R"("}]}}})");
    return under.validate(pod.attributes).message();
  };
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  EXPECT_EQ(problem(kRequired, "kubernetes.io/hostname"), "");
  EXPECT_EQ(problem(kRequired, "zone"),
            "pods \"p\" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key "
            "kubernetes.io/hostname is allowed");
  EXPECT_EQ(problem("preferredDuringSchedulingIgnoredDuringExecution", "zone"), "");
}

TEST(AlwaysPullImages, SetsAndChecksThePolicy) {
  PluginUnderTest under;
  under.make(pod_plugins(), "AlwaysPullImages");
  const std::string spec =
      R"({"initContainers":[{"name":"i","image":"a","imagePullPolicy":"Never"}],"containers":[{"name":"c","image":"b"}],)"
      R"("volumes":[{"name":"v","image":{"reference":"r","pullPolicy":"IfNotPresent"}},{"name":"w","emptyDir":{}}]})";
  PodUnderTest pod(spec);
  EXPECT_TRUE(under.admit(pod.attributes).ok());
  EXPECT_EQ(
      pod.member("spec"),
      R"({"initContainers":[{"name":"i","image":"a","imagePullPolicy":"Always"}],"containers":[{"name":"c","image":"b",)"
      R"("imagePullPolicy":"Always"}],"volumes":[{"name":"v","image":{"reference":"r","pullPolicy":"Always"}},{"name":"w","emptyDir":{}}]})");
  EXPECT_TRUE(under.validate(pod.attributes).ok());
  PodUnderTest as_sent(spec);
  const Status refused = under.validate(as_sent.attributes);
  const std::string start = "pods \"p\" is forbidden: spec.";
  EXPECT_EQ(refused.code(), 500);
  EXPECT_EQ(refused.message(), "[" + start +
                                   R"(initContainers[0].imagePullPolicy: Unsupported value: "Never": supported values: "Always", )" +
                                   start + R"(containers[0].imagePullPolicy: Unsupported value: "": supported values: "Always", )" + start +
                                   R"(volumes[0].image.pullPolicy: Unsupported value: "IfNotPresent": supported values: "Always"])");
  PodUnderTest same_images(spec, R"({"containers":[{"name":"c","image":"b"},{"name":"d","image":"a"}]})");
  EXPECT_TRUE(under.validate(same_images.attributes).ok());
}

}  // namespace
}  // namespace backplane::admission::test
