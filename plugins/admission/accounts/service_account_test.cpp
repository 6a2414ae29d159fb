#include "accounts/service_account.hpp"

#include <gtest/gtest.h>

#include "accounts/pod_references.hpp"
#include "backplane/core/json_access.hpp"
#include "common/plugin_test_kit.hpp"

namespace backplane::admission::accounts {
namespace {

class ServiceAccountTest : public ::testing::Test {
 protected:
  static GroupVersionResource accounts() { return {"", "v1", "serviceaccounts"}; }
  // `members`: of the account, with a leading comma.
  void add_account(const std::string& name, const std::string& members = "", const std::string& annotations = "") {
    test_.cache(accounts(),
                R"({"metadata":{"name":")" + name + R"(","namespace":"n","annotations":{)" + annotations + "}}" + members + "}");
  }
  static TestWrite pod_write(const std::string& spec, const std::string& annotations = "") {
    TestWrite write{.resource = {"", "v1", "pods"}, .kind = {"", "v1", "Pod"}, .ns = "n", .name = "p"};
    write.object = R"({"metadata":{"name":"p","annotations":{)" + annotations + R"(}},"spec":)" + spec + "}";
    return write;
  }
  std::string message(const TestWrite& write) { return test_.message(*plugin_, write); }
  const Object& spec() const { return object_or_empty(*test_.object, "spec"); }
  // The spec with the random part of the volume's name replaced.
  std::string spec_text() const {
    std::string text = to_json(spec());
    constexpr std::string_view kPrefix = "kube-api-access-";
    for (std::size_t at = 0; (at = text.find(kPrefix, at)) != std::string::npos; at += kPrefix.size()) {
      text.replace(at + kPrefix.size(), 5, "xxxxx");
    }
    return text;
  }

  PluginUnderTest test_;
  std::shared_ptr<AdmissionPlugin> plugin_ = *make_service_account(test_.services, {});
};

constexpr const char* kEnforce = R"("kubernetes.io/enforce-mountable-secrets":"true")";
constexpr const char* kMirror = R"("kubernetes.io/config.mirror":"x")";

TEST_F(ServiceAccountTest, TakesPartInBothStepsOfCreateAndUpdate) {
  EXPECT_TRUE(plugin_->mutates() && plugin_->validates());
  EXPECT_TRUE(plugin_->handles(AdmissionOperation::kUpdate));
  EXPECT_FALSE(plugin_->handles(AdmissionOperation::kDelete));
}

TEST_F(ServiceAccountTest, IgnoresOtherResourcesAndSubresources) {
  TestWrite other = pod_write("{}");
  other.resource.resource = "configmaps";
  EXPECT_EQ(message(other), "");
  TestWrite eviction = pod_write("{}");
  eviction.subresource = "eviction";
  EXPECT_EQ(message(eviction), "");
  EXPECT_EQ(test_.json(), R"({"metadata":{"name":"p","annotations":{}},"spec":{}})");
}

TEST_F(ServiceAccountTest, MountsTheTokenOfTheDefaultAccount) {
  add_account("default");
  EXPECT_EQ(message(pod_write(R"({"containers":[{"name":"c"}],"initContainers":[{"name":"i"}]})")), "");
  const std::string mount = R"("volumeMounts":[{"name":"kube-api-access-xxxxx","readOnly":true,)"
                            R"("mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}])";
  EXPECT_EQ(spec_text(),
            R"({"containers":[{"name":"c",)" + mount + R"(}],"initContainers":[{"name":"i",)" + mount +
                R"(}],"serviceAccountName":"default","serviceAccount":"default","volumes":[{"name":"kube-api-access-xxxxx","projected":{)"
                R"("sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt",)"
                R"("items":[{"key":"ca.crt","path":"ca.crt"}]}},{"downwardAPI":{"items":[{"path":"namespace","fieldRef":)"
                R"({"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],"defaultMode":420}}]})");
}

