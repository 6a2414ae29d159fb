#include "accounts/pod_references.hpp"

#include "backplane/core/json_access.hpp"

namespace backplane::admission::accounts {
namespace {

// A type of volume, and the path of the member that names a secret.
struct SecretPlace {
  std::string_view source, path;
};
constexpr SecretPlace kSecretPlaces[] = {
    {"azureFile", "secretName"},
    {"cephfs", "secretRef.name"},
    {"cinder", "secretRef.name"},
    {"flexVolume", "secretRef.name"},
    {"projected", ""},
    {"rbd", "secretRef.name"},
    {"secret", "secretName"},
    {"scaleIO", "secretRef.name"},
    {"iscsi", "secretRef.name"},
    {"storageos", "secretRef.name"},
    {"csi", "nodePublishSecretRef.name"},
};

bool names(const Object& parent, std::string_view reference) { return !get_string(object_or_empty(parent, reference), "name").empty(); }

// The members that refer to a kind of object.
struct ReferenceKeys {
  std::string_view env_from, key_ref, projection;
};
constexpr ReferenceKeys kSecretKeys{"secretRef", "secretKeyRef", "secret"};
constexpr ReferenceKeys kConfigMapKeys{"configMapRef", "configMapKeyRef", "configMap"};

bool containers_refer(const Object& spec, const ReferenceKeys& keys) {
  bool found = false;
  for (const std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) {
    each(spec, list, [&](const Object& container, std::size_t) {
      each(container, "envFrom", [&](const Object& from, std::size_t) { found = found || names(from, keys.env_from); });
      each(container, "env",
           [&](const Object& env, std::size_t) { found = found || names(object_or_empty(env, "valueFrom"), keys.key_ref); });
    });
  }
  return found;
}

bool projects(const Object& volume, const ReferenceKeys& keys) {
  bool found = false;
  each(object_or_empty(volume, "projected"), "sources",
       [&](const Object& source, std::size_t) { found = found || names(source, keys.projection); });
  return found;
}

bool volume_names_secret(const Object& volume) {
  for (const SecretPlace& place : kSecretPlaces) {
    const Object* source = get_object(volume, place.source);
    if (source == nullptr) continue;
    return place.path.empty() ? projects(volume, kSecretKeys) : !get_string_path(*source, place.path).empty();
  }
  return false;
}

bool volume_names_config_map(const Object& volume) {
  return has(volume, "projected") ? projects(volume, kConfigMapKeys) : names(volume, "configMap");
}

bool volumes_refer(const Object& spec, bool (*refers)(const Object& volume)) {
  bool found = false;
  each(spec, "volumes", [&](const Object& volume, std::size_t) { found = found || refers(volume); });
  return found;
}

}  // namespace

bool references_secrets(const Object& pod_spec) {
  bool pulls = false;
  each(pod_spec, "imagePullSecrets", [&](const Object& secret, std::size_t) { pulls = pulls || !get_string(secret, "name").empty(); });
  return pulls || containers_refer(pod_spec, kSecretKeys) || volumes_refer(pod_spec, volume_names_secret);
}

bool references_config_maps(const Object& pod_spec) {
  return containers_refer(pod_spec, kConfigMapKeys) || volumes_refer(pod_spec, volume_names_config_map);
}

}  // namespace backplane::admission::accounts
