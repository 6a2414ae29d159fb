#include "backplane/workload/pod_defaults.hpp"

#include "backplane/kit/walk.hpp"
#include "backplane/workload/image_name.hpp"
#include "backplane/workload/resources.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

constexpr std::int64_t kVolumeFileMode = 0644;
constexpr std::int64_t kTokenLifetimeSeconds = 3600;

// "Always" for the latest tag.  A malformed name has no tag at all: it is refused elsewhere, or by who pulls it.
std::string_view pull_policy(std::string_view image) { return image_tag(image) == "latest" ? "Always" : "IfNotPresent"; }

void default_handler(Object& handler) {
  if (Object* get = mutable_object(handler, "httpGet")) {
    fill(*get, "path", "/");
    fill(*get, "scheme", "HTTP");
  }
  if (Object* grpc = mutable_object(handler, "grpc")) fill_missing(*grpc, "service", "");
}

void default_probe(Object& container, std::string_view name) {
  Object* probe = mutable_object(container, name);
  if (probe == nullptr) return;
  default_handler(*probe);
  fill(*probe, "timeoutSeconds", 1);
  fill(*probe, "periodSeconds", 10);
  fill(*probe, "successThreshold", 1);
  fill(*probe, "failureThreshold", 3);
}

void default_field_ref(Object& holder) {
  if (Object* ref = mutable_object(holder, "fieldRef")) fill(*ref, "apiVersion", "v1");
}

void default_container(Object& container) {
  each_mutable(container, "ports", [](Object& port) { fill(port, "protocol", "TCP"); });
  each_mutable(container, "env", [](Object& variable) {
    if (Object* from = mutable_object(variable, "valueFrom")) {
      default_field_ref(*from);
      if (Object* key = mutable_object(*from, "fileKeyRef")) fill_missing(*key, "optional", false);
    }
  });
  Object& resources = ensure_object(container, "resources");
  for (std::string_view list : {"limits", "requests"}) {
    if (Object* found = mutable_object(resources, list)) round_resource_list(*found);
  }
  for (std::string_view name : {"livenessProbe", "readinessProbe", "startupProbe"}) default_probe(container, name);
  if (Object* lifecycle = mutable_object(container, "lifecycle")) {
    for (std::string_view name : {"postStart", "preStop"}) {
      if (Object* handler = mutable_object(*lifecycle, name)) default_handler(*handler);
    }
  }
  fill(container, "terminationMessagePath", "/dev/termination-log");
  fill(container, "terminationMessagePolicy", "File");
  fill(container, "imagePullPolicy", pull_policy(get_string(container, "image")));
}

bool has_source(const Object& volume) {
  for (const auto& member : volume) {
    if (member.key() != "name" && !member.value().is_null()) return true;
  }
  return false;
}

void default_projected(Object& projected) {
  fill_missing(projected, "defaultMode", kVolumeFileMode);
  each_mutable(projected, "sources", [](Object& source) {
    if (Object* token = mutable_object(source, "serviceAccountToken")) fill_missing(*token, "expirationSeconds", kTokenLifetimeSeconds);
    if (Object* downward = mutable_object(source, "downwardAPI")) each_mutable(*downward, "items", default_field_ref);
  });
}

void default_volume(Object& volume) {
  if (!has_source(volume)) volume["emptyDir"].emplace_object();
  for (std::string_view source : {"secret", "configMap", "downwardAPI"}) {
    if (Object* found = mutable_object(volume, source)) fill_missing(*found, "defaultMode", kVolumeFileMode);
  }
  if (Object* downward = mutable_object(volume, "downwardAPI")) each_mutable(*downward, "items", default_field_ref);
  if (Object* projected = mutable_object(volume, "projected")) default_projected(*projected);
  if (Object* host_path = mutable_object(volume, "hostPath")) fill_missing(*host_path, "type", "");
  if (Object* image = mutable_object(volume, "image")) fill(*image, "pullPolicy", pull_policy(get_string(*image, "reference")));
  if (Object* iscsi = mutable_object(volume, "iscsi")) fill(*iscsi, "iscsiInterface", "default");
  if (Object* rbd = mutable_object(volume, "rbd")) {
    fill(*rbd, "pool", "rbd");
    fill(*rbd, "user", "admin");
    fill(*rbd, "keyring", "/etc/ceph/keyring");
  }
  if (Object* ephemeral = mutable_object(volume, "ephemeral")) {
    if (Object* claim = mutable_object(*ephemeral, "volumeClaimTemplate")) apply_claim_spec_defaults(ensure_object(*claim, "spec"));
  }
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

void apply_claim_spec_defaults(Object& claim_spec) {
  fill_missing(claim_spec, "volumeMode", "Filesystem");
  if (Object* resources = mutable_object(claim_spec, "resources")) {
    for (std::string_view list : {"limits", "requests"}) {
      if (Object* found = mutable_object(*resources, list)) round_resource_list(*found);
    }
  }
}

void apply_pod_spec_defaults(Object& pod_spec) {
  for (std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) each_mutable(pod_spec, list, default_container);
  each_mutable(pod_spec, "volumes", default_volume);
  fill(pod_spec, "restartPolicy", "Always");
  fill_missing(pod_spec, "terminationGracePeriodSeconds", 30);
  fill(pod_spec, "dnsPolicy", "ClusterFirst");
  ensure_object(pod_spec, "securityContext");
  fill(pod_spec, "schedulerName", "default-scheduler");
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
