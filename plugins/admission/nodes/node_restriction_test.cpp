// Cases of upstream's noderestriction/admission_test.go.
#include "nodes/node_restriction.hpp"

#include <gtest/gtest.h>

#include "certificates/requests_for_test.hpp"
#include "common/plugin_test_kit.hpp"

namespace backplane::admission::nodes {
namespace {

constexpr AdmissionOperation kC = AdmissionOperation::kCreate, kU = AdmissionOperation::kUpdate, kD = AdmissionOperation::kDelete;

UserInfo node_user(const std::string& name = "mynode") { return {"system:node:" + name, "", {"system:nodes"}, {}}; }

std::string mirror_pod(const std::string& node, const std::string& spec = "",
                       const std::string& owner = R"("uid":"node-uid","controller":true)") {
  return R"({"metadata":{"name":"m","annotations":{"kubernetes.io/config.mirror":"x"},"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":")" +
         node + "\"," + owner + R"(}]},"spec":{"nodeName":")" + node + "\"" + spec + "}}";
}

std::string pod_on(const std::string& node, const std::string& labels = "", const std::string& status = "") {
  return R"({"metadata":{"name":"p","namespace":"ns","uid":"pod-uid","labels":{)" + labels + R"(}},"spec":{"nodeName":")" + node +
         R"("},"status":{)" + status + "}}";
}

class NodeRestrictionTest : public ::testing::Test {
 protected:
  NodeRestrictionTest() {
    test_.host.flags["feature-gates.ServiceAccountNodeAudienceRestriction"] = "true";
    test_.cache({"", "v1", "nodes"}, R"({"metadata":{"name":"mynode","uid":"node-uid"}})");
    test_.cache({"", "v1", "pods"}, pod_on("mynode"));
    test_.cache({"", "v1", "pods"}, R"({"metadata":{"name":"other","namespace":"ns","uid":"other-uid"},"spec":{"nodeName":"othernode"}})");
    authorizer_.verb = "request-serviceaccounts-token-audience";
  }
  std::string message(const TestWrite& write) {
    if (plugin_ == nullptr) plugin_ = node_restriction(test_.services, authorizer_);
    return test_.message(*plugin_, write);
  }
  // A write of pods by mynode.
  static TestWrite pods(AdmissionOperation operation, std::string name, std::string object = {}, std::string old = {},
                        std::string subresource = {}) {
    TestWrite write{.operation = operation, .resource = {"", "v1", "pods"}, .ns = "ns", .name = std::move(name), .user = node_user()};
    write.subresource = std::move(subresource);
    write.object = std::move(object);
    write.old = std::move(old);
    return write;
  }
  static TestWrite of(AdmissionOperation operation, GroupVersionResource resource, std::string name, std::string object = {},
                      std::string old = {}) {
    TestWrite write = pods(operation, std::move(name), std::move(object), std::move(old));
    write.resource = std::move(resource);
    write.ns.clear();
    return write;
  }
  static std::string refused_pod(const std::string& name, const std::string& why) { return "pods \"" + name + "\" is forbidden: " + why; }

  PluginUnderTest test_;
  OneRight authorizer_;
  std::shared_ptr<AdmissionPlugin> plugin_;
};

TEST_F(NodeRestrictionTest, RestrictsOnlyNodes) {
  TestWrite write = pods(kC, "p", R"({"metadata":{"name":"p"},"spec":{}})");
  write.user = {"bob", "", {"system:nodes"}, {}};
  EXPECT_EQ(message(write), "");
  write.user = {"system:node:mynode", "", {}, {}};
  EXPECT_EQ(message(write), "");
  write.user = node_user("");
  EXPECT_EQ(message(write), refused_pod("p", "could not determine node from user \"system:node:\""));
  EXPECT_EQ(message(of(kC, {"", "v1", "configmaps"}, "c", "{}")), "");
  EXPECT_TRUE(plugin_->mutates() && !plugin_->validates() && plugin_->handles(kD) && !plugin_->handles(AdmissionOperation::kConnect));
}

