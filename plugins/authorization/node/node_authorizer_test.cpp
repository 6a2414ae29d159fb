#include "node/node_authorizer.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "backplane/core/object.hpp"
#include "node/graph_populator.hpp"
#include "node/references.hpp"

namespace backplane::authorization {
namespace {

const std::string kNoRelationship = "no relationship found between node 'n1' and this object";

// A request in one line: "verb group/resource/subresource namespace/name ?field selector".
struct Question {
  std::string verb, group, resource, subresource = "", ns = "", name = "", fields = "";
};

struct NodeTest : testing::Test {
  std::shared_ptr<NodeGraph> graph = std::make_shared<NodeGraph>();
  NodeFeatures features;

  void put(std::size_t resource, std::string_view ns, std::string_view name, std::string_view text) {
    event(resource, ns, name, text, &ResourceEventHandler::on_add);
  }
  void event(std::size_t resource, std::string_view ns, std::string_view name, std::string_view text,
             std::function<void(const ObjectRef&, bool)> ResourceEventHandler::*kind) {
    auto entry = std::make_shared<ObjectEntry>();
    entry->set_identity({}, ns, name);
    Value object = json::parse(text);
    Object& metadata = ensure_object(object.get_object(), "metadata");
    metadata["name"] = name;
    metadata["namespace"] = ns;
    entry->set_json(SharedBytes(to_json(object)));
    (graph_handler(graph, graph_resources()[resource]).*kind)(entry, false);
  }
  AuthorizerResult ask(const Question& question, UserInfo user = {"system:node:n1", "", {"system:nodes"}, {}}) {
    AuthorizationAttributes attributes;
    attributes.user = std::move(user);
    attributes.resource_request = !question.resource.empty();
    attributes.verb = question.verb;
    attributes.api_group = question.group;
    attributes.resource = question.resource;
    attributes.subresource = question.subresource;
    attributes.ns = question.ns;
    attributes.name = question.name;
    if (!question.fields.empty()) attributes.fields = *FieldSelector::parse(question.fields);
    return *NodeAuthorizer(graph, features).decide_now(RequestView(attributes));
  }
  // "allow", or the reason of the refusal.
  std::string answer(const Question& question) {
    const AuthorizerResult result = ask(question);
    EXPECT_NE(result.decision, Decision::kDeny);
    return result.decision == Decision::kAllow ? "allow" : result.reason;
  }
};

constexpr std::size_t kPods = 0, kVolumes = 1, kAttachments = 2, kSlices = 3, kRequests = 4;

constexpr std::string_view kPod = R"({"metadata":{"name":"p","namespace":"ns"},"spec":{"nodeName":"n1","serviceAccountName":"sa",
  "imagePullSecrets":[{"name":"pull"},{"name":""}],
  "initContainers":[{"env":[{"valueFrom":{"secretKeyRef":{"name":"s-init"}}}]}],
  "containers":[{"envFrom":[{"secretRef":{"name":"s-from"}},{"configMapRef":{"name":"c-from"}}],
                 "env":[{"name":"a","valueFrom":{"configMapKeyRef":{"name":"c-env"}}}]}],
  "ephemeralContainers":[{"env":[{"valueFrom":{"secretKeyRef":{"name":"s-eph"}}}]}],
  "volumes":[{"name":"a","secret":{"secretName":"s-vol"}},{"name":"b","configMap":{"name":"c-vol"}},
             {"name":"c","projected":{"sources":[{"secret":{"name":"s-proj"}},{"configMap":{"name":"c-proj"}}]}},
             {"name":"d","persistentVolumeClaim":{"claimName":"claim"}},{"name":"e","ephemeral":{"volumeClaimTemplate":{}}},
             {"name":"f","csi":{"nodePublishSecretRef":{"name":"s-csi"}}},{"name":"g","azureFile":{"secretName":"s-azure"}}],
  "resourceClaims":[{"name":"r1","resourceClaimName":"rc"},{"name":"r2","resourceClaimTemplateName":"t"},
                    {"name":"r3","resourceClaimTemplateName":"pending"}]},
  "status":{"resourceClaimStatuses":[{"name":"r2","resourceClaimName":"made"},{"name":"r4"}],
            "extendedResourceClaimStatus":{"resourceClaimName":"extended"}}})";

