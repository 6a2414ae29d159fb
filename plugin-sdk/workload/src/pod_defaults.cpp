#include "backplane/workload/pod_defaults.hpp"

#include <functional>

#include "backplane/core/json_access.hpp"
#include "backplane/types/resource_names.hpp"
#include "backplane/workload/image_name.hpp"
#include "pod_parts.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

// Returns "Always" for the tag latest.  A malformed name has no tag; validation or the kubelet refuses it.
std::string_view pull_policy(std::string_view image) { return image_tag(image) == "latest" ? "Always" : "IfNotPresent"; }

void default_container(Object& container) {
  ensure_object(container, "resources");
  fill(container, "imagePullPolicy", pull_policy(get_string(container, "image")));
}

bool has_source(const Object& volume) {
  for (const auto& member : volume) {
    if (member.key() != "name" && !member.value().is_null()) return true;
  }
  return false;
}

void default_volume(Object& volume) {
  if (!has_source(volume)) volume["emptyDir"].emplace_object();
  if (Object* image = mutable_object(volume, "image")) fill(*image, "pullPolicy", pull_policy(get_string(*image, "reference")));
}

// Sets missing requests to the limits.
void default_requests(Object& container) {
  Object* resources = mutable_object(container, "resources");
  const Object* limits = resources ? get_object(*resources, "limits") : nullptr;
  if (limits == nullptr || limits->empty()) return;
  const Object copy(*limits);
  Object& requests = ensure_object(*resources, "requests");
  for (const auto& limit : copy) {
    if (!requests.contains(limit.key())) requests[limit.key()] = limit.value();
  }
}

// Sets the defaults of pod-level resources, if the pod has some. Huge pages and requests default to the sums of the containers' resources;
// a request that is still missing defaults to the limit.
void default_pod_amounts(Object& pod_spec) {
  Object* resources = mutable_object(pod_spec, "resources");
  if (resources == nullptr) return;
  const auto amounts = [&](std::string_view list) -> const Object& { return object_or_empty(*resources, list); };
  const auto fill_in = [&](std::string_view list, const Object& from, const std::function<bool(std::string_view)>& takes) {
    for (const auto& amount : from) {
      if (takes(amount.key()) && !amounts(list).contains(amount.key())) ensure_object(*resources, list)[amount.key()] = amount.value();
    }
  };
  if (amounts("limits").empty() && amounts("requests").empty()) return;
  fill_in("limits", sum_of_containers(pod_spec, "limits"),
          [&](std::string_view name) { return is_huge_page(name) && !amounts("requests").contains(name); });
  if (amounts("limits").empty()) return;
  fill_in("requests", sum_of_containers(pod_spec, "requests"),
          [](std::string_view name) { return is_pod_level(name) && !is_huge_page(name); });
  const Object limits(amounts("limits"));
  fill_in("requests", limits, is_pod_level);
}

void default_host_ports(Object& container) {
  each_mutable(container, "ports", [](Object& port) {
    if (const Value* number = find(port, "containerPort")) {
      const Value copy = *number;
      fill(port, "hostPort", copy);
    }
  });
}

constexpr std::string_view kOldAnnotations[] = {"pod.alpha.kubernetes.io/init-containers",
                                                "pod.alpha.kubernetes.io/init-container-statuses", "pod.beta.kubernetes.io/init-containers",
                                                "pod.beta.kubernetes.io/init-container-statuses"};

// Removes annotations of old versions that contained init containers. The server ignores them.
void drop_old_annotations(Object& pod_or_template) {
  Object* metadata = mutable_object(pod_or_template, "metadata");
  Object* annotations = metadata ? mutable_object(*metadata, "annotations") : nullptr;
  if (annotations == nullptr) return;
  const std::size_t before = annotations->size();
  for (const std::string_view name : kOldAnnotations) annotations->erase(name);
  if (annotations->empty() && before > 0) metadata->erase("annotations");
}

}  // namespace

void apply_pod_spec_defaults(Object& pod_spec) {
  for (std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) each_mutable(pod_spec, list, default_container);
  each_mutable(pod_spec, "volumes", default_volume);
  const std::string_view account = get_string(pod_spec, "serviceAccountName");
  const std::string_view old_account = get_string(pod_spec, "serviceAccount");
  // serviceAccountName and serviceAccount are two names of one field. The newer name takes precedence.
  if (!account.empty()) {
    pod_spec["serviceAccount"] = std::string(account);
  } else if (!old_account.empty()) {
    pod_spec["serviceAccountName"] = std::string(old_account);
  }
}

void canonicalize_pod_spec(Object& pod_spec) {
  each_mutable(pod_spec, "volumes", [](Object& volume) {
    if (Object* projected = mutable_object(volume, "projected")) null_when_empty(*projected, "sources");
  });
}

void canonicalize_template(Object& object) {
  Object* spec = mutable_object(object, "spec");
  Object* pod_template = spec ? mutable_object(*spec, "template") : nullptr;
  if (Object* pod_spec = pod_template ? mutable_object(*pod_template, "spec") : nullptr) canonicalize_pod_spec(*pod_spec);
}

void apply_pod_template_defaults(Object& pod_template) {
  apply_pod_spec_defaults(ensure_object(pod_template, "spec"));
  drop_old_annotations(pod_template);
}

void apply_pod_only_defaults(Object& pod) {
  drop_old_annotations(pod);
  Object& pod_spec = ensure_object(pod, "spec");
  fill_missing(pod_spec, "enableServiceLinks", true);
  // Old clients sent negative grace periods; they are changed to 1.
  if (get_int(pod_spec, "terminationGracePeriodSeconds").value_or(0) < 0) pod_spec["terminationGracePeriodSeconds"] = 1;
  const bool host_network = get_bool(pod_spec, "hostNetwork").value_or(false);
  for (std::string_view list : {"initContainers", "containers"}) {
    each_mutable(pod_spec, list, default_requests);
    if (host_network) each_mutable(pod_spec, list, default_host_ports);
  }
  default_pod_amounts(pod_spec);
}

}  // namespace backplane::workload