TEST_F(NodeRestrictionTest, NodesCreateMirrorPodsOfTheirOwn) {
  EXPECT_EQ(message(pods(kC, "m", mirror_pod("mynode"))), "");
  struct Row {
    std::string pod, why;
  };
  const std::string self = "node \"mynode\" can only create pods with ";
  for (const Row& row :
       {Row{mirror_pod("othernode"), self + "spec.nodeName set to itself"},
        Row{R"({"metadata":{"name":"m"},"spec":{"nodeName":"mynode"}})",
            "pod does not have \"kubernetes.io/config.mirror\" annotation, node \"mynode\" can only create mirror pods"},
        Row{R"({"metadata":{"annotations":{"kubernetes.io/config.mirror":"x"}},"spec":{"nodeName":"mynode"}})",
            self + "an owner reference set to itself"},
        Row{R"({"metadata":{"annotations":{"kubernetes.io/config.mirror":"x"},"ownerReferences":[{},{}]},"spec":{"nodeName":"mynode"}})",
            self + "a single owner reference set to itself"},
        Row{mirror_pod("mynode", "", R"("uid":"node-uid")"), self + "a controller owner reference set to itself"},
        Row{mirror_pod("mynode", "", R"("uid":"node-uid","controller":true,"blockOwnerDeletion":true)"),
            "node \"mynode\" must not set blockOwnerDeletion on an owner reference"},
        Row{mirror_pod("mynode", "", R"("uid":"x","controller":true)"), "node mynode UID mismatch: expected x got node-uid"}}) {
    EXPECT_EQ(message(pods(kC, "m", row.pod)), refused_pod("m", row.why));
  }
  TestWrite unknown = pods(kC, "m", mirror_pod("nobody"));
  unknown.user = node_user("nobody");
  EXPECT_EQ(message(unknown), "node \"nobody\" not found");
}

TEST_F(NodeRestrictionTest, MirrorPodsReferToNoApiObjects) {
  struct Row {
    const char *spec, *what;
  };
  for (const Row& row :
       {Row{R"("serviceAccountName":"s")", "serviceaccounts"}, Row{R"("volumes":[{"secret":{"secretName":"s"}}])", "secrets"},
        Row{R"("volumes":[{"configMap":{"name":"s"}}])", "configmaps"},
        Row{R"("volumes":[{"configMap":{}}])", "configmaps (via configmap volumes)"},
        Row{R"("volumes":[{"hostPath":{}},{"persistentVolumeClaim":{"claimName":"s"}}])", "persistentvolumeclaims"},
        Row{R"("resourceClaims":[{"name":"s"}])", "resourceclaims"},
        Row{R"("volumes":[{"csi":{"driver":"d"}}])", "csidrivers (via CSI volumes)"},
        Row{R"("volumes":[{"projected":{"sources":[{"downwardAPI":{}},{"clusterTrustBundle":{}}]}}])", "clustertrustbundles"}}) {
    EXPECT_EQ(message(pods(kC, "m", mirror_pod("mynode", std::string(",") + row.spec))),
              refused_pod("m", std::string("node \"mynode\" can not create pods that reference ") + row.what));
  }
  EXPECT_EQ(message(pods(kC, "m", mirror_pod("mynode", R"(,"volumes":[{"name":"v","new":{}}])"))),
            refused_pod("m", "error checking mirror pod for API references: unknown volume type for volume  \"v\""));
  EXPECT_EQ(message(pods(kC, "m", mirror_pod("mynode", R"(,"volumes":[{"emptyDir":{}},{"projected":{"sources":[{"downwardAPI":{}}]}}])"))),
            "");
}

