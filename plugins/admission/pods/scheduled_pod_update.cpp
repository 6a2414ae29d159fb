#include "pods/scheduled_pod_update.hpp"

#include "backplane/core/json_access.hpp"
#include "objects/cached_objects.hpp"
#include "objects/request_match.hpp"

namespace backplane::admission::pods {
namespace {

std::int64_t generation_of(const Object& pod) { return get_int_path(pod, "metadata.generation").value_or(0); }

}  // namespace

bool is_scheduled_pod_change(const AdmissionAttributes& attributes, bool only_resize) {
  if (attributes.operation != AdmissionOperation::kUpdate || !objects::is_of_resource(attributes, "", "pods")) return false;
  const bool main = attributes.subresource.empty() && !only_resize;
  if (!main && attributes.subresource != "resize") return false;
  if (attributes.object == nullptr || attributes.old_object == nullptr) return false;
  if (get_string_path(*attributes.object, "spec.nodeName").empty()) return false;
  return generation_of(*attributes.object) != generation_of(*attributes.old_object);
}

Result<Object> node_of_pod(const AdmissionAttributes& attributes, const Lister& nodes) {
  const std::string_view name = get_string_path(*attributes.object, "spec.nodeName");
  const ObjectRef entry = nodes.find("", name);
  if (entry == nullptr) return admission_forbidden(attributes, "node " + backplane::quoted(name) + " not found");
  return objects::decoded(*entry, attributes);
}

}  // namespace backplane::admission::pods
