#include "accounts/token_volume.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"

namespace backplane::admission::accounts {
namespace {

constexpr std::string_view kVolumePrefix = "kube-api-access-";
constexpr std::string_view kMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";

// The server recognizes tokens of this volume by the lifetime: it warns about clients that do not renew such tokens in time.
const Value& token_volume_source() {
  static const Value source = json::parse(R"({
    "sources": [
      {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
      {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
      {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}}],
    "defaultMode": 420})");
  return source;
}

// The name of the pod's token volume; empty if the pod has none.
std::string token_volume_of(const Object& spec) {
  std::string found;
  each(spec, "volumes", [&](const Object& volume, std::size_t) {
    const std::string_view name = get_string(volume, "name");
    if (found.empty() && name.starts_with(kVolumePrefix)) found = name;
  });
  return found;
}

// Returns true if the container now mounts the volume.
bool mount_in(Object& container, const std::string& volume) {
  if (find_item(container, "volumeMounts", "mountPath", kMountPath) != nullptr) return false;
  Object mount(container.storage());
  mount["name"] = volume;
  mount["readOnly"] = true;
  mount["mountPath"] = kMountPath;
  ensure_array(container, "volumeMounts").push_back(std::move(mount));
  return true;
}

}  // namespace

void mount_token_volume(Object& pod_spec) {
  const std::string existing = token_volume_of(pod_spec);
  const std::string name = existing.empty() ? std::string(kVolumePrefix) + random_suffix() : existing;
  bool mounted = false;
  for (const std::string_view list : {"initContainers", "containers"}) {
    each_mutable(pod_spec, list, [&](Object& container) { mounted = mount_in(container, name) || mounted; });
  }
  if (!mounted || !existing.empty()) return;
  Object volume(pod_spec.storage());
  volume["name"] = name;
  volume["projected"] = token_volume_source();
  ensure_array(pod_spec, "volumes").push_back(std::move(volume));
}

}  // namespace backplane::admission::accounts