TEST_F(NodeRestrictionTest, NodesDeleteAndEvictTheirPods) {
  EXPECT_EQ(message(pods(kD, "p", "", pod_on("mynode"))), "");
  EXPECT_EQ(message(pods(kD, "other")), refused_pod("other", "node \"mynode\" can only delete pods with spec.nodeName set to itself"));
  EXPECT_EQ(message(pods(kD, "unknown")), "pod \"unknown\" not found");
  EXPECT_EQ(message(pods(kU, "p", pod_on("mynode"), pod_on("mynode"))),
            refused_pod("p", "unexpected operation \"UPDATE\", node \"mynode\" can only create and delete mirror pods"));
  EXPECT_EQ(message(pods(kC, "p", "{}", "", "eviction")), "");
  EXPECT_EQ(message(pods(kC, "", R"({"metadata":{"name":"p"}})", "", "eviction")), "");
  EXPECT_EQ(message(pods(kC, "", "{}", "", "eviction")), "pods \"Unknown\" is forbidden: could not determine pod from request data");
  EXPECT_EQ(message(pods(kC, "other", "{}", "", "eviction")),
            refused_pod("other", "node mynode can only evict pods with spec.nodeName set to itself"));
  EXPECT_EQ(message(pods(kC, "unknown", "{}", "", "eviction")), "pod \"unknown\" not found");
  EXPECT_EQ(message(pods(kU, "p", "{}", "{}", "eviction")), refused_pod("p", "unexpected operation UPDATE"));
  EXPECT_EQ(message(pods(kC, "p", "{}", "", "binding")),
            refused_pod("p", "unexpected pod subresource \"binding\", only 'status' and 'eviction' are allowed"));
}

TEST_F(NodeRestrictionTest, NodesUpdateTheStatusOfTheirPods) {
  const auto status = [&](const std::string& pod, const std::string& old) { return message(pods(kU, "p", pod, old, "status")); };
  EXPECT_EQ(status(pod_on("mynode", "", R"("phase":"Running")"), pod_on("mynode")), "");
  EXPECT_EQ(status(pod_on("x"), pod_on("othernode")),
            refused_pod("p", "node \"mynode\" can only update pod status for pods with spec.nodeName set to itself"));
  const std::string labels = refused_pod("p", "node \"mynode\" cannot update labels through pod status");
  EXPECT_EQ(status(pod_on("mynode", R"("a":"b")"), pod_on("mynode")), labels);
  EXPECT_EQ(status(pod_on("mynode"), pod_on("mynode", R"("a":"b")")), labels);
  const std::string claims = R"("resourceClaimStatuses":[{"name":"a","resourceClaimName":"b"}])";
  EXPECT_EQ(status(pod_on("mynode", "", claims), pod_on("mynode", "", claims)), "");
  EXPECT_EQ(status(pod_on("mynode", "", claims), pod_on("mynode")),
            refused_pod("p", "node \"mynode\" cannot update resource claim statues"));
  EXPECT_EQ(status(pod_on("mynode", "", R"("extendedResourceClaimStatus":{"resourceClaimName":"c"})"), pod_on("mynode")),
            refused_pod("p", "node \"mynode\" cannot update extended resource claim status"));
  EXPECT_EQ(message(pods(kD, "p", "", pod_on("mynode"), "status")), refused_pod("p", "unexpected operation \"DELETE\""));
}

// ---- nodes

std::string node_json(const std::string& labels, const std::string& spec = "", const std::string& metadata = "") {
  return R"({"metadata":{"name":"mynode","labels":{)" + labels + "}" + metadata + R"(},"spec":{)" + spec + "}}";
}
constexpr const char* kAllowedLabels =
    R"("kubernetes.io/hostname":"v","topology.kubernetes.io/zone":"v","beta.kubernetes.io/os":"v","foo.kubelet.kubernetes.io/foo":"v",)"
    R"("node.kubernetes.io/foo":"v","other.com/foo":"v","plain":"v")";
constexpr const char* kForbiddenLabels =
    R"("node-restriction.kubernetes.io/foo":"v","foo.node-restriction.kubernetes.io/foo":"v","other.kubernetes.io/foo":"v","other.k8s.io/foo":"v")";
