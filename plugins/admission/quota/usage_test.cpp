// The usage of objects: the tables of upstream's pods_test, services_test, persistent_volume_claims_test and resource_claims_test.
#include <gtest/gtest.h>

#include <set>

#include "backplane/core/meta.hpp"
#include "quota/evaluators.hpp"
#include "quota/pod_usage.hpp"

namespace backplane::admission::quota {
namespace {

Object object_of(std::string_view text) { return json::parse(text).as_object(); }

ResourceList list_of(std::string_view text) {
  Object root;
  root["list"] = json::parse(text);
  return read_resources(root, "list");
}

class SomeClasses final : public DeviceClasses {
 public:
  std::string extended_resource_of(std::string_view device_class) const override { return device_class == "gpu" ? "example.com/gpu" : ""; }
  bool provides(std::string_view resource) const override {
    return resource == "example.com/gpu" || resource == "deviceclass.resource.kubernetes.io/gpu";
  }
};

struct UsageCase {
  std::string_view name;
  std::string_view object;
  std::string_view usage;
};

void expect_usage(const Evaluator& evaluator, const UsageCase& each, const ResourceList& owner = {}) {
  const Object object = object_of(each.object);
  const ResourceList used = evaluator.usage({&object, owner});
  EXPECT_TRUE(same_amounts(used, list_of(each.usage))) << each.name << ": " << print(used);
}

constexpr UsageCase kPods[] = {
    {"init container CPU", R"({"spec":{"initContainers":[{"resources":{"requests":{"cpu":"1m"},"limits":{"cpu":"2m"}}}]}})",
     R"({"requests.cpu":"1m","limits.cpu":"2m","pods":"1","cpu":"1m","count/pods":"1"})"},
    {"container memory", R"({"spec":{"containers":[{"resources":{"requests":{"memory":"1m"},"limits":{"memory":"2m"}}}]}})",
     R"({"requests.memory":"1m","limits.memory":"2m","pods":"1","memory":"1m","count/pods":"1"})"},
    {"ephemeral storage",
     R"({"spec":{"containers":[{"resources":{"requests":{"ephemeral-storage":"32Mi"},"limits":{"ephemeral-storage":"64Mi"}}}]}})",
     R"({"ephemeral-storage":"32Mi","requests.ephemeral-storage":"32Mi","limits.ephemeral-storage":"64Mi","pods":"1","count/pods":"1"})"},
    {"huge pages", R"({"spec":{"containers":[{"resources":{"requests":{"hugepages-2Mi":"100Mi"}}}]}})",
     R"({"hugepages-2Mi":"100Mi","requests.hugepages-2Mi":"100Mi","pods":"1","count/pods":"1"})"},
    {"extended resources",
     R"({"spec":{"containers":[{"resources":{"requests":{"example.com/dongle":"3"},"limits":{"example.com/dongle":"3"}}}]}})",
     R"({"requests.example.com/dongle":"3","pods":"1","count/pods":"1"})"},
    {"implicit extended resources",
     R"({"spec":{"containers":[{"resources":{"requests":{"deviceclass.resource.kubernetes.io/dongle":"3"}}}]}})",
     R"({"requests.deviceclass.resource.kubernetes.io/dongle":"3","pods":"1","count/pods":"1"})"},
    {"a pod that has ended still is an object",
     R"({"spec":{"containers":[{"resources":{"requests":{"example.com/dongle":"3"}}}]},"status":{"phase":"Succeeded"}})",
     R"({"count/pods":"1"})"},
    {"init container maximums override sum of containers",
     R"({"spec":{"initContainers":[
        {"resources":{"requests":{"cpu":"4","memory":"100M","example.com/dongle":"4"},"limits":{"cpu":"8","memory":"200M","example.com/dongle":"4"}}},
        {"resources":{"requests":{"cpu":"1","memory":"50M","example.com/dongle":"2"},"limits":{"cpu":"2","memory":"100M","example.com/dongle":"2"}}}],
      "containers":[
        {"resources":{"requests":{"cpu":"1","memory":"50M","example.com/dongle":"1"},"limits":{"cpu":"2","memory":"100M","example.com/dongle":"1"}}},
        {"resources":{"requests":{"cpu":"2","memory":"25M","example.com/dongle":"2"},"limits":{"cpu":"5","memory":"50M","example.com/dongle":"2"}}}]}})",
     R"({"requests.cpu":"4","requests.memory":"100M","limits.cpu":"8","limits.memory":"200M","pods":"1","cpu":"4","memory":"100M",
         "requests.example.com/dongle":"4","count/pods":"1"})"},
    {"sidecars add to containers and to later init containers",
     R"({"spec":{"initContainers":[
        {"resources":{"requests":{"cpu":"5"}}},
        {"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
        {"resources":{"requests":{"cpu":"6"}}}],
      "containers":[{"resources":{"requests":{"cpu":"2"}}}]}})",
     R"({"requests.cpu":"7","cpu":"7","pods":"1","count/pods":"1"})"},
    {"overhead counts for limits that are not zero",
     R"({"spec":{"overhead":{"cpu":"1","memory":"1Mi"},"containers":[{"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}}}]}})",
     R"({"requests.cpu":"2","limits.cpu":"3","cpu":"2","memory":"1Mi","requests.memory":"1Mi","pods":"1","count/pods":"1"})"},
    {"pod-level memory with container-level storage",
     R"({"spec":{"resources":{"requests":{"memory":"1Mi"},"limits":{"memory":"2Mi"}},
      "containers":[{"resources":{"requests":{"ephemeral-storage":"32Mi","memory":"7Mi"},"limits":{"ephemeral-storage":"64Mi"}}}]}})",
     R"({"ephemeral-storage":"32Mi","requests.ephemeral-storage":"32Mi","limits.ephemeral-storage":"64Mi","pods":"1","count/pods":"1",
         "requests.memory":"1Mi","limits.memory":"2Mi","memory":"1Mi"})"},
    {"a resize counts as the larger of wanted, actual and allocated",
     R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"2","memory":"1Gi"},"limits":{"cpu":"3"}}}]},
      "status":{"containerStatuses":[{"name":"a","allocatedResources":{"memory":"2Gi"},
        "resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"4"}}}]}})",
     R"({"requests.cpu":"2","cpu":"2","requests.memory":"2Gi","memory":"2Gi","limits.cpu":"4","pods":"1","count/pods":"1"})"},
    {"a resize that is infeasible counts as what the container has",
     R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"9"},"limits":{"cpu":"9"}}}]},
      "status":{"conditions":[{"type":"PodResizePending","reason":"Infeasible"}],
        "containerStatuses":[{"name":"a","resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}}}]}})",
     R"({"requests.cpu":"1","cpu":"1","limits.cpu":"2","pods":"1","count/pods":"1"})"},
};

TEST(QuotaUsage, Pods) {
  const auto pods = make_pod_evaluator({});
  for (const UsageCase& each : kPods) expect_usage(*pods, each);
}

TEST(QuotaUsage, APodIsNoLongerCountedWhenItsDeletionShouldHaveEnded) {
  const auto pods = make_pod_evaluator({});
  const auto pod = [](std::int64_t deleted) {
    return R"({"metadata":{"deletionGracePeriodSeconds":30,"deletionTimestamp":")" + format_rfc3339(deleted) +
           R"("},"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}})";
  };
  const std::int64_t now = *parse_rfc3339(now_rfc3339());
  expect_usage(*pods, {"ended", pod(now - 60), R"({"count/pods":"1"})"});
  expect_usage(*pods, {"ending", pod(now), R"({"count/pods":"1","pods":"1","cpu":"1","requests.cpu":"1"})"});
}