TEST_F(NodeTest, UsersThatAreNotNodesGetNoOpinion) {
  for (const UserInfo& user : {UserInfo{"system:node:n1", "", {}, {}}, UserInfo{"n1", "", {"system:nodes"}, {}}}) {
    const auto result = ask({"get", "", "nodes", "", "", "n1"}, user);
    EXPECT_EQ(result.decision, Decision::kNoOpinion);
    EXPECT_EQ(result.reason, "");
  }
  EXPECT_EQ(ask({"get", "", "nodes"}, {"system:node:", "", {"system:nodes"}, {}}).reason, "unknown node for user \"system:node:\"");
}

TEST_F(NodeTest, APodMakesReadableWhatItRefersTo) {
  put(kPods, "ns", "p", kPod);
  for (const char* secret : {"pull", "s-init", "s-from", "s-eph", "s-vol", "s-proj", "s-csi", "s-azure"}) {
    for (const char* verb : {"get", "list", "watch"}) EXPECT_EQ(answer({verb, "", "secrets", "", "ns", secret}), "allow") << secret;
    EXPECT_EQ(answer({"get", "", "secrets", "", "other", secret}), kNoRelationship);
    EXPECT_EQ(answer({"get", "", "configmaps", "", "ns", secret}), kNoRelationship) << "of another kind";
  }
  for (const char* map : {"c-from", "c-env", "c-vol", "c-proj"})
    EXPECT_EQ(answer({"get", "", "configmaps", "", "ns", map}), "allow") << map;
  for (const char* claim : {"claim", "p-e"}) EXPECT_EQ(answer({"get", "", "persistentvolumeclaims", "", "ns", claim}), "allow") << claim;
  for (const char* claim : {"rc", "made", "extended"}) {
    EXPECT_EQ(answer({"get", "resource.k8s.io", "resourceclaims", "", "ns", claim}), "allow") << claim;
  }
  EXPECT_EQ(answer({"get", "resource.k8s.io", "resourceclaims", "", "ns", "pending"}), kNoRelationship);
  EXPECT_EQ(answer({"get", "", "serviceaccounts", "", "ns", "sa"}), "allow");
  EXPECT_EQ(answer({"create", "", "serviceaccounts", "token", "ns", "sa"}), "allow");
  EXPECT_EQ(answer({"get", "", "pods", "", "ns", "p"}), "allow");
}

TEST_F(NodeTest, UpdatesOfAPodAreReadIfTheyChangeSomethingThatTheNodeMayRead) {
  const auto pod = [](std::string_view spec, std::string_view status) {
    auto entry = std::make_shared<ObjectEntry>();
    entry->set_identity({}, "ns", "p");
    entry->set_json(SharedBytes(R"({"kind":"Pod","metadata":{"name":"p","namespace":"ns","resourceVersion":"1"},"spec":)" +
                                std::string(spec) + R"(,"status":)" + std::string(status) + "}"));
    return entry;
  };
  const auto claims = [](std::string_view node) {
    return R"({)" + std::string(node) + R"("resourceClaims":[{"name":"r","resourceClaimTemplateName":"t"}]})";
  };
  const Question made{"get", "resource.k8s.io", "resourceclaims", "", "ns", "made"};
  const auto pending = pod(claims(""), R"({"phase":"Pending"})"), bound = pod(claims(R"("nodeName":"n1",)"), R"({"phase":"Pending"})");
  const auto running = pod(claims(R"("nodeName":"n1",)"), R"({"phase":"Running"})");
  const auto ready =
      pod(claims(R"("nodeName":"n1",)"), R"({"phase":"Running","resourceClaimStatuses":[{"name":"r","resourceClaimName":"made"}]})");
  const ResourceEventHandler handler = graph_handler(graph, graph_resources()[kPods]);
  handler.on_add(pending, false);
  EXPECT_EQ(answer({"get", "", "pods", "", "ns", "p"}), kNoRelationship);
  handler.on_update(pending, bound);
  EXPECT_EQ(answer({"get", "", "pods", "", "ns", "p"}), "allow");
  handler.on_update(bound, running);
  EXPECT_EQ(answer(made), kNoRelationship);
  handler.on_update(running, ready);
  EXPECT_EQ(answer(made), "allow");
}

TEST_F(NodeTest, TheNodesOfAPodChangeWithIt) {
  put(kPods, "ns", "p", kPod);
  put(kPods, "ns", "q", R"({"spec":{"nodeName":"n1","volumes":[{"secret":{"secretName":"s-vol"}}]}})");
  event(kPods, "ns", "p", "{}", &ResourceEventHandler::on_delete);
  EXPECT_EQ(answer({"get", "", "secrets", "", "ns", "s-vol"}), "allow") << "q refers to it, too";
  EXPECT_EQ(answer({"get", "", "secrets", "", "ns", "pull"}), kNoRelationship);
  put(kPods, "ns", "q", R"({"spec":{"nodeName":"n2","volumes":[{"secret":{"secretName":"s-vol"}}]}})");
  EXPECT_EQ(answer({"get", "", "secrets", "", "ns", "s-vol"}), kNoRelationship);
  event(kPods, "ns", "q", "{}", &ResourceEventHandler::on_delete);
  EXPECT_EQ(graph->size(), 0u) << "nothing is left of pods that are gone";
}