constexpr const char* kForbiddenList =
    "foo.node-restriction.kubernetes.io/foo, node-restriction.kubernetes.io/foo, other.k8s.io/foo, other.kubernetes.io/foo";

TEST_F(NodeRestrictionTest, NodesModifyOnlyThemselves) {
  const GroupVersionResource nodes{"", "v1", "nodes"};
  const std::string refused = "nodes \"mynode\" is forbidden: ";
  const auto update = [&](const std::string& now, const std::string& old) { return message(of(kU, nodes, "mynode", now, old)); };
  EXPECT_EQ(message(of(kC, nodes, "mynode", node_json(kAllowedLabels, R"("taints":[{"key":"k"}])"))), "");
  EXPECT_EQ(message(of(kC, nodes, "mynode", node_json(kForbiddenLabels))),
            refused + "node \"mynode\" is not allowed to set the following labels: " + kForbiddenList);
  EXPECT_EQ(message(of(kC, nodes, "mynode", node_json("", R"("configSource":{})"))),
            refused + "node \"mynode\" is not allowed to create pods with a non-nil configSource");
  EXPECT_EQ(message(of(kD, nodes, "othernode")),
            "nodes \"othernode\" is forbidden: node \"mynode\" is not allowed to modify node \"othernode\"");
  EXPECT_EQ(message(of(kD, nodes, "mynode")), "");
  EXPECT_EQ(update(node_json(kForbiddenLabels), node_json(kForbiddenLabels + std::string(",") + kAllowedLabels)), "");
  EXPECT_EQ(update(node_json(kForbiddenLabels), node_json("")), refused + "is not allowed to modify labels: " + kForbiddenList);
  EXPECT_EQ(update(node_json(""), node_json(kForbiddenLabels)), refused + "is not allowed to modify labels: " + kForbiddenList);
  const std::string taints = refused + "node \"mynode\" is not allowed to modify taints";
  const std::string tainted = node_json("", R"("taints":[{"key":"k"}])");
  EXPECT_EQ(update(tainted, tainted), "");
  EXPECT_EQ(update(tainted, node_json("")), taints);
  EXPECT_EQ(update(node_json(""), tainted), taints);
  EXPECT_EQ(update(node_json("", "", R"(,"ownerReferences":[{"name":"o"}])"), node_json("")),
            refused + "node \"mynode\" is not allowed to modify ownerReferences");
  const std::string configured = node_json("", R"("configSource":{"configMap":{}})");
  EXPECT_EQ(update(configured, configured), "");
  EXPECT_EQ(update(node_json(""), configured), "");
  EXPECT_EQ(update(configured, node_json("")),
            refused + "node \"mynode\" is not allowed to update configSource to a new non-nil configSource");
}

TEST_F(NodeRestrictionTest, NodesAccessTheirLeasesCsiNodesAndSlices) {
  const GroupVersionResource leases{"coordination.k8s.io", "v1", "leases"}, csi{"storage.k8s.io", "v1", "csinodes"},
      slices{"resource.k8s.io", "v1", "resourceslices"};
  const auto named = [](const char* name) { return R"({"metadata":{"name":")" + std::string(name) + R"("}})"; };
  for (const AdmissionOperation operation : {kC, kU, kD}) {
    for (const char* name : {"mynode", "othernode"}) {
      const bool own = name == std::string_view("mynode");
      TestWrite lease = of(operation, leases, name, operation == kD ? "" : named(name));
      EXPECT_EQ(message(lease), "leases.coordination.k8s.io \"" + std::string(name) +
                                    "\" is forbidden: can only access leases in the \"kube-node-lease\" system namespace");
      lease.ns = "kube-node-lease";
      EXPECT_EQ(message(lease).empty(), own);
      EXPECT_EQ(message(of(operation, csi, name, operation == kD ? "" : named(name))).empty(), own);
    }
  }
  const auto slice = [](const char* node) { return R"({"spec":{"nodeName":")" + std::string(node) + R"("}})"; };
  EXPECT_EQ(message(of(kC, slices, "s", slice("mynode"))), "");
  EXPECT_EQ(
      message(of(kC, slices, "s", slice("othernode"))),
      "resourceslices.resource.k8s.io \"s\" is forbidden: can only create ResourceSlice with the same NodeName as the requesting node");
  EXPECT_EQ(message(of(kC, slices, "s", R"({"spec":{"allNodes":true}})")).empty(), false);
  EXPECT_EQ(message(of(kU, slices, "s", slice("othernode"), slice("othernode"))), "");
  EXPECT_EQ(message(of(kD, slices, "s", "", slice("mynode"))), "");
  EXPECT_EQ(
      message(of(kD, slices, "s", "", slice("othernode"))),
      "resourceslices.resource.k8s.io \"s\" is forbidden: can only delete ResourceSlice with the same NodeName as the requesting node");
}

