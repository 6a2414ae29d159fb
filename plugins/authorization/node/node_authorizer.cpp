#include "node/node_authorizer.hpp"

#include <algorithm>
#include <initializer_list>

namespace backplane::authorization {
namespace {

constexpr std::string_view kNodeUserPrefix = "system:node:";
constexpr std::string_view kNodesGroup = "system:nodes";
constexpr std::string_view kNodeLeases = "kube-node-lease";

AuthorizerResult node_allowed() { return {Decision::kAllow, "", {}}; }
AuthorizerResult no_opinion(std::string reason = {}) { return {Decision::kNoOpinion, std::move(reason), {}}; }

// One request of one node.
struct NodeRequest {
  const RequestView& request;
  std::string_view node;
  const NodeGraph& graph;
  const NodeFeatures& features;

  bool verb_is(std::initializer_list<std::string_view> verbs) const {
    return std::find(verbs.begin(), verbs.end(), request.verb) != verbs.end();
  }
  // True if a field selector restricts the request to the node.
  bool selects_node(std::string_view field) const {
    const auto fields = request.field_selector();
    if (!fields.ok()) return false;
    const auto& all = fields->requirements();
    return std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.field == field && each.equals && each.value == node; });
  }
};

using Kind = VertexKind;

AuthorizerResult related(const NodeRequest& call, Kind kind) {
  const bool found = call.graph.reaches(call.node, kind, call.request.ns, call.request.name);
  return found ? node_allowed() : no_opinion("no relationship found between node '" + std::string(call.node) + "' and this object");
}

AuthorizerResult related_object(const NodeRequest& call, Kind kind) {
  return call.request.name.empty() ? no_opinion("No Object name found") : related(call, kind);
}

AuthorizerResult get_only(const NodeRequest& call, Kind kind) {
  if (call.request.verb != "get") return no_opinion("can only get individual resources of this type");
  if (!call.request.subresource.empty()) return no_opinion("cannot get subresource");
  return related_object(call, kind);
}

AuthorizerResult read_namespaced(const NodeRequest& call, Kind kind) {
  if (!call.verb_is({"get", "list", "watch"})) return no_opinion("can only read resources of this type");
  if (!call.request.subresource.empty()) return no_opinion("cannot read subresource");
  if (call.request.ns.empty()) return no_opinion("can only read namespaced object of this type");
  return related_object(call, kind);
}

AuthorizerResult volume_claim(const NodeRequest& call, Kind kind) {
  if (call.request.subresource != "status") return get_only(call, kind);
  if (!call.verb_is({"update", "patch"})) return no_opinion("can only get/update/patch this type");
  return related_object(call, kind);
}

AuthorizerResult service_account(const NodeRequest& call, Kind kind) {
  if (call.request.verb == "get" && call.request.subresource.empty()) {
    if (!call.features.credential_provider_tokens && !call.features.pod_certificate_requests) {
      return no_opinion("not allowed to get service accounts");
    }
    return read_namespaced(call, kind);
  }
  if (call.request.verb != "create" || call.request.name.empty()) {
    return no_opinion("can only create tokens for individual service accounts");
  }
  if (call.request.subresource != "token") return no_opinion("can only create token subresource of serviceaccount");
  return related(call, kind);
}

// The name of an object that is created is unknown here; the admission plugin NodeRestriction checks it.
bool of_another_node(const NodeRequest& call) { return call.request.verb != "create" && call.request.name != call.node; }

AuthorizerResult lease(const NodeRequest& call, Kind) {
  if (!call.verb_is({"get", "create", "update", "patch", "delete"})) {
    return no_opinion("can only get, create, update, patch, or delete a node lease");
  }
  if (call.request.ns != kNodeLeases)
    return no_opinion("can only access leases in the " + backplane::quoted(kNodeLeases) + " system namespace");
  if (of_another_node(call)) return no_opinion("can only access node lease with the same name as the requesting node");
  return node_allowed();
}

AuthorizerResult csi_node(const NodeRequest& call, Kind) {
  if (!call.verb_is({"get", "create", "update", "patch", "delete"})) {
    return no_opinion("can only get, create, update, patch, or delete a CSINode");
  }
  if (!call.request.subresource.empty()) return no_opinion("cannot authorize CSINode subresources");
  if (of_another_node(call)) return no_opinion("can only access CSINode with the same name as the requesting node");
  return node_allowed();
}

AuthorizerResult resource_slice(const NodeRequest& call, Kind kind) {
  if (!call.request.subresource.empty()) return no_opinion("cannot authorize ResourceSlice subresources");
  if (call.request.verb == "create") return node_allowed();
  if (call.verb_is({"get", "update", "patch", "delete"})) return related_object(call, kind);
  if (call.verb_is({"watch", "list", "deletecollection"})) {
    if (call.selects_node("spec.nodeName")) return node_allowed();
    return no_opinion("can only list/watch/deletecollection resourceslices with nodeName field selector");
  }
  return no_opinion(
      "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection");
}