TEST(QuotaUsage, WithoutTheGatePodLevelResourcesDoNotCount) {
  Gates gates;
  gates.pod_level_resources = false;
  const auto pods = make_pod_evaluator(gates);
  expect_usage(
      *pods, {"both", R"({"spec":{"resources":{"requests":{"cpu":"8"}},"containers":[{"name":"a","resources":{"requests":{"cpu":"2"}}}]}})",
              R"({"requests.cpu":"2","cpu":"2","pods":"1","count/pods":"1"})"});
}

TEST(QuotaUsage, MissingRequests) {
  struct Case {
    std::string_view pod;
    ResourceNames required;
    std::string missing;
  };
  const Case cases[] = {
      {R"({"spec":{"initContainers":[{"name":"dummy","resources":{"requests":{"cpu":"1m"}}}]}})",
       {"memory"},
       "must specify memory for: dummy"},
      {R"({"spec":{"containers":[{"name":"foo","resources":{"requests":{"cpu":"1m"}}},{"name":"bar","resources":{"requests":{"cpu":"1m"}}}]}})",
       {"memory"},
       "must specify memory for: bar,foo"},
      {R"({"spec":{"containers":[{"name":"foo"},{"name":"bar"}]}})",
       {"memory", "cpu"},
       "must specify cpu for: bar,foo; memory for: bar,foo"},
      {R"({"spec":{"resources":{"requests":{"cpu":"1m"}},"containers":[{"name":"foo"},{"name":"bar"}]}})", {"memory", "cpu"}, ""},
      {R"({"spec":{"containers":[{"name":"foo"}]}})", {"pods", "ephemeral-storage"}, ""},
  };
  const auto pods = make_pod_evaluator({});
  for (const Case& each : cases) EXPECT_EQ(pods->missing(each.required, object_of(each.pod)).value_or(""), each.missing) << each.pod;
}