TEST_F(NodeRestrictionTest, NodesReportTheExpansionOfClaims) {
  TestWrite write = of(kU, {"", "v1", "persistentvolumeclaims"}, "c",
                       R"({"status":{"capacity":{"storage":"2Gi"},"conditions":[{}],)"
                       R"("allocatedResources":{"storage":"2Gi"},"phase":"Bound"}})",
                       R"({"metadata":{"resourceVersion":"1"},"status":{"phase":"Bound"}})");
  const std::string refused = "persistentvolumeclaims \"c\" is forbidden: ";
  EXPECT_EQ(message(write), refused + "may only update PVC status");
  write.subresource = "status";
  write.object.insert(1, R"("metadata":{},)");
  EXPECT_EQ(message(write), "");
  write.old = R"({"metadata":{"labels":{"a":"b"}},"status":{"phase":"Bound"}})";
  EXPECT_EQ(message(write), refused + "node \"mynode\" is not allowed to update fields other than status.quantity and status.conditions: ");
  write.operation = kC;
  EXPECT_EQ(message(write), refused + "unexpected operation \"CREATE\"");
}

// ---- tokens

class TokenTest : public NodeRestrictionTest {
 protected:
  static TestWrite token(const std::string& spec) {
    TestWrite write = of(kC, {"", "v1", "serviceaccounts"}, "mysa", R"({"spec":{)" + spec + "}}");
    write.ns = "ns";
    write.subresource = "token";
    return write;
  }
  static std::string bound(const std::string& name, const std::string& uid, const std::string& audiences = "") {
    return R"("boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":")" + name + R"(","uid":")" + uid + R"("},"audiences":[)" +
           audiences + "]";
  }
  // The answer for a pod with one volume, and the audience foo.
  std::string with_volume(const std::string& volume) {
    test_.cache({"", "v1", "pods"},
                R"({"metadata":{"name":"v","namespace":"ns","uid":"u"},"spec":{"nodeName":"mynode","volumes":[)" + volume + "]}}");
    return message(token(bound("v", "u", "\"foo\"")));
  }
  static std::string refused(const std::string& why) { return "serviceaccounts \"mysa\" is forbidden: " + why; }
};
constexpr const char* kUnused =
    "audience \"foo\" not found in pod spec volume, system:node:mynode is not authorized to request tokens for this audience";

TEST_F(TokenTest, AreBoundToPodsOfTheNode) {
  EXPECT_EQ(message(token("")), refused("node requested token not bound to a pod"));
  EXPECT_EQ(message(token(bound("p", ""))), refused("node requested token with a pod binding without a uid"));
  EXPECT_EQ(message(token(bound("unknown", "u"))), "pod \"unknown\" not found");
  EXPECT_EQ(message(token(bound("p", "x"))),
            refused("the UID in the bound object reference (x) does not match the UID in record. The object might "
                    "have been deleted and then recreated"));
  EXPECT_EQ(message(token(bound("other", "other-uid"))), refused("node requested token bound to a pod scheduled on a different node"));
  EXPECT_EQ(message(token(bound("p", "pod-uid", "\"a\",\"b\""))), refused("node may only request 0 or 1 audiences"));
  TestWrite other = token("");
  other.subresource.clear();
  EXPECT_EQ(message(other), "");
}

