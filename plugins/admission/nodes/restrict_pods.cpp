#include "accounts/mirror_pods.hpp"
#include "backplane/core/json_access.hpp"
#include "nodes/api_references.hpp"
#include "nodes/restrictions.hpp"

namespace backplane::admission::nodes {
namespace {

std::string_view node_name_of(const Object& pod) { return get_string_path(pod, "spec.nodeName"); }

// Refuses with a text that begins with `node "NAME" `.
Status refuse_node(const NodeRequest& request, std::string_view what) {
  return request.refuse("node " + quoted(request.node) + " " + std::string(what));
}

// ---- create

Status check_owner_uid(const NodeRequest& request, const Object& owner) {
  const auto node = request.data.nodes.find("", request.node);
  if (!node) return request.data.nodes.missing(request.node);
  const std::string uid(get_string(owner, "uid")), wanted(meta_text(*node, "uid"));
  if (uid == wanted) return {};
  return request.refuse("node " + std::string(request.node) + " UID mismatch: expected " + uid + " got " + wanted);
}

// Checks that the node is the only owner, and the controller.
Status check_owner(const NodeRequest& request, const Object& pod) {
  const Array* owners = get_array(object_or_empty(pod, "metadata"), "ownerReferences");
  const std::size_t count = owners != nullptr ? owners->size() : 0;
  if (count > 1) return refuse_node(request, "can only create pods with a single owner reference set to itself");
  const Object* owner = count == 1 ? owners->front().if_object() : nullptr;
  const bool itself = owner != nullptr && get_string(*owner, "apiVersion") == "v1" && get_string(*owner, "kind") == "Node" &&
                      get_string(*owner, "name") == request.node;
  if (!itself) return refuse_node(request, "can only create pods with an owner reference set to itself");
  if (get_bool(*owner, "controller") != true) {
    return refuse_node(request, "can only create pods with a controller owner reference set to itself");
  }
  if (get_bool(*owner, "blockOwnerDeletion") == true) return refuse_node(request, "must not set blockOwnerDeletion on an owner reference");
  return check_owner_uid(request, *owner);
}

Status check_create(const NodeRequest& request) {
  const Object& pod = *request.attributes.object;
  if (!accounts::is_mirror_pod(pod)) {
    return request.refuse("pod does not have " + quoted(accounts::kMirrorPodAnnotation) + " annotation, node " + quoted(request.node) +
                          " can only create mirror pods");
  }
  if (node_name_of(pod) != request.node) return refuse_node(request, "can only create pods with spec.nodeName set to itself");
  if (Status owner = check_owner(request, pod); !owner.ok()) return owner;
  const auto reference = api_reference(object_or_empty(pod, "spec"));
  if (!reference.ok()) return request.refuse("error checking mirror pod for API references: " + reference.status().message());
  return *reference ? refuse_node(request, "can not create pods that reference " + **reference) : Status();
}

// ---- delete and eviction

// Checks that the pod in the cache is bound to the node; refuses with `refusal` if it is not.
Status check_bound(const NodeRequest& request, std::string_view name, const std::string& refusal) {
  const auto pod = request.data.pods.find(request.attributes.ns, name);
  if (!pod) return request.data.pods.missing(name);
  return node_name_of(*pod) == request.node ? Status() : request.refuse(refusal);
}

Status check_main(const NodeRequest& request) {
  switch (request.attributes.operation) {
    case AdmissionOperation::kCreate:
      return check_create(request);
    case AdmissionOperation::kDelete:
      return check_bound(request, request.attributes.name,
                         "node " + quoted(request.node) + " can only delete pods with spec.nodeName set to itself");
    default:
      return request.refuse("unexpected operation " + quoted(admission_operation_name(request.attributes.operation)) + ", node " +
                            quoted(request.node) + " can only create and delete mirror pods");
  }
}

Status check_eviction(const NodeRequest& request) {
  const AdmissionAttributes& attributes = request.attributes;
  const std::string operation(admission_operation_name(attributes.operation));
  if (attributes.operation != AdmissionOperation::kCreate) return request.refuse("unexpected operation " + operation);
  const std::string_view name = attributes.name.empty() ? meta_name(*attributes.object) : std::string_view(attributes.name);
  if (name.empty()) return request.refuse("could not determine pod from request data");
  return check_bound(request, name, "node " + std::string(request.node) + " can only evict pods with spec.nodeName set to itself");
}

// ---- status

bool same_labels(const Object& pod, const Object& old) {
  return object_or_empty(object_or_empty(pod, "metadata"), "labels") == object_or_empty(object_or_empty(old, "metadata"), "labels");
}

bool same_claim_statuses(const Object& status, const Object& before) {
  const Array *now = get_array(status, "resourceClaimStatuses"), *then = get_array(before, "resourceClaimStatuses");
  if (count_of(status, "resourceClaimStatuses") != count_of(before, "resourceClaimStatuses")) return false;
  for (std::size_t i = 0; now != nullptr && i < now->size(); ++i) {
    if ((*now)[i] != (*then)[i]) return false;
  }
  return true;
}

Status check_status(const NodeRequest& request) {
  if (request.attributes.operation != AdmissionOperation::kUpdate) return request.unexpected_operation();
  const Object &pod = *request.attributes.object, &old = *request.attributes.old_object;
  if (node_name_of(old) != request.node) {
    return refuse_node(request, "can only update pod status for pods with spec.nodeName set to itself");
  }
  if (!same_labels(pod, old)) return refuse_node(request, "cannot update labels through pod status");
  const Object &status = object_or_empty(pod, "status"), &before = object_or_empty(old, "status");
  if (!same_claim_statuses(status, before)) return refuse_node(request, "cannot update resource claim statues");
  if (!same_member(status, before, "extendedResourceClaimStatus")) {
    return refuse_node(request, "cannot update extended resource claim status");
  }
  return {};
}

}  // namespace

Status restrict_pod(const NodeRequest& request) {
  const std::string& subresource = request.attributes.subresource;
  if (subresource.empty()) return check_main(request);
  if (subresource == "status") return check_status(request);
  if (subresource == "eviction") return check_eviction(request);
  return request.refuse("unexpected pod subresource " + quoted(subresource) + ", only 'status' and 'eviction' are allowed");
}

}  // namespace backplane::admission::nodes
