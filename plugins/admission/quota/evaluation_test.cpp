// Writes against quotas: the tables of upstream's admission_test and config_test.
#include "quota/evaluation.hpp"

#include <gtest/gtest.h>

#include "quota/evaluators.hpp"

namespace backplane::admission::quota {
namespace {

class NoClasses final : public DeviceClasses {
 public:
  std::string extended_resource_of(std::string_view) const override { return {}; }
  bool provides(std::string_view) const override { return false; }
};

ObjectRef stored_quota(std::string_view text) {
  auto out = std::make_shared<ObjectEntry>();
  const Object object = json::parse(text).as_object();
  out->set_identity("", "", meta_name(object));
  out->set_json(SharedBytes(std::string(text)));
  return out;
}

// A write and its quotas, as JSON.
struct Write {
  std::string_view resource = "pods";
  std::string_view object;
  std::string_view old_object = "";
  std::vector<std::string_view> quotas = {};
  std::string_view config = "";
  std::string_view subresource = "";
};

// "name: used" of each charge, or the message of the refusal.
std::string outcome(const Write& write) {
  static const NoClasses kClasses;
  static const Evaluators kEvaluators({}, kClasses);
  const Object object = json::parse(write.object).as_object();
  const Object old = write.old_object.empty() ? Object() : json::parse(write.old_object).as_object();
  AdmissionAttributes attributes;
  attributes.operation = write.old_object.empty() ? AdmissionOperation::kCreate : AdmissionOperation::kUpdate;
  attributes.resource = {"", "v1", std::string(write.resource)};
  attributes.subresource = write.subresource;
  attributes.ns = "test";
  attributes.name = "x";
  attributes.object = const_cast<Object*>(&object);
  attributes.old_object = write.old_object.empty() ? nullptr : &old;
  const auto limits = parse_limits(write.config);
  if (!limits.ok()) return limits.status().message();
  const auto evaluator = kEvaluators.of({"", std::string(write.resource)});
  if (!evaluator->handles(attributes)) return "not handled";
  std::vector<Quota> quotas;
  for (const std::string_view each : write.quotas) quotas.push_back(read_quota(stored_quota(each)));
  const auto charges = charges_of({attributes, *evaluator, *limits, {attributes.object}, {attributes.old_object}}, quotas);
  if (!charges.ok()) return charges.status().message();
  const Status room = check_room(attributes, *charges);
  if (!room.ok()) return room.message();
  std::string out;
  for (const Charge& charge : *charges) {
    out += (out.empty() ? "" : "; ") + charge.quota.name + ": " + print(usage_with(charge, charge.quota).used);
  }
  return out;
}

constexpr std::string_view kPod =
    R"({"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"100m","memory":"2Gi"}}}]}})";
constexpr std::string_view kBigPod =
    R"({"spec":{"priorityClassName":"fake-priority","containers":[{"name":"c","resources":{"requests":{"cpu":"3","memory":"2Gi"}}}]}})";
constexpr std::string_view kBestEffortPod = R"({"spec":{"priorityClassName":"fake-priority","containers":[{"name":"c"}]}})";
constexpr std::string_view kQuota =
    R"({"metadata":{"name":"quota"},"status":{"hard":{"cpu":"3","memory":"100Gi","pods":"5"},"used":{"cpu":"1","memory":"50Gi","pods":"3"}}})";

TEST(QuotaEvaluation, AWriteIsAddedToTheUsage) {
  EXPECT_EQ(outcome({.object = kPod, .quotas = {kQuota}}), "quota: cpu=1100m,memory=52Gi,pods=4");
  EXPECT_EQ(outcome({.object = kPod}), "");
  EXPECT_EQ(outcome({.object = kPod, .quotas = {R"({"metadata":{"name":"new"},"spec":{"hard":{"pods":"1"}}})"}}), "") << "no status yet";
  EXPECT_EQ(
      outcome({.object = kPod, .quotas = {R"({"metadata":{"name":"other"},"status":{"hard":{"services":"1"},"used":{"services":"1"}}})"}}),
      "");
}