TEST_F(TokenTest, HaveAudiencesThatVolumesOfThePodUse) {
  test_.cache({"storage.k8s.io", "v1", "csidrivers"}, R"({"metadata":{"name":"d"},"spec":{"tokenRequests":[{"audience":"foo"}]}})");
  test_.cache({"storage.k8s.io", "v1", "csidrivers"},
              R"({"metadata":{"name":"file.csi.azure.com"},"spec":{"tokenRequests":[{"audience":"foo"}]}})");
  test_.cache({"storage.k8s.io", "v1", "csidrivers"}, R"({"metadata":{"name":"bare"},"spec":{}})");
  test_.cache({"", "v1", "persistentvolumeclaims"}, R"({"metadata":{"name":"claim","namespace":"ns"},"spec":{"volumeName":"pv"}})");
  test_.cache({"", "v1", "persistentvolumeclaims"}, R"({"metadata":{"name":"v-e","namespace":"ns"},"spec":{"volumeName":"pv"}})");
  test_.cache({"", "v1", "persistentvolumeclaims"}, R"({"metadata":{"name":"lost","namespace":"ns"},"spec":{"volumeName":"nothing"}})");
  test_.cache({"", "v1", "persistentvolumes"}, R"({"metadata":{"name":"pv"},"spec":{"csi":{"driver":"d"}}})");
  const std::string invalid = "error validating audience \"foo\": ";
  struct Row {
    const char* volume;
    std::string why;
  };
  for (const Row& row :
       {Row{"", kUnused}, Row{R"({"projected":{"sources":[{"serviceAccountToken":{"audience":"foo"}}]}})", ""},
        Row{R"({"projected":{"sources":[{"serviceAccountToken":{"audience":"bar"}}]}})", kUnused}, Row{R"({"csi":{"driver":"d"}})", ""},
        Row{R"({"csi":{"driver":"bare"}})", kUnused},
        Row{R"({"csi":{"driver":"unknown"}})", invalid + "csidriver.storage.k8s.io \"unknown\" not found"},
        Row{R"({"persistentVolumeClaim":{"claimName":"claim"}})", ""},
        Row{R"({"persistentVolumeClaim":{"claimName":"unknown"}})", invalid + "persistentvolumeclaim \"unknown\" not found"},
        Row{R"({"persistentVolumeClaim":{"claimName":"lost"}})", invalid + "persistentvolume \"nothing\" not found"},
        Row{R"({"name":"e","ephemeral":{"volumeClaimTemplate":{}}})", ""}, Row{R"({"azureFile":{}})", ""},
        Row{R"({"azureDisk":{"kind":"Shared"}})", invalid + "kind(Shared) is not supported in csi migration"},
        Row{R"({"csi":{"driver":"unknown"}},{"csi":{"driver":"d"}})", ""}}) {
    EXPECT_EQ(with_volume(row.volume), row.why.empty() ? "" : refused(row.why)) << row.volume;
  }
}

TEST_F(TokenTest, OrTheNodeHasTheRightToTheAudience) {
  for (const bool waits : {false, true}) {
    authorizer_.waits = waits;
    authorizer_.error = Status();
    authorizer_.resource = "foo";
    authorizer_.granted = "mysa";
    EXPECT_EQ(message(token(bound("p", "pod-uid", "\"foo\""))), "");
    authorizer_.granted = "other";
    EXPECT_EQ(message(token(bound("p", "pod-uid", "\"foo\""))), refused(kUnused));
    authorizer_.error = bad_request("broken");
    EXPECT_EQ(message(token(bound("p", "pod-uid", "\"foo\""))), refused("audience \"foo\" not found in pod spec volume, error authorizing "
                                                                        "system:node:mynode to request tokens for this audience: broken"));
  }
}

TEST_F(TokenTest, AudiencesDoNotMatterWithoutTheGate) {
  test_.host.flags.clear();
  EXPECT_EQ(with_volume(R"({"persistentVolumeClaim":{"claimName":"unknown"}})"), "");
}

