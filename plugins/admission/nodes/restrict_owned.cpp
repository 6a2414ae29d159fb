#include "backplane/core/json_access.hpp"
#include "nodes/restrictions.hpp"

namespace backplane::admission::nodes {
namespace {

constexpr std::string_view kLeaseNamespace = "kube-node-lease";

// On create, upstream's attributes have no name yet, so the name of the object is used.
bool is_named_like_node(const NodeRequest& request) {
  const AdmissionAttributes& attributes = request.attributes;
  const bool create = attributes.operation == AdmissionOperation::kCreate && attributes.object != nullptr;
  return (create ? meta_name(*attributes.object) : std::string_view(attributes.name)) == request.node;
}

bool is_slice_of_node(const NodeRequest& request, const Object* slice) {
  return slice != nullptr && get_string_path(*slice, "spec.nodeName") == request.node;
}

}  // namespace

Status restrict_lease(const NodeRequest& request) {
  if (request.attributes.ns != kLeaseNamespace) {
    return request.refuse("can only access leases in the " + quoted(kLeaseNamespace) + " system namespace");
  }
  if (is_named_like_node(request)) return {};
  return request.refuse("can only access node lease with the same name as the requesting node");
}

Status restrict_csi_node(const NodeRequest& request) {
  if (is_named_like_node(request)) return {};
  return request.refuse("can only access CSINode with the same name as the requesting node");
}

// The authorizer decides about updates. It receives neither the content of a new object nor the single objects of a deleted collection, so
// these are checked here.
Status restrict_resource_slice(const NodeRequest& request) {
  const AdmissionAttributes& attributes = request.attributes;
  if (attributes.operation == AdmissionOperation::kCreate && !is_slice_of_node(request, attributes.object)) {
    return request.refuse("can only create ResourceSlice with the same NodeName as the requesting node");
  }
  if (attributes.operation == AdmissionOperation::kDelete && !is_slice_of_node(request, attributes.old_object)) {
    return request.refuse("can only delete ResourceSlice with the same NodeName as the requesting node");
  }
  return {};
}

}  // namespace backplane::admission::nodes
