// NamespaceExists, NamespaceAutoProvision, JobValidation, PodGroupWorkloadExists, PodGroupProtection.
#include "objects/objects_test_kit.hpp"
#include "objects/rows.hpp"

namespace backplane::admission::test {
namespace {

const GroupVersionKind kNamespace{"", "v1", "Namespace"};
const GroupVersionKind kPodGroup{"scheduling.k8s.io", "v1alpha2", "PodGroup"};
const GroupVersionKind kWorkload{"scheduling.k8s.io", "v1alpha2", "Workload"};
const GroupVersionKind kJob{"batch", "v1", "Job"};

TEST(NamespaceExists, LooksIntoTheCacheAndThenIntoTheStore) {
  PluginUnderTest under;
  under.store(kNamespace, "namespaces");
  under.make(object_plugins(), "NamespaceExists");
  under.start();
  PodUnderTest pod("{}");
  const Status missing = under.validate(pod.attributes);
  EXPECT_EQ(missing.reason(), Reason::kNotFound);
  EXPECT_EQ(missing.message(), "namespaces \"default\" not found");
  under.put(kNamespace, "namespaces", R"({"metadata":{"name":"default"}})");
  EXPECT_TRUE(under.plugin->validate_now(pod.attributes).has_value());
  EXPECT_TRUE(under.validate(pod.attributes).ok());
}

TEST(NamespaceExists, DoesNotAskAboutNamespacesAndObjectsWithoutOne) {
  PluginUnderTest under;
  under.make(object_plugins(), "NamespaceExists");
  WriteUnderTest name_space(kNamespace, "namespaces", R"({"metadata":{"name":"default"}})");
  EXPECT_TRUE(under.plugin->validate_now(name_space.attributes).has_value());
  PodUnderTest node("{}");
  node.attributes.ns.clear();
  EXPECT_TRUE(under.plugin->validate_now(node.attributes).has_value());
}

TEST(NamespaceAutoProvision, CreatesNothingForDryRunsAndNamespacesThatExist) {
  PluginUnderTest under;
  under.store(kNamespace, "namespaces");
  under.make(object_plugins(), "NamespaceAutoProvision");
  under.start();
  PodUnderTest pod("{}");
  EXPECT_FALSE(under.plugin->admit_now(pod.attributes).has_value());
  pod.attributes.dry_run = true;
  EXPECT_TRUE(under.plugin->admit_now(pod.attributes).has_value());
  pod.attributes.dry_run = false;
  under.put(kNamespace, "namespaces", R"({"metadata":{"name":"default"}})");
  EXPECT_TRUE(under.plugin->admit_now(pod.attributes).has_value());
}

std::string job_text(int parallelism, std::string_view group = {}) {
  const std::string template_spec = group.empty() ? "{}" : R"({"schedulingGroup":{"podGroupName":")" + std::string(group) + R"("}})";
  return R"({"metadata":{"name":"j","namespace":"default","uid":"u"},"spec":{"parallelism":)" + std::to_string(parallelism) +
         R"(,"template":{"spec":)" + template_spec + "}}}";
}

TEST(JobValidation, KeepsTheParallelismOfGangs) {
  PluginUnderTest under({"GenericWorkload", "WorkloadWithJob"});
  under.store(kPodGroup, "podgroups");
  under.make(object_plugins(), "JobValidation");
  under.start();
  under.put(kPodGroup, "podgroups",
            R"({"metadata":{"name":"gang","namespace":"default"},"spec":{"schedulingPolicy":{"gang":{"minCount":2}}}})");
  under.put(kPodGroup, "podgroups", R"({"metadata":{"name":"basic","namespace":"default"},"spec":{"schedulingPolicy":{"basic":{}}}})");
  const auto problem = [&](std::string_view group, int now, int before) {
    WriteUnderTest job(kJob, "jobs", job_text(now, group), job_text(before, group));
    return under.validate(job.attributes).message();
  };
  const std::string refused = "jobs.batch \"j\" is forbidden: cannot change parallelism for a Job referencing gang-scheduled PodGroup ";
  EXPECT_EQ(problem("gang", 3, 2), refused + "\"gang\"");
  EXPECT_EQ(problem("gang", 2, 2), "");
  EXPECT_EQ(problem("basic", 3, 2), "");
  EXPECT_EQ(problem("missing", 3, 2), "");
  EXPECT_EQ(problem("", 3, 2), "");
  under.put(kPodGroup, "podgroups",
            R"({"metadata":{"name":"owned","namespace":"default","ownerReferences":[{"uid":"u","controller":true}]},)"
            R"("spec":{"schedulingPolicy":{"gang":{"minCount":2}}}})");
  EXPECT_EQ(problem("", 3, 2), refused + "\"owned\"");
}

TEST(JobValidation, DoesNothingWithoutTheGate) {
  PluginUnderTest under;
  under.make(object_plugins(), "JobValidation");
  WriteUnderTest job(kJob, "jobs", job_text(3, "gang"), job_text(2, "gang"));
  EXPECT_TRUE(under.validate(job.attributes).ok());
}

TEST(PodGroupWorkloadExists, ChecksTheWorkloadAndItsTemplate) {
  PluginUnderTest under({"GenericWorkload"});
  under.store(kWorkload, "workloads");
  under.make(object_plugins(), "PodGroupWorkloadExists");
  under.start();
  const auto problem = [&](std::string_view workload, std::string_view name) {
    WriteUnderTest group(kPodGroup, "podgroups",
                         R"({"metadata":{"name":"g"},"spec":{"podGroupTemplateRef":{"workload":{"workloadName":")" + std::string(workload) +
                             R"(","podGroupTemplateName":")" + std::string(name) + R"("}}}})");
    return under.validate(group.attributes).message();
  };
  const std::string start = "podgroups.scheduling.k8s.io \"g\" is forbidden: PodGroup rejected: ";
  EXPECT_EQ(problem("w", "t"), start + "Workload \"w\" not found");
  under.put(kWorkload, "workloads", R"({"metadata":{"name":"w","namespace":"default"},"spec":{"podGroupTemplates":[{"name":"t"}]}})");
  EXPECT_EQ(problem("w", "t"), "");
  EXPECT_EQ(problem("w", "x"), start + "PodGroupTemplate \"x\" not found in Workload \"w\"");
  under.put(kWorkload, "workloads",
            R"({"metadata":{"name":"w","namespace":"default","deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{}})");
  EXPECT_EQ(problem("w", "t"), start + "Workload \"w\" is being deleted");
}

TEST(PodGroupProtection, AddsItsFinalizerOnce) {
  PluginUnderTest under({"GenericWorkload"});
  under.make(object_plugins(), "PodGroupProtection");
  WriteUnderTest group(kPodGroup, "podgroups", R"({"metadata":{"name":"g","finalizers":["a/b"]}})");
  const std::vector<std::string> both = {"a/b", "scheduling.k8s.io/podgroup-protection"};
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(under.admit(group.attributes).ok());
    EXPECT_EQ(ObjectMeta(group.object).finalizers(), both);
  }
}

}  // namespace
}  // namespace backplane::admission::test