// ---- certificates

TEST_F(NodeRestrictionTest, NodesRequestCertificatesInTheirNames) {
  const auto request = [&](const std::string& signer, std::string_view csr) {
    return message(of(kC, {"certificates.k8s.io", "v1", "certificatesigningrequests"}, "r",
                      R"({"spec":{"signerName":"kubernetes.io/)" + signer + R"(","request":")" + std::string(csr) + R"("}})"));
  };
  const std::string refused = "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: ";
  for (const char* signer : {"kubelet-serving", "kube-apiserver-client-kubelet"}) {
    EXPECT_EQ(request(signer, certificates::kNodeCertificateRequest), "");
    EXPECT_EQ(request(signer, certificates::kBitStringRequest), refused + "can only create a node CSR with CN=system:node:mynode");
    EXPECT_EQ(request(signer, certificates::kMastersRequest), refused + "can only create a node CSR with CN=system:node:mynode");
    EXPECT_EQ(request(signer, "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==")
                  .find(refused + "unable to parse csr: "),
              0u);
  }
  EXPECT_EQ(request("legacy-unknown", certificates::kMastersRequest), "");
  test_.host.flags["feature-gates.AllowInsecureKubeletCertificateSigningRequests"] = "true";
  plugin_ = nullptr;
  EXPECT_EQ(request("kubelet-serving", certificates::kMastersRequest), "");
}

TEST_F(NodeRestrictionTest, NodesRequestCertificatesOfTheirPods) {
  test_.cache({"", "v1", "pods"},
              R"({"metadata":{"name":"q","namespace":"ns","uid":"q-uid"},"spec":{"nodeName":"mynode","serviceAccountName":"sa"}})");
  test_.cache({"", "v1", "serviceaccounts"}, R"({"metadata":{"name":"sa","namespace":"ns","uid":"sa-uid"}})");
  const auto request = [&](const std::string& changed, const std::string& value) {
    Object spec = object_from(R"({"nodeName":"mynode","nodeUID":"node-uid","podName":"q","podUID":"q-uid","serviceAccountName":"sa",)"
                              R"("serviceAccountUID":"sa-uid"})");
    if (!changed.empty()) spec[changed] = value;
    TestWrite write = of(kC, {"certificates.k8s.io", "v1beta1", "podcertificaterequests"}, "r", R"({"spec":)" + to_json(spec) + "}");
    write.ns = "ns";
    return message(write);
  };
  const std::string refused = "podcertificaterequests.certificates.k8s.io \"r\" is forbidden: ",
                    of_pod = "PodCertificateRequest for pod \"ns/q\" ";
  EXPECT_EQ(request("", ""), refused + "PodCertificateRequest feature gate is disabled");
  test_.host.flags["feature-gates.PodCertificateRequest"] = "true";
  plugin_ = nullptr;
  EXPECT_EQ(request("", ""), "");
  EXPECT_EQ(request("nodeName", "x"), refused + "PodCertificateRequest.Spec.NodeName=\"x\", which is not the requesting node \"mynode\"");
  EXPECT_EQ(request("nodeUID", "x"), of_pod + "names node UID \"x\", inconsistent with the running node (\"node-uid\")");
  EXPECT_EQ(request("podName", "x"), "while retrieving pod \"ns/x\" named in the PodCertificateRequest: pod \"x\" not found");
  EXPECT_EQ(request("podUID", "x"), of_pod + "contains pod UID (\"x\") which differs from running pod \"q-uid\"");
  EXPECT_EQ(request("serviceAccountName", "x"),
            refused + of_pod + "contains serviceAccountName (\"x\") that differs from running pod (\"sa\")");
  EXPECT_EQ(request("serviceAccountUID", "x"),
            of_pod + "names service account UID \"x\", which differs from the running service account (\"sa-uid\")");
}

}  // namespace
}  // namespace backplane::admission::nodes