AuthorizerResult certificate_request(const NodeRequest& call, Kind kind) {
  if (!call.features.pod_certificate_requests) return no_opinion();
  if (!call.request.subresource.empty()) return no_opinion("nodes may not access the status subresource of PodCertificateRequests");
  if (call.request.verb == "create") return node_allowed();
  if (call.request.verb == "get") return related_object(call, kind);
  if (call.verb_is({"list", "watch"})) {
    if (call.selects_node("spec.nodeName")) return node_allowed();
    return no_opinion("can only list/watch podcertificaterequests with nodeName field selector");
  }
  return no_opinion("nodes may not " + std::string(call.request.verb) + " podcertificaterequests");
}

AuthorizerResult node_object(const NodeRequest& call, Kind) {
  const std::string node(call.node);
  const std::string_view wanted = call.request.name;
  if (call.request.subresource == "status") return call.verb_is({"update", "patch"}) ? node_allowed() : no_opinion();
  if (!call.request.subresource.empty()) return no_opinion();
  if (call.verb_is({"create", "update", "patch"})) return node_allowed();
  if (!call.verb_is({"get", "list", "watch"})) return no_opinion();
  // Compares names instead of using the graph, because a kubelet reads its Node before it creates this object.
  if (wanted == node) return node_allowed();
  if (wanted.empty()) return no_opinion("node '" + node + "' cannot read all nodes, only its own Node object");
  return no_opinion("node '" + node + "' cannot read '" + std::string(wanted) + "', only its own Node object");
}

AuthorizerResult pod(const NodeRequest& call, Kind kind) {
  const std::string_view part = call.request.subresource;
  if (part == "status") return call.verb_is({"update", "patch"}) ? node_allowed() : no_opinion();
  if (part == "eviction") return call.request.verb == "create" ? node_allowed() : no_opinion();
  if (!part.empty()) return no_opinion();
  if (call.request.verb == "get") return get_only(call, kind);
  // Kubelets create and delete mirror pods. The admission plugin NodeRestriction refuses other pods.
  if (call.verb_is({"create", "delete"})) return node_allowed();
  if (!call.verb_is({"list", "watch"})) return no_opinion();
  if (call.selects_node("spec.nodeName")) return node_allowed();
  if (!call.request.name.empty()) return related(call, kind);
  return no_opinion("can only list/watch pods with spec.nodeName field selector");
}

struct NodeResource {
  std::string_view group, resource;
  AuthorizerResult (*decide)(const NodeRequest& call, Kind kind);
  Kind kind;
};
constexpr NodeResource kNodeResources[] = {
    {"", "secrets", read_namespaced, Kind::kSecret},
    {"", "configmaps", read_namespaced, Kind::kConfigMap},
    {"", "persistentvolumeclaims", volume_claim, Kind::kVolumeClaim},
    {"", "persistentvolumes", get_only, Kind::kVolume},
    {"resource.k8s.io", "resourceclaims", get_only, Kind::kResourceClaim},
    {"storage.k8s.io", "volumeattachments", get_only, Kind::kVolumeAttachment},
    {"", "serviceaccounts", service_account, Kind::kServiceAccount},
    {"coordination.k8s.io", "leases", lease, Kind::kNode},
    {"storage.k8s.io", "csinodes", csi_node, Kind::kNode},
    {"resource.k8s.io", "resourceslices", resource_slice, Kind::kResourceSlice},
    {"", "nodes", node_object, Kind::kNode},
    {"", "pods", pod, Kind::kPod},
    {"certificates.k8s.io", "podcertificaterequests", certificate_request, Kind::kCertificateRequest},
};

}  // namespace

std::optional<std::string_view> node_of(const UserInfo& user) noexcept {
  if (!user.name.starts_with(kNodeUserPrefix) || !user.in_group(kNodesGroup)) return std::nullopt;
  return std::string_view(user.name).substr(kNodeUserPrefix.size());
}

std::optional<AuthorizerResult> NodeAuthorizer::decide_now(const RequestView& request) const {
  const auto node = node_of(request.user);
  if (!node) return no_opinion();
  if (node->empty()) return no_opinion("unknown node for user " + backplane::quoted(request.user.name));
  if (request.resource_request) {
    for (const NodeResource& row : kNodeResources) {
      if (row.resource != request.resource || row.group != request.api_group) continue;
      return row.decide({request, *node, *graph_, features_}, row.kind);
    }
  }
  return node_rules_allow(request, features_) ? node_allowed() : no_opinion();
}

Task<RuleList> NodeAuthorizer::rules_for(UserInfo user, std::string) {
  RuleList rules;
  if (node_of(user)) {
    rules.incomplete = true;
    rules.error = Status(Reason::kInternalError, "node authorizer does not support user rule resolution");
  }
  co_return rules;
}

}  // namespace backplane::authorization