TEST_F(NodeTest, APodWithoutNodeAndAMirrorPodGrantNothing) {
  put(kPods, "ns", "p", R"({"spec":{"volumes":[{"secret":{"secretName":"a"}}]}})");
  EXPECT_EQ(graph->size(), 0u);
  put(kPods, "ns", "m", R"({"metadata":{"annotations":{"kubernetes.io/config.mirror":""}},
                            "spec":{"nodeName":"n1","serviceAccountName":"sa","volumes":[{"secret":{"secretName":"a"}}]}})");
  EXPECT_EQ(answer({"get", "", "secrets", "", "ns", "a"}), kNoRelationship);
  EXPECT_EQ(answer({"create", "", "serviceaccounts", "token", "ns", "sa"}), kNoRelationship);
  EXPECT_EQ(answer({"get", "", "pods", "", "ns", "m"}), "allow");
}

TEST_F(NodeTest, AVolumeConnectsItsSecretsWithItsClaim) {
  const std::string_view volume = R"({"spec":{"claimRef":{"namespace":"ns","name":"claim"},
    "csi":{"nodeStageSecretRef":{"namespace":"k","name":"stage"},"controllerExpandSecretRef":{"namespace":"k","name":"controller"}}}})";
  put(kVolumes, "", "pv", volume);
  EXPECT_EQ(answer({"get", "", "persistentvolumes", "", "", "pv"}), kNoRelationship);
  put(kPods, "ns", "p", kPod);
  EXPECT_EQ(answer({"get", "", "persistentvolumes", "", "", "pv"}), "allow");
  EXPECT_EQ(answer({"get", "", "secrets", "", "k", "stage"}), "allow");
  EXPECT_EQ(answer({"get", "", "secrets", "", "k", "controller"}), kNoRelationship) << "not for kubelets";
  put(kVolumes, "", "pv", R"({"spec":{"claimRef":{"namespace":"ns","name":"claim"},"azureFile":{"secretName":"a"}}})");
  EXPECT_EQ(answer({"get", "", "secrets", "", "k", "stage"}), kNoRelationship);
  EXPECT_EQ(answer({"get", "", "secrets", "", "ns", "a"}), "allow") << "in the namespace of the claim";
  put(kVolumes, "", "pv", R"({"spec":{}})");
  EXPECT_EQ(answer({"get", "", "persistentvolumes", "", "", "pv"}), kNoRelationship) << "no longer bound";
  put(kVolumes, "", "pv", volume);
  event(kPods, "ns", "p", "{}", &ResourceEventHandler::on_delete);
  EXPECT_EQ(answer({"get", "", "secrets", "", "k", "stage"}), kNoRelationship);
  event(kVolumes, "", "pv", "{}", &ResourceEventHandler::on_delete);
  EXPECT_EQ(graph->size(), 0u);
}

TEST_F(NodeTest, ObjectsBoundToTheNodeAreReadable) {
  features.pod_certificate_requests = true;
  put(kAttachments, "", "va", R"({"spec":{"nodeName":"n1"}})");
  put(kSlices, "", "slice", R"({"spec":{"nodeName":"n1"}})");
  put(kSlices, "", "shared", R"({"spec":{"allNodes":true}})");
  put(kRequests, "ns", "pcr", R"({"spec":{"nodeName":"n1"}})");
  put(kAttachments, "", "foreign", R"({"spec":{"nodeName":"n2"}})");
  EXPECT_EQ(answer({"get", "storage.k8s.io", "volumeattachments", "", "", "va"}), "allow");
  EXPECT_EQ(answer({"get", "storage.k8s.io", "volumeattachments", "", "", "foreign"}), kNoRelationship);
  for (const char* verb : {"get", "update", "patch", "delete"}) {
    EXPECT_EQ(answer({verb, "resource.k8s.io", "resourceslices", "", "", "slice"}), "allow");
    EXPECT_EQ(answer({verb, "resource.k8s.io", "resourceslices", "", "", "shared"}), kNoRelationship);
  }
  EXPECT_EQ(answer({"get", "certificates.k8s.io", "podcertificaterequests", "", "ns", "pcr"}), "allow");
  features.pod_certificate_requests = false;
  EXPECT_EQ(answer({"get", "certificates.k8s.io", "podcertificaterequests", "", "ns", "pcr"}), "");
}

