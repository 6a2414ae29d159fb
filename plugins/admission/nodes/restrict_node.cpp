#include "backplane/core/json_access.hpp"
#include "nodes/node_labels.hpp"
#include "nodes/restrictions.hpp"

namespace backplane::admission::nodes {
namespace {

std::string sorted_text(const std::set<std::string>& texts) { return joined(std::vector<std::string>(texts.begin(), texts.end()), ", "); }

// Absent and empty lists are equal.
bool same_list(const Object& a, const Object& b, std::string_view key) {
  return (count_of(a, key) == 0 && count_of(b, key) == 0) || same_member(a, b, key);
}

Status check_new_node(const NodeRequest& request) {
  const Object& node = *request.attributes.object;
  const std::string subject = "node " + quoted(request.node);
  if (has(object_or_empty(node, "spec"), "configSource")) {
    return request.refuse(subject + " is not allowed to create pods with a non-nil configSource");
  }
  const auto labels = forbidden_label_changes(node, nullptr);
  if (!labels.empty()) return request.refuse(subject + " is not allowed to set the following labels: " + sorted_text(labels));
  return {};
}

Status check_changed_node(const NodeRequest& request) {
  const Object &node = *request.attributes.object, &old = *request.attributes.old_object;
  const Object &spec = object_or_empty(node, "spec"), &before = object_or_empty(old, "spec");
  const std::string subject = "node " + quoted(request.node);
  // An old kubelet may drop the field when it updates the status.
  if (has(spec, "configSource") && !same_member(spec, before, "configSource")) {
    return request.refuse(subject + " is not allowed to update configSource to a new non-nil configSource");
  }
  if (!same_list(spec, before, "taints")) return request.refuse(subject + " is not allowed to modify taints");
  if (!same_list(object_or_empty(node, "metadata"), object_or_empty(old, "metadata"), "ownerReferences")) {
    return request.refuse(subject + " is not allowed to modify ownerReferences");
  }
  const auto labels = forbidden_label_changes(node, &old);
  if (!labels.empty()) return request.refuse("is not allowed to modify labels: " + sorted_text(labels));
  return {};
}

}  // namespace

Status restrict_node(const NodeRequest& request) {
  const AdmissionAttributes& attributes = request.attributes;
  if (attributes.name != request.node) {
    return request.refuse("node " + quoted(request.node) + " is not allowed to modify node " + quoted(attributes.name));
  }
  if (attributes.operation == AdmissionOperation::kCreate) return check_new_node(request);
  if (attributes.operation == AdmissionOperation::kUpdate) return check_changed_node(request);
  return {};
}

}  // namespace backplane::admission::nodes
