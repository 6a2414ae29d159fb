#include "podsecurity/pod_security.hpp"

#include <gtest/gtest.h>

#include "common/plugin_test_kit.hpp"
#include "podsecurity/existing_pods.hpp"

namespace backplane::admission::podsecurity {
namespace {

constexpr std::string_view kConfiguration =
    R"({"apiVersion":"pod-security.admission.config.k8s.io/v1","kind":"PodSecurityConfiguration","exemptions":{
        "namespaces":["exempt"],"usernames":["exempt-user"],"runtimeClasses":["exempt-class"]}})";
constexpr std::string_view kHostPod = R"({"metadata":{"name":"p"},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"i"}]}})";
constexpr std::string_view kViolates =
    "pods \"p\" is forbidden: violates PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true)";

class PodSecurityTest : public ::testing::Test {
 protected:
  PodSecurityTest() {
    add_namespace("plain", "");
    add_namespace("baseline", R"("pod-security.kubernetes.io/enforce":"baseline")");
    add_namespace("exempt", R"("pod-security.kubernetes.io/enforce":"baseline")");
    add_namespace("warns", R"("pod-security.kubernetes.io/audit":"baseline","pod-security.kubernetes.io/warn":"baseline")");
    add_namespace("broken", R"("pod-security.kubernetes.io/enforce":"x")");
  }
  static std::string namespace_json(const std::string& name, const std::string& labels) {
    return R"({"metadata":{"name":")" + name + R"(","labels":{)" + labels + "}}}";
  }
  void add_namespace(const std::string& name, const std::string& labels) {
    test_.cache({"", "v1", "namespaces"}, namespace_json(name, labels));
  }
  static TestWrite pod_write(std::string ns, std::string_view object = kHostPod) {
    TestWrite write{.resource = {"", "v1", "pods"}, .kind = {"", "v1", "Pod"}, .ns = std::move(ns), .name = "p"};
    write.object = object;
    return write;
  }
  static TestWrite namespace_write(const std::string& name, const std::string& labels) {
    TestWrite write{.resource = {"", "v1", "namespaces"}, .kind = {"", "v1", "Namespace"}, .ns = name, .name = name};
    write.object = namespace_json(name, labels);
    return write;
  }
  static TestWrite namespace_update(const std::string& name, const std::string& labels, const std::string& before) {
    TestWrite write = namespace_write(name, labels);
    write.operation = AdmissionOperation::kUpdate;
    write.old = namespace_json(name, before);
    return write;
  }
  std::string message(const TestWrite& write) { return test_.message(*plugin_, write); }
  std::string annotation(std::string_view key) const {
    const auto& all = test_.context->audit_annotations();
    const auto found = all.find("pod-security.kubernetes.io/" + std::string(key));
    return found == all.end() ? "" : found->second;
  }
  std::vector<std::string> warnings() const { return test_.context->warnings(); }

  PluginUnderTest test_;
  std::shared_ptr<AdmissionPlugin> plugin_ = *make_pod_security(test_.services, {std::string(kConfiguration)});
};

using Texts = std::vector<std::string>;

TEST_F(PodSecurityTest, ValidatesCreateAndUpdate) {
  EXPECT_FALSE(plugin_->mutates());
  EXPECT_TRUE(plugin_->validates());
  EXPECT_TRUE(plugin_->handles(AdmissionOperation::kUpdate));
  EXPECT_FALSE(plugin_->handles(AdmissionOperation::kDelete));
}

TEST_F(PodSecurityTest, EnforcesTheLabelOfTheNamespace) {
  EXPECT_EQ(message(pod_write("plain")), "");
  EXPECT_EQ(annotation("enforce-policy"), "privileged:latest");
  const Status refused = test_.run(*plugin_, pod_write("baseline"));
  EXPECT_EQ(refused.message(), kViolates);
  EXPECT_EQ(refused.code(), 403);
  EXPECT_EQ(annotation("enforce-policy"), "baseline:latest");
  EXPECT_EQ(warnings(), Texts());  // a refused pod gets none
  EXPECT_EQ(message(pod_write("baseline", R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}]}})")), "");
}