TEST(QuotaEvaluation, Refusals) {
  EXPECT_EQ(outcome({.object = kBigPod, .quotas = {kQuota}}),
            "pods \"x\" is forbidden: exceeded quota: quota, requested: cpu=3, used: cpu=1, limited: cpu=3");
  EXPECT_EQ(outcome({.object = kBestEffortPod, .quotas = {kQuota}}),
            "pods \"x\" is forbidden: failed quota: quota: must specify cpu for: c; memory for: c");
  EXPECT_EQ(outcome({.object = kPod,
                     .quotas = {R"({"metadata":{"name":"quota"},"status":{"hard":{"pods":"1","cpu":"1"},"used":{"pods":"0"}}})"}}),
            "pods \"x\" is forbidden: status unknown for quota: quota, resources: cpu,pods");
  EXPECT_EQ(
      outcome(
          {.resource = "persistentvolumeclaims",
           .object = R"({"spec":{"resources":{"requests":{"storage":"-1Gi"}}}})",
           .quotas = {R"({"metadata":{"name":"quota"},"status":{"hard":{"requests.storage":"9Gi"},"used":{"requests.storage":"1Gi"}}})"}}),
      "persistentvolumeclaims \"x\" is forbidden: quota usage is negative for resource(s): requests.storage");
}

TEST(QuotaEvaluation, SomethingElseThatIsExceededDoesNotMatter) {
  EXPECT_EQ(
      outcome({.object = R"({"spec":{"containers":[{"name":"c"}]}})",
               .quotas =
                   {R"({"metadata":{"name":"quota"},"status":{"hard":{"services":"3","pods":"4"},"used":{"services":"4","pods":"1"}}})"}}),
      "quota: pods=2,services=4");
}

TEST(QuotaEvaluation, UpdatesOfServices) {
  constexpr std::string_view quota =
      R"({"metadata":{"name":"quota"},"status":{"hard":{"services":"10","services.loadbalancers":"10","services.nodeports":"10"},
          "used":{"services":"1","services.loadbalancers":"1","services.nodeports":"0"}}})";
  constexpr std::string_view balanced = R"({"metadata":{"resourceVersion":"1"},"spec":{"type":"LoadBalancer"}})";
  constexpr std::string_view with_port = R"({"metadata":{"resourceVersion":"1"},"spec":{"type":"NodePort","ports":[{"port":1234}]}})";
  EXPECT_EQ(outcome({.resource = "services", .object = with_port, .old_object = balanced, .quotas = {quota}}),
            "quota: services=1,services.loadbalancers=1,services.nodeports=1");
  // Without a resourceVersion the object may be new, so it counts in full.
  EXPECT_EQ(outcome({.resource = "services", .object = with_port, .old_object = R"({"spec":{"type":"LoadBalancer"}})", .quotas = {quota}}),
            "quota: services=2,services.loadbalancers=1,services.nodeports=1");
}

