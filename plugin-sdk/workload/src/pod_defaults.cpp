#include "backplane/workload/pod_defaults.hpp"

#include "backplane/kit/walk.hpp"
#include "backplane/workload/image_name.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

// "Always" for the latest tag.  A malformed name has no tag at all: it is refused elsewhere, or by who pulls it.
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

// Limits are what is asked for where nothing else is.
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

void default_host_ports(Object& container) {
  each_mutable(container, "ports", [](Object& port) {
    if (const Value* number = find(port, "containerPort")) {
      const Value copy = *number;
      fill(port, "hostPort", copy);
    }
  });
}

}  // namespace

void apply_pod_spec_defaults(Object& pod_spec) {
  for (std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) each_mutable(pod_spec, list, default_container);
  each_mutable(pod_spec, "volumes", default_volume);
  const std::string_view account = get_string(pod_spec, "serviceAccountName");
  const std::string_view old_account = get_string(pod_spec, "serviceAccount");
  // Two names of one field: the newer wins.
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

void apply_pod_template_defaults(Object& pod_template) { apply_pod_spec_defaults(ensure_object(pod_template, "spec")); }

void apply_pod_only_defaults(Object& pod) {
  Object& pod_spec = ensure_object(pod, "spec");
  fill_missing(pod_spec, "enableServiceLinks", true);
  // Old clients sent negative periods; nobody can wait so long.
  if (get_int(pod_spec, "terminationGracePeriodSeconds").value_or(0) < 0) pod_spec["terminationGracePeriodSeconds"] = 1;
  const bool host_network = get_bool(pod_spec, "hostNetwork").value_or(false);
  for (std::string_view list : {"initContainers", "containers"}) {
    each_mutable(pod_spec, list, default_requests);
    if (host_network) each_mutable(pod_spec, list, default_host_ports);
  }
}

}  // namespace backplane::workload