TEST_F(PodSecurityTest, WarnsAndAuditsWithoutRefusing) {
  EXPECT_EQ(message(pod_write("warns")), "");
  const std::string text = "would violate PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true)";
  EXPECT_EQ(warnings(), Texts{text});
  EXPECT_EQ(annotation("audit-violations"), text);
}

TEST_F(PodSecurityTest, EnforcesRestrictedIfTheLabelsAreInvalid) {
  EXPECT_NE(message(pod_write("broken")).find("violates PodSecurity \"restricted:latest\""), std::string::npos);
  EXPECT_NE(annotation("error").find("Failed to parse policy: metadata.labels[pod-security.kubernetes.io/enforce]"), std::string::npos);
}

TEST_F(PodSecurityTest, ExemptsNamespacesUsersAndRuntimeClasses) {
  EXPECT_EQ(message(pod_write("exempt")), "");
  EXPECT_EQ(annotation("exempt"), "namespace");
  TestWrite by_user = pod_write("baseline");
  by_user.user.name = "exempt-user";
  EXPECT_EQ(message(by_user), "");
  EXPECT_EQ(annotation("exempt"), "user");
  EXPECT_EQ(message(pod_write("baseline", R"({"metadata":{"name":"p"},"spec":{"hostNetwork":true,"runtimeClassName":"exempt-class"}})")),
            "");
  EXPECT_EQ(annotation("exempt"), "runtimeClass");
}

TEST_F(PodSecurityTest, IgnoresSubresourcesThatLeaveTheSpecAlone) {
  for (const char* subresource : {"exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"}) {
    TestWrite write = pod_write("baseline");
    write.subresource = subresource;
    EXPECT_EQ(message(write), "") << subresource;
  }
  TestWrite write = pod_write("baseline");
  write.subresource = "ephemeralcontainers";
  EXPECT_EQ(message(write), kViolates);
}

TEST_F(PodSecurityTest, EvaluatesUpdatesThatChangeImagesOrAddEphemeralContainers) {
  TestWrite write = pod_write("baseline");
  write.operation = AdmissionOperation::kUpdate;
  const std::string pod = R"({"metadata":{"name":"p"},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"i"}])";
  write.old = pod + "}}";
  EXPECT_EQ(message(write), "");
  write.old = R"({"metadata":{"name":"p"},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"j"}]}})";
  EXPECT_EQ(message(write), kViolates);
  write.old = pod + "}}";
  write.object = pod + R"(,"ephemeralContainers":[{"name":"e","image":"i"}]}})";
  EXPECT_EQ(message(write), kViolates);
  write.old = write.object;
  EXPECT_EQ(message(write), "");
}

TEST_F(PodSecurityTest, OnlyWarnsOfTemplates) {
  TestWrite write{.resource = {"apps", "v1", "deployments"}, .kind = {"apps", "v1", "Deployment"}, .ns = "warns", .name = "d"};
  write.object = R"({"spec":{"template":{"spec":{"hostNetwork":true}}}})";
  EXPECT_EQ(message(write), "");
  EXPECT_EQ(warnings().size(), 1u);
  EXPECT_EQ(annotation("enforce-policy"), "");
  write.resource = {"batch", "v1", "cronjobs"};
  write.object = R"({"spec":{"jobTemplate":{"spec":{"template":{"spec":{"hostNetwork":true}}}}}})";
  EXPECT_EQ(message(write), "");
  EXPECT_EQ(warnings().size(), 1u);
  write.subresource = "status";
  EXPECT_EQ(message(write), "");
  EXPECT_EQ(warnings().size(), 0u);
  write = {.resource = {"", "v1", "replicationcontrollers"}, .ns = "warns", .name = "r", .object = R"({"spec":{}})"};
  EXPECT_EQ(message(write), "");
  EXPECT_EQ(warnings().size(), 0u);
}

TEST_F(PodSecurityTest, ReadsANamespaceThatTheCacheDoesNotHave) {
  auto& store = test_.store({"", "v1", "namespaces"}, "Namespace");
  store.put(object_from(namespace_json("new", R"("pod-security.kubernetes.io/enforce":"baseline")")), WatchEvent::Type::kAdded);
  EXPECT_EQ(message(pod_write("new")), kViolates);
  const Status missing = test_.run(*plugin_, pod_write("missing"));
  EXPECT_EQ(missing.code(), 500);
  EXPECT_EQ(missing.message(), "Internal error occurred: failed to lookup namespace \"missing\"");
  EXPECT_EQ(annotation("error"), missing.message() + ": namespaces \"missing\" not found");
}