TEST(QuotaEvaluation, UpdatesOfVolumeClaims) {
  constexpr std::string_view quota =
      R"({"metadata":{"name":"quota"},"status":{"hard":{"persistentvolumeclaims":"3","requests.storage":"100Gi"},
          "used":{"persistentvolumeclaims":"1","requests.storage":"10Gi"}}})";
  constexpr std::string_view five = R"({"metadata":{"resourceVersion":"1"},"spec":{"resources":{"requests":{"storage":"5Gi"}}}})";
  constexpr std::string_view ten = R"({"metadata":{"resourceVersion":"1"},"spec":{"resources":{"requests":{"storage":"10Gi"}}}})";
  constexpr std::string_view most = R"({"metadata":{"resourceVersion":"1"},"spec":{"resources":{"requests":{"storage":"500Gi"}}}})";
  EXPECT_EQ(outcome({.resource = "persistentvolumeclaims", .object = ten, .old_object = five, .quotas = {quota}}),
            "quota: persistentvolumeclaims=1,requests.storage=15Gi");
  EXPECT_EQ(outcome({.resource = "persistentvolumeclaims", .object = five, .old_object = ten, .quotas = {quota}}), "")
      << "less is not taken off";
  EXPECT_EQ(
      outcome({.resource = "persistentvolumeclaims", .object = most, .old_object = five, .quotas = {quota}}),
      "persistentvolumeclaims \"x\" is forbidden: exceeded quota: quota, requested: requests.storage=495Gi, used: requests.storage=10Gi, "
      "limited: requests.storage=100Gi");
  EXPECT_EQ(outcome({.resource = "persistentvolumeclaims", .object = most, .old_object = five, .quotas = {quota}, .subresource = "status"}),
            "quota: persistentvolumeclaims=1,requests.storage=505Gi")
      << "a status is recorded, not refused";
}

TEST(QuotaEvaluation, ScopesOfPods) {
  constexpr std::string_view terminating =
      R"({"metadata":{"name":"quota"},"spec":{"scopes":["Terminating"]},"status":{"hard":{"pods":"5"},"used":{"pods":"3"}}})";
  constexpr std::string_view lasting =
      R"({"metadata":{"name":"other"},"spec":{"scopes":["NotTerminating"]},"status":{"hard":{"pods":"5"},"used":{"pods":"1"}}})";
  constexpr std::string_view job = R"({"metadata":{"resourceVersion":"1"},"spec":{"activeDeadlineSeconds":5,"containers":[{"name":"c"}]}})";
  constexpr std::string_view server = R"({"metadata":{"resourceVersion":"1"},"spec":{"containers":[{"name":"c"}]}})";
  EXPECT_EQ(outcome({.object = job, .quotas = {lasting, terminating}}), "quota: pods=4");
  EXPECT_EQ(outcome({.object = server, .quotas = {lasting, terminating}}), "other: pods=2");
  EXPECT_EQ(outcome({.object = job, .old_object = server, .quotas = {lasting, terminating}}), "quota: pods=4")
      << "it has changed its scope";
  EXPECT_EQ(outcome({.object = server, .old_object = server, .quotas = {lasting, terminating}}), "not handled");
  EXPECT_EQ(outcome({.object = server, .old_object = server, .quotas = {lasting}, .subresource = "resize"}), "") << "the same amount";
  EXPECT_EQ(outcome({.object = server, .quotas = {lasting}, .subresource = "binding"}), "not handled");
}

TEST(QuotaEvaluation, MoreScopes) {
  struct Case {
    std::string_view scope;
    std::string_view pod;
    bool counted;
  };
  constexpr std::string_view plain = R"({"spec":{"containers":[{"name":"c"}]}})";
  constexpr std::string_view burstable = R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})";
  constexpr std::string_view across =
      R"({"spec":{"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"podAffinityTerm":{"namespaces":["a"]}}]}}}})";
  const Case cases[] = {
      {R"("scopes":["BestEffort"])", plain, true},
      {R"("scopes":["BestEffort"])", burstable, false},
      {R"("scopes":["NotBestEffort"])", burstable, true},
      {R"("scopes":["CrossNamespacePodAffinity"])", across, true},
      {R"("scopes":["CrossNamespacePodAffinity"])", plain, false},
      {R"("scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["high","fake-priority"]}]})", kBigPod,
       true},
      {R"("scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"NotIn","values":["fake-priority"]}]})", kBigPod,
       false},
      {R"("scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"NotIn","values":["high"]}]})", plain, true},
      {R"("scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"DoesNotExist"}]})", plain, true},
      {R"("scopes":["VolumeAttributesClass"])", plain, false},
  };
  for (const Case& each : cases) {
    const std::string quota =
        R"({"metadata":{"name":"quota"},"spec":{)" + std::string(each.scope) + R"(},"status":{"hard":{"pods":"5"},"used":{"pods":"1"}}})";
    EXPECT_EQ(outcome({.object = each.pod, .quotas = {quota}}), each.counted ? "quota: pods=2" : "") << each.scope << " " << each.pod;
  }
  EXPECT_EQ(outcome({.resource = "configmaps", .object = "{}", .quotas = {R"({"metadata":{"name":"q"},"spec":{"scopes":["BestEffort"]},
      "status":{"hard":{"count/configmaps":"1"},"used":{"count/configmaps":"0"}}})"}}),
            "")
      << "only pods and claims have scopes";
}