TEST(QuotaUsage, MatchingResourcesOfPods) {
  const auto pods = make_pod_evaluator({});
  EXPECT_EQ(pods->matching_resources({"cpu", "requests.cpu", "hugepages-2Mi", "requests.hugepages-1Gi", "requests.example.com/gpu",
                                      "requests.deviceclass.resource.kubernetes.io/gpu", "requests.storage", "services",
                                      "gpu.deviceclass.resource.k8s.io/devices", "count/pods"}),
            (ResourceNames{"cpu", "requests.cpu", "hugepages-2Mi", "requests.hugepages-1Gi", "requests.example.com/gpu",
                           "requests.deviceclass.resource.kubernetes.io/gpu", "count/pods"}));
}

TEST(QuotaUsage, Services) {
  const auto services = make_service_evaluator();
  const UsageCase cases[] = {
      {"a load balancer with ports", R"({"spec":{"type":"LoadBalancer","ports":[{"port":27443}]}})",
       R"({"services.nodeports":"1","services.loadbalancers":"1","services":"1","count/services":"1"})"},
      {"two ports", R"({"spec":{"type":"NodePort","ports":[{"port":1},{"port":2}]}})",
       R"({"services.nodeports":"2","services.loadbalancers":"0","services":"1","count/services":"1"})"},
      {"a cluster IP", R"({"spec":{"type":"ClusterIP","ports":[{"port":1}]}})",
       R"({"services.nodeports":"0","services.loadbalancers":"0","services":"1","count/services":"1"})"},
      {"without allocation",
       R"({"spec":{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"ports":[{"port":1},{"port":2,"nodePort":32001}]}})",
       R"({"services.nodeports":"1","services.loadbalancers":"1","services":"1","count/services":"1"})"},
  };
  for (const UsageCase& each : cases) expect_usage(*services, each);
}

TEST(QuotaUsage, VolumeClaims) {
  const auto claims = make_volume_claim_evaluator();
  const UsageCase cases[] = {
      {"plain", R"({"spec":{"resources":{"requests":{"storage":"10Gi"}}}})",
       R"({"requests.storage":"10Gi","persistentvolumeclaims":"1","count/persistentvolumeclaims":"1"})"},
      {"by class", R"({"spec":{"storageClassName":"gold","resources":{"requests":{"storage":"10Gi"}}}})",
       R"({"requests.storage":"10Gi","persistentvolumeclaims":"1","count/persistentvolumeclaims":"1",
           "gold.storageclass.storage.k8s.io/requests.storage":"10Gi","gold.storageclass.storage.k8s.io/persistentvolumeclaims":"1"})"},
      {"the older annotation wins",
       R"({"metadata":{"annotations":{"volume.beta.kubernetes.io/storage-class":"old"}},"spec":{"storageClassName":"gold"}})",
       R"({"persistentvolumeclaims":"1","count/persistentvolumeclaims":"1","old.storageclass.storage.k8s.io/persistentvolumeclaims":"1"})"},
      {"rounded up", R"({"spec":{"resources":{"requests":{"storage":"1000000000001m"}}}})",
       R"({"requests.storage":"1000000001","persistentvolumeclaims":"1","count/persistentvolumeclaims":"1"})"},
      {"more is allocated", R"({"spec":{"resources":{"requests":{"storage":"5Gi"}}},"status":{"allocatedResources":{"storage":"10Gi"}}})",
       R"({"requests.storage":"10Gi","persistentvolumeclaims":"1","count/persistentvolumeclaims":"1"})"},
      {"less is allocated", R"({"spec":{"resources":{"requests":{"storage":"5Gi"}}},"status":{"allocatedResources":{"storage":"1Gi"}}})",
       R"({"requests.storage":"5Gi","persistentvolumeclaims":"1","count/persistentvolumeclaims":"1"})"},
  };
  for (const UsageCase& each : cases) expect_usage(*claims, each);
}

TEST(QuotaUsage, VolumeAttributesClasses) {
  const auto claims = make_volume_claim_evaluator();
  const Object claim = object_of(R"({"spec":{"volumeAttributesClassName":"gold"},"status":{"currentVolumeAttributesClassName":"silver"}})");
  const Object plain = object_of(R"({"spec":{}})");
  const auto matches = [&](std::string op, std::vector<std::string> values, const Object& object) {
    return *claims->matches_scope({"VolumeAttributesClass", std::move(op), std::move(values)}, object);
  };
  EXPECT_TRUE(matches("Exists", {}, claim));
  EXPECT_FALSE(matches("Exists", {}, plain));
  EXPECT_TRUE(matches("In", {"gold"}, claim));
  EXPECT_TRUE(matches("In", {"silver"}, claim));
  EXPECT_FALSE(matches("In", {"copper"}, claim));
  EXPECT_TRUE(matches("NotIn", {"gold"}, claim)) << "silver is not in it";
  EXPECT_TRUE(matches("DoesNotExist", {}, plain));
}