// ---- namespaces

constexpr const char* kBaselineLabel = R"("pod-security.kubernetes.io/enforce":"baseline")";
constexpr const char* kWrongLabel = R"("pod-security.kubernetes.io/enforce":"x")";

TEST_F(PodSecurityTest, RefusesNamespacesWithInvalidLabels) {
  const std::string text =
      "Namespace \"n\" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \"x\": must be one of privileged, "
      "baseline, restricted";
  EXPECT_EQ(message(namespace_write("n", kWrongLabel)), text);
  EXPECT_EQ(message(namespace_update("n", kWrongLabel, "")), text);
  EXPECT_EQ(message(namespace_update("n", kWrongLabel, kWrongLabel)), "");
  EXPECT_EQ(message(namespace_write("n", kBaselineLabel)), "");
}

TEST_F(PodSecurityTest, WarnsThatLabelsOfAnExemptNamespaceHaveNoEffect) {
  const Texts text{"namespace \"exempt\" is exempt from Pod Security, and the policy (enforce=baseline:latest) will be ignored"};
  TestWrite create = namespace_write("exempt", kBaselineLabel);
  create.ns.clear();
  EXPECT_EQ(message(create), "");
  EXPECT_EQ(warnings(), text);
  EXPECT_EQ(message(namespace_update("exempt", kBaselineLabel, "")), "");
  EXPECT_EQ(warnings(), text);
}

TEST_F(PodSecurityTest, WarnsOfPodsThatViolateAStricterLevel) {
  auto& pods = test_.store({"", "v1", "pods"}, "Pod");
  const auto add_pod = [&](const std::string& name, const std::string& spec) {
    pods.put(object_from(R"({"metadata":{"namespace":"n","name":")" + name + R"("},"spec":)" + spec + "}"), WatchEvent::Type::kAdded);
  };
  add_pod("fine", "{}");
  add_pod("b", R"({"hostNetwork":true})");
  add_pod("a", R"({"hostNetwork":true})");
  add_pod("c", R"({"hostPID":true,"volumes":[{"name":"v","hostPath":{}}]})");
  EXPECT_EQ(message(namespace_update("n", kBaselineLabel, "")), "");
  EXPECT_EQ(warnings(), (Texts{"existing pods in namespace \"n\" violate the new PodSecurity enforce level \"baseline:latest\"",
                               "a (and 1 other pod): host namespaces", "c: host namespaces, hostPath volumes"}));
  EXPECT_EQ(message(namespace_update("n", R"("pod-security.kubernetes.io/enforce":"privileged")", kBaselineLabel)), "");
  EXPECT_EQ(warnings(), Texts());
  EXPECT_EQ(message(namespace_update("n", kBaselineLabel, R"("pod-security.kubernetes.io/enforce":"restricted")")), "");
  EXPECT_EQ(warnings(), Texts());
}

TEST(PodSecurityExistingPods, OnePodOfEachControllerComesFirst) {
  std::vector<ObjectRef> pods;
  for (int i = 0; i < 4; ++i) {
    const std::string owner = i < 3 ? R"(,"ownerReferences":[{"uid":"u","controller":true}])" : "";
    pods.push_back(
        make_object(object_from(R"({"metadata":{"name":"p)" + std::to_string(i) + "\"" + owner + R"(},"spec":{"hostPID":true}})")));
  }
  const LevelVersion baseline{Level::kBaseline, {}};
  EXPECT_EQ(existing_pod_warnings({}, "n", baseline, pods, {.most_pods = 2}),
            (Texts{"new PodSecurity enforce level only checked against the first 2 of 4 existing pods",
                   "existing pods in namespace \"n\" violate the new PodSecurity enforce level \"baseline:latest\"",
                   "p0 (and 1 other pod): host namespaces"}));
  EXPECT_EQ(existing_pod_warnings({}, "n", baseline, pods, {})[1], "p0 (and 3 other pods): host namespaces");
}

}  // namespace
}  // namespace backplane::admission::podsecurity