TEST_F(NodeTest, ReasonsAreUpstreams) {
  features.pod_certificate_requests = true;
  struct Case {
    Question question;
    std::string answer;
  };
  const std::string selector = "spec.nodeName=n1";
  const Case cases[] = {
      {{"get", "", "secrets", "", "ns", "x"}, kNoRelationship},
      {{"get", "", "secrets", "", "", "x"}, "can only read namespaced object of this type"},
      {{"list", "", "secrets", "", "ns", ""}, "No Object name found"},
      {{"create", "", "secrets", "", "ns", ""}, "can only read resources of this type"},
      {{"get", "", "configmaps", "x", "ns", "c"}, "cannot read subresource"},
      {{"list", "", "persistentvolumes"}, "can only get individual resources of this type"},
      {{"get", "", "persistentvolumes", "status", "", "x"}, "cannot get subresource"},
      {{"get", "", "persistentvolumeclaims", "status", "ns", "x"}, "can only get/update/patch this type"},
      {{"update", "", "persistentvolumeclaims", "status", "ns", "x"}, kNoRelationship},
      {{"update", "", "serviceaccounts", "", "ns", "sa"}, "can only create tokens for individual service accounts"},
      {{"create", "", "serviceaccounts", "token", "ns", ""}, "can only create tokens for individual service accounts"},
      {{"create", "", "serviceaccounts", "other", "ns", "sa"}, "can only create token subresource of serviceaccount"},
      {{"create", "", "serviceaccounts", "token", "ns", "sa"}, kNoRelationship},
      {{"list", "coordination.k8s.io", "leases", "", "kube-node-lease"}, "can only get, create, update, patch, or delete a node lease"},
      {{"get", "coordination.k8s.io", "leases", "", "x", "n1"}, "can only access leases in the \"kube-node-lease\" system namespace"},
      {{"get", "coordination.k8s.io", "leases", "", "kube-node-lease", "n2"},
       "can only access node lease with the same name as the requesting node"},
      {{"get", "coordination.k8s.io", "leases", "", "kube-node-lease", "n1"}, "allow"},
      {{"create", "coordination.k8s.io", "leases", "", "kube-node-lease"}, "allow"},
      {{"list", "storage.k8s.io", "csinodes"}, "can only get, create, update, patch, or delete a CSINode"},
      {{"get", "storage.k8s.io", "csinodes", "status", "", "n1"}, "cannot authorize CSINode subresources"},
      {{"patch", "storage.k8s.io", "csinodes", "", "", "n2"}, "can only access CSINode with the same name as the requesting node"},
      {{"create", "storage.k8s.io", "csinodes"}, "allow"},
      {{"get", "resource.k8s.io", "resourceslices", "status", "", "x"}, "cannot authorize ResourceSlice subresources"},
      {{"create", "resource.k8s.io", "resourceslices"}, "allow"},
      {{"list", "resource.k8s.io", "resourceslices", "", "", "", selector}, "allow"},
      {{"deletecollection", "resource.k8s.io", "resourceslices", "", "", "", "spec.nodeName!=n1"},
       "can only list/watch/deletecollection resourceslices with nodeName field selector"},
      {{"bind", "resource.k8s.io", "resourceslices"},
       "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection"},
      {{"create", "", "nodes"}, "allow"},
      {{"update", "", "nodes", "status", "", "n2"}, "allow"},
      {{"get", "", "nodes", "status", "", "n1"}, ""},
      {{"get", "", "nodes", "", "", "n1"}, "allow"},
      {{"list", "", "nodes"}, "node 'n1' cannot read all nodes, only its own Node object"},
      {{"get", "", "nodes", "", "", "n2"}, "node 'n1' cannot read 'n2', only its own Node object"},
      {{"delete", "", "nodes", "", "", "n1"}, ""},
      {{"list", "", "pods", "", "", "", selector}, "allow"},
      {{"watch", "", "pods", "", "ns", "", "metadata.name=x,spec.nodeName==n1"}, "allow"},
      {{"list", "", "pods", "", "", "", "spec.nodeName=n2"}, "can only list/watch pods with spec.nodeName field selector"},
      {{"list", "", "pods"}, "can only list/watch pods with spec.nodeName field selector"},
      {{"watch", "", "pods", "", "ns", "x"}, kNoRelationship},
      {{"get", "", "pods", "", "ns", ""}, "No Object name found"},
      {{"create", "", "pods", "", "ns"}, "allow"},
      {{"patch", "", "pods", "status", "ns", "x"}, "allow"},
      {{"create", "", "pods", "eviction", "ns", "x"}, "allow"},
      {{"get", "", "pods", "log", "ns", "x"}, ""},
      {{"update", "", "pods", "", "ns", "x"}, ""},
      {{"create", "certificates.k8s.io", "podcertificaterequests", "", "ns"}, "allow"},
      {{"update", "certificates.k8s.io", "podcertificaterequests", "status", "ns", "x"},
       "nodes may not access the status subresource of PodCertificateRequests"},
      {{"list", "certificates.k8s.io", "podcertificaterequests", "", "", "", selector}, "allow"},
      {{"watch", "certificates.k8s.io", "podcertificaterequests"},
       "can only list/watch podcertificaterequests with nodeName field selector"},
      {{"delete", "certificates.k8s.io", "podcertificaterequests", "", "ns", "x"}, "nodes may not delete podcertificaterequests"},
      {{"create", "authentication.k8s.io", "tokenreviews"}, "allow"},
      {{"list", "", "services"}, "allow"},
      {{"get", "", "services", "status", "ns", "x"}, ""},
      {{"list", "apps", "services"}, ""},
      {{"create", "events.k8s.io", "events", "", "ns"}, "allow"},
      {{"delete", "", "events", "", "ns", "x"}, ""},
      {{"get", "", "endpoints", "", "ns", "x"}, "allow"},
      {{"list", "node.k8s.io", "runtimeclasses"}, "allow"},
      {{"get", "certificates.k8s.io", "clustertrustbundles", "", "", "x"}, ""},
      {{"get", "", ""}, ""},
  };
  for (const Case& each : cases) {
    const Question& q = each.question;
    EXPECT_EQ(answer(q), each.answer) << q.verb << " " << q.resource << "/" << q.subresource << " " << q.ns << "/" << q.name << " "
                                      << q.fields;
  }
  features.credential_provider_tokens = features.pod_certificate_requests = false;
  EXPECT_EQ(answer({"get", "", "serviceaccounts", "", "ns", "sa"}), "not allowed to get service accounts");
  features.cluster_trust_bundles = true;
  EXPECT_EQ(answer({"get", "certificates.k8s.io", "clustertrustbundles", "", "", "x"}), "allow");
}