TEST_F(ServiceAccountTest, MountsNothingIfPodOrAccountSaySo) {
  struct Row {
    const char *account, *pod;
    bool mounts;
  };
  for (const Row& row : {Row{"", "", true}, Row{"false", "", false}, Row{"true", "", true}, Row{"false", "true", true},
                         Row{"true", "false", false}, Row{"", "false", false}}) {
    const std::string name = R"("automountServiceAccountToken":)", account(row.account), pod(row.pod);
    add_account("default", account.empty() ? "" : "," + name + account);
    EXPECT_EQ(message(pod_write(R"({"containers":[{"name":"c"}])" + (pod.empty() ? "" : "," + name + pod) + "}")), "");
    EXPECT_EQ(count_of(spec(), "volumes"), row.mounts ? 1u : 0u) << account << "/" << pod;
  }
}

TEST_F(ServiceAccountTest, KeepsWhatIsMountedAtThePath) {
  add_account("default");
  EXPECT_EQ(message(pod_write(R"({"containers":[{"name":"c","volumeMounts":[{"name":"v","mountPath":)"
                              R"("/var/run/secrets/kubernetes.io/serviceaccount"}]}]})")),
            "");
  EXPECT_EQ(count_of(spec(), "volumes"), 0u);
  EXPECT_EQ(message(pod_write(R"({"containers":[{"name":"c"}],"volumes":[{"name":"kube-api-access-12345"}]})")), "");
  EXPECT_EQ(count_of(spec(), "volumes"), 1u);
  EXPECT_NE(test_.json().find(R"("volumeMounts":[{"name":"kube-api-access-12345")"), std::string::npos);
}

TEST_F(ServiceAccountTest, AddsPullSecretsToPodsThatHaveNone) {
  add_account("default", R"(,"imagePullSecrets":[{"name":"a"},{"name":"b"}])");
  EXPECT_EQ(message(pod_write(R"({"automountServiceAccountToken":false})")), "");
  EXPECT_NE(test_.json().find(R"("imagePullSecrets":[{"name":"a"},{"name":"b"}])"), std::string::npos);
  EXPECT_EQ(message(pod_write(R"({"automountServiceAccountToken":false,"imagePullSecrets":[{"name":"c"}]})")), "");
  EXPECT_NE(test_.json().find(R"("imagePullSecrets":[{"name":"c"}])"), std::string::npos);
}

TEST_F(ServiceAccountTest, ReadsTheStoreIfTheCacheDoesNotHaveTheAccount) {
  auto& store = test_.store(accounts(), "ServiceAccount");
  EXPECT_EQ(message(pod_write("{}")),
            "pods \"p\" is forbidden: error looking up service account n/default: serviceaccount \"default\" not found");
  EXPECT_EQ(test_.host.turns.delays.size(), 9u);  // ten attempts
  EXPECT_EQ(message(pod_write(R"({"serviceAccountName":"other"})")),
            "pods \"p\" is forbidden: error looking up service account n/other: serviceaccount \"other\" not found");
  EXPECT_EQ(test_.host.turns.delays.size(), 9u);
  store.put(object_from(R"({"metadata":{"name":"other","namespace":"n"}})"), WatchEvent::Type::kAdded);
  EXPECT_EQ(message(pod_write(R"({"serviceAccountName":"other"})")), "");
}

TEST_F(ServiceAccountTest, MirrorPodsReferToNothing) {
  EXPECT_EQ(message(pod_write("{}", kMirror)), "");
  EXPECT_EQ(to_json(spec()), "{}");
  const std::string refused = "pods \"p\" is forbidden: a mirror pod may not ";
  EXPECT_EQ(message(pod_write(R"({"serviceAccountName":"x"})", kMirror)), refused + "reference service accounts");
  EXPECT_EQ(message(pod_write(R"({"volumes":[{"secret":{"secretName":"s"}}]})", kMirror)), refused + "reference secrets");
  EXPECT_EQ(message(pod_write(R"({"volumes":[{"projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}]})", kMirror)),
            refused + "use ServiceAccountToken volume projections");
}