TEST(QuotaUsage, ResourceClaims) {
  const SomeClasses classes;
  const auto claims = make_resource_claim_evaluator({}, classes);
  const UsageCase cases[] = {
      {"one device", R"({"spec":{"devices":{"requests":[{"exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":1}}]}}})",
       R"({"count/resourceclaims.resource.k8s.io":"1","gpu.deviceclass.resource.k8s.io/devices":"1",
           "requests.deviceclass.resource.kubernetes.io/gpu":"1","requests.example.com/gpu":"1"})"},
      {"all devices", R"({"spec":{"devices":{"requests":[{"exactly":{"deviceClassName":"tpu","allocationMode":"All"}}]}}})",
       R"({"count/resourceclaims.resource.k8s.io":"1","tpu.deviceclass.resource.k8s.io/devices":"32",
           "requests.deviceclass.resource.kubernetes.io/tpu":"32"})"},
      {"an unknown mode", R"({"spec":{"devices":{"requests":[{"exactly":{"deviceClassName":"tpu","allocationMode":"New"}}]}}})",
       R"({"count/resourceclaims.resource.k8s.io":"1","tpu.deviceclass.resource.k8s.io/devices":"0"})"},
      {"the worst of the alternatives, by class",
       R"({"spec":{"devices":{"requests":[{"firstAvailable":[
          {"deviceClassName":"tpu","allocationMode":"ExactCount","count":2},
          {"deviceClassName":"tpu","allocationMode":"ExactCount","count":1},
          {"deviceClassName":"npu","allocationMode":"ExactCount","count":1}]},
          {"exactly":{"deviceClassName":"tpu","allocationMode":"ExactCount","count":5}}]}}})",
       R"({"count/resourceclaims.resource.k8s.io":"1","tpu.deviceclass.resource.k8s.io/devices":"7",
           "npu.deviceclass.resource.k8s.io/devices":"1","requests.deviceclass.resource.kubernetes.io/tpu":"7",
           "requests.deviceclass.resource.kubernetes.io/npu":"1"})"},
  };
  for (const UsageCase& each : cases) expect_usage(*claims, each);
  expect_usage(*claims,
               {"what its pod has counted", R"({"spec":{"devices":{"requests":[
                  {"exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":2}}]}}})",
                R"({"count/resourceclaims.resource.k8s.io":"1","gpu.deviceclass.resource.k8s.io/devices":"2",
                    "requests.deviceclass.resource.kubernetes.io/gpu":"2","requests.example.com/gpu":"1"})"},
               list_of(R"({"requests.example.com/gpu":"1","pods":"1"})"));
}

TEST(QuotaUsage, MatchingResourcesOfResourceClaims) {
  const SomeClasses classes;
  const auto claims = make_resource_claim_evaluator({}, classes);
  EXPECT_EQ(
      claims->matching_resources({"count/resourceclaims.resource.k8s.io", "tpu.deviceclass.resource.k8s.io/devices",
                                  "requests.deviceclass.resource.kubernetes.io/gpu", "requests.deviceclass.resource.kubernetes.io/tpu",
                                  "requests.example.com/gpu", "requests.example.com/other", "requests.cpu"}),
      (ResourceNames{"count/resourceclaims.resource.k8s.io", "tpu.deviceclass.resource.k8s.io/devices",
                     "requests.deviceclass.resource.kubernetes.io/gpu", "requests.example.com/gpu"}));
}

TEST(QuotaUsage, AnyOtherResourceIsCounted) {
  const SomeClasses classes;
  const Evaluators evaluators({}, classes);
  expect_usage(*evaluators.of({"example.com", "widgets"}), {"custom", "{}", R"({"count/widgets.example.com":"1"})"});
  expect_usage(*evaluators.of({"", "configmaps"}), {"aliased", "{}", R"({"count/configmaps":"1","configmaps":"1"})"});
  EXPECT_FALSE(Evaluators::counts({"", "events"}));
  EXPECT_FALSE(Evaluators::counts({"authentication.k8s.io", "tokenreviews"}));
  EXPECT_TRUE(Evaluators::counts({"apps", "deployments"}));
}

}  // namespace
}  // namespace backplane::admission::quota