std::string limit_pods(std::string_view members) {
  return R"({"kind":"ResourceQuotaConfiguration","apiVersion":"apiserver.config.k8s.io/v1","limitedResources":[{"resource":"pods",)" +
         std::string(members) + "}]}";
}

TEST(QuotaEvaluation, LimitedResources) {
  const std::string cpu = limit_pods(R"("matchContains":["requests.cpu"])");
  constexpr std::string_view counts_cpu =
      R"({"metadata":{"name":"quota"},"status":{"hard":{"requests.cpu":"3"},"used":{"requests.cpu":"2"}}})";
  constexpr std::string_view counts_memory =
      R"({"metadata":{"name":"other"},"status":{"hard":{"limits.memory":"10Gi"},"used":{"limits.memory":"1Gi"}}})";
  constexpr std::string_view pod =
      R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"},"limits":{"memory":"1Gi"}}}]}})";
  EXPECT_EQ(outcome({.object = pod, .config = cpu}), "pods \"x\" is forbidden: insufficient quota to consume: requests.cpu");
  EXPECT_EQ(outcome({.object = R"({"spec":{"containers":[{"name":"c"}]}})", .config = cpu}), "") << "it consumes none";
  EXPECT_EQ(outcome({.object = pod, .quotas = {counts_cpu}, .config = cpu}), "quota: requests.cpu=3");
  EXPECT_EQ(outcome({.object = pod, .quotas = {counts_memory}, .config = cpu}),
            "pods \"x\" is forbidden: insufficient quota to consume: requests.cpu");
  EXPECT_EQ(outcome({.object = pod, .quotas = {counts_memory, counts_cpu}, .config = cpu}),
            "other: limits.memory=2Gi; quota: requests.cpu=3");
}

TEST(QuotaEvaluation, LimitedScopes) {
  constexpr std::string_view any = R"({"metadata":{"name":"quota"},"spec":{"scopes":["PriorityClass"]}})";
  const std::string priority = limit_pods(R"("matchScopes":[{"scopeName":"PriorityClass","operator":"Exists"}])");
  const std::string both = limit_pods(R"("matchScopes":[{"scopeName":"BestEffort","operator":"Exists"},
      {"scopeName":"PriorityClass","operator":"In","values":["fake-priority"]}])");
  EXPECT_EQ(outcome({.object = kBigPod, .quotas = {any}, .config = priority}), "");
  EXPECT_EQ(outcome({.object = kBigPod, .config = priority}), "insufficient quota to match these scopes: [{PriorityClass Exists []}]");
  EXPECT_EQ(outcome({.object = kBestEffortPod, .config = both}),
            "insufficient quota to match these scopes: [{BestEffort Exists []} {PriorityClass In [fake-priority]}]");
  EXPECT_EQ(outcome({.object = kBestEffortPod, .quotas = {any}, .config = both}),
            "insufficient quota to match these scopes: [{BestEffort Exists []}]");
  EXPECT_EQ(outcome({.object = kPod, .config = priority}), "") << "it has no class";
}