struct ReferenceCase {
  const char *spec, *why;
};
const ReferenceCase kReferenceCases[] = {
    {R"({"volumes":[{"name":"v","secret":{"secretName":"s"}}]})", "volume with secret.secretName=\"s\""},
    {R"({"initContainers":[{"name":"c","env":[{"name":"E","valueFrom":{"secretKeyRef":{"name":"s"}}}]}]})",
     "init container c with envVar E referencing secret.secretName=\"s\""},
    {R"({"containers":[{"name":"c","env":[{"name":"E","valueFrom":{"secretKeyRef":{"name":"s"}}}]}]})",
     "container c with envVar E referencing secret.secretName=\"s\""},
    {R"({"containers":[{"name":"c","envFrom":[{"secretRef":{"name":"s"}}]}]})",
     "container c with envFrom referencing secret.secretName=\"s\""},
};

std::string with_account(std::string spec) { return R"({"serviceAccountName":"a","automountServiceAccountToken":false,)" + spec.substr(1); }

TEST_F(ServiceAccountTest, EnforcesMountableSecretsIfTheAccountSaysSo) {
  for (const ReferenceCase& each : kReferenceCases) {
    add_account("a", "", kEnforce);
    EXPECT_EQ(message(pod_write(with_account(each.spec))), "pods \"p\" is forbidden: " + std::string(each.why) +
                                                               " is not allowed because service account a does not reference that secret");
    add_account("a", R"(,"secrets":[{"name":"s"}])", kEnforce);
    EXPECT_EQ(message(pod_write(with_account(each.spec))), "");
    add_account("a");
    EXPECT_EQ(message(pod_write(with_account(each.spec))), "");
  }
  add_account("a", R"(,"imagePullSecrets":[{"name":"t"}])", kEnforce);
  EXPECT_EQ(message(pod_write(with_account(R"({"imagePullSecrets":[{"name":"t"},{"name":"s"}]})"))),
            "pods \"p\" is forbidden: imagePullSecrets[1].name=\"s\" is not allowed because service account a does not reference that "
            "imagePullSecret");
}

TEST_F(ServiceAccountTest, EnforcesThemForEphemeralContainers) {
  TestWrite write = pod_write(with_account(R"({"ephemeralContainers":[{"name":"e","envFrom":[{"secretRef":{"name":"s"}}]}]})"));
  write.operation = AdmissionOperation::kUpdate;
  write.old = write.object;
  add_account("a", "", kEnforce);
  EXPECT_EQ(message(write), "");  // not of the pod itself
  write.subresource = "ephemeralcontainers";
  const Status refused = test_.run(*plugin_, write);
  EXPECT_EQ(refused.code(), 500);
  EXPECT_EQ(refused.message(),
            "ephemeral container e with envFrom referencing secret.secretName=\"s\" is not allowed because service account a does not "
            "reference that secret");
  add_account("a", R"(,"secrets":[{"name":"s"}])", kEnforce);
  EXPECT_EQ(message(write), "");
}

TEST(PodReferences, AreFoundInContainersAndVolumes) {
  for (const char* spec :
       {R"({"imagePullSecrets":[{"name":"s"}]})", R"({"ephemeralContainers":[{"envFrom":[{"secretRef":{"name":"s"}}]}]})",
        R"({"volumes":[{"cephfs":{"secretRef":{"name":"s"}}}]})", R"({"volumes":[{"csi":{"nodePublishSecretRef":{"name":"s"}}}]})",
        R"({"volumes":[{"projected":{"sources":[{"secret":{"name":"s"}}]}}]})", R"({"volumes":[{"azureFile":{"secretName":"s"}}]})"}) {
    EXPECT_TRUE(references_secrets(object_from(spec))) << spec;
    EXPECT_FALSE(references_config_maps(object_from(spec))) << spec;
  }
  for (const char* spec :
       {R"({"volumes":[{"configMap":{"name":"s"}}]})", R"({"volumes":[{"projected":{"sources":[{"configMap":{"name":"s"}}]}}]})",
        R"({"containers":[{"env":[{"valueFrom":{"configMapKeyRef":{"name":"s"}}}]}]})"}) {
    EXPECT_TRUE(references_config_maps(object_from(spec))) << spec;
    EXPECT_FALSE(references_secrets(object_from(spec))) << spec;
  }
  EXPECT_FALSE(references_secrets(object_from(R"({"imagePullSecrets":[{"name":""}],"volumes":[{"csi":{}},{"secret":{}}]})")));
}

}  // namespace
}  // namespace backplane::admission::accounts