TEST_F(NodeTest, ASelectorThatCouldBeReadInPartDecides) {
  AuthorizationAttributes attributes;
  attributes.user = UserInfo{"system:node:n1", "", {"system:nodes"}, {}};
  attributes.resource_request = true;
  attributes.verb = "list";
  attributes.resource = "pods";
  attributes.fields_error = bad_request("a requirement that is none");
  const NodeAuthorizer authorizer(graph, features);
  EXPECT_EQ(authorizer.decide_now(RequestView(attributes))->decision, Decision::kNoOpinion);
  attributes.fields = *FieldSelector::parse("spec.nodeName=n1");
  EXPECT_EQ(authorizer.decide_now(RequestView(attributes))->decision, Decision::kAllow);
}

TEST_F(NodeTest, AnUpdateWithTheSameReferencesIsNoChange) {
  const VertexName owner{VertexKind::kPod, "ns", "p"};
  const std::vector<VertexName> references = {{VertexKind::kSecret, "ns", "s"}};
  EXPECT_TRUE(graph->bind(owner, "n1", references));
  EXPECT_FALSE(graph->bind(owner, "n1", references));
  EXPECT_TRUE(graph->bind(owner, "n2", references));
  EXPECT_TRUE(graph->bind(owner, "n2", {}));
  EXPECT_TRUE(graph->bind(owner, "n2", references));
}

// An object that remains readable is readable at every moment of a change.
TEST_F(NodeTest, AChangeNeverHidesWhatRemains) {
  const std::vector<VertexName> references = {{VertexKind::kSecret, "ns", "s"}};
  const VertexName owner{VertexKind::kPod, "ns", "p"};
  graph->bind(owner, "n1", references);
  std::atomic<bool> stop{false};
  std::atomic<int> hidden{0};
  std::thread reader([&] {
    while (!stop) hidden += graph->reaches("n1", VertexKind::kSecret, "ns", "s") ? 0 : 1;
  });
  for (int i = 0; i < 2000; ++i) {
    std::vector<VertexName> more = references;
    more.push_back({VertexKind::kSecret, "ns", std::to_string(i)});
    graph->bind(owner, "n1", more);
  }
  stop = true;
  reader.join();
  EXPECT_EQ(hidden, 0);
}

}  // namespace
}  // namespace backplane::authorization