TEST(QuotaEvaluation, UsageThatDoesNotGrowNeedsNoQuota) {
  const std::string config = R"({"kind":"ResourceQuotaConfiguration","apiVersion":"apiserver.config.k8s.io/v1","limitedResources":[
      {"resource":"services","matchContains":["services.loadbalancers"]}]})";
  constexpr std::string_view balanced = R"({"metadata":{"resourceVersion":"1"},"spec":{"type":"LoadBalancer"}})";
  constexpr std::string_view plain = R"({"metadata":{"resourceVersion":"1"},"spec":{"type":"ClusterIP"}})";
  EXPECT_EQ(outcome({.resource = "services", .object = balanced, .old_object = balanced, .config = config}), "");
  EXPECT_EQ(outcome({.resource = "services", .object = plain, .old_object = balanced, .config = config}), "");
  EXPECT_EQ(outcome({.resource = "services", .object = balanced, .old_object = plain, .config = config}),
            "services \"x\" is forbidden: insufficient quota to consume: services.loadbalancers");
}

TEST(QuotaEvaluation, RulesOfAQuotaAreAllButItsUsage) {
  const auto quota = [](std::string_view hard, std::string_view used) {
    return read_quota(
        stored_quota(R"({"metadata":{"name":"q"},"status":{"hard":)" + std::string(hard) + R"(,"used":)" + std::string(used) + "}}"));
  };
  EXPECT_TRUE(same_rules(quota(R"({"pods":"1"})", R"({"pods":"0"})"), quota(R"({"pods":"1"})", R"({"pods":"1"})")));
  EXPECT_FALSE(same_rules(quota(R"({"pods":"1"})", R"({"pods":"0"})"), quota(R"({"pods":"2"})", R"({"pods":"0"})")));
  EXPECT_FALSE(same_rules(quota(R"({"pods":"1"})", R"({"pods":"0"})"), quota(R"({"pods":"1"})", "{}")));
}

TEST(QuotaConfig, VersionsAndErrors) {
  for (const std::string_view head : {R"("kind":"ResourceQuotaConfiguration","apiVersion":"apiserver.config.k8s.io/v1")",
                                      R"("kind":"Configuration","apiVersion":"resourcequota.admission.k8s.io/v1beta1")",
                                      R"("kind":"Configuration","apiVersion":"resourcequota.admission.k8s.io/v1alpha1")"}) {
    const auto limits = parse_limits("{" + std::string(head) +
                                     R"(,"limitedResources":[{"apiGroup":"apps","resource":"deployments","matchContains":["count/"],
        "matchScopes":[{"scopeName":"PriorityClass","operator":"In","values":["cluster-services"]}]}]})");
    ASSERT_TRUE(limits.ok()) << head << limits.status().message();
    ASSERT_EQ(limits->size(), 1U);
    EXPECT_EQ(limits->front().resource.to_string(), "deployments.apps");
    EXPECT_EQ(limits->front().match_scopes.front(), (ScopeSelector{"PriorityClass", "In", {"cluster-services"}}));
  }
  struct Case {
    std::string_view text, error;
  };
  const Case cases[] = {
      {R"({"kind":"Unknown","apiVersion":"v1"})", "no kind \"Unknown\" is registered"},
      {R"({"kind":"Configuration","apiVersion":"resourcequota.admission.k8s.io/v1beta1","foo":1})", "strict decoding error"},
      {R"({"kind":"Configuration","apiVersion":"resourcequota.admission.k8s.io/v1beta1","limitedResources":[{"resource":"a","foo":1}]})",
       "strict decoding error"},
      {R"({"kind":"Configuration","apiVersion":"resourcequota.admission.k8s.io/v1beta1","limitedResources":[{"apiGroup":"a"}]})",
       "limitedResources[0].resource: Required value"},
  };
  for (const Case& each : cases) {
    const auto limits = parse_limits(each.text);
    ASSERT_FALSE(limits.ok()) << each.text;
    EXPECT_NE(limits.status().message().find(each.error), std::string::npos) << limits.status().message();
  }
}

}  // namespace
}  // namespace backplane::admission::quota
