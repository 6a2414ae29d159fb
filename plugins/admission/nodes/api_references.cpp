#include "nodes/api_references.hpp"

#include <span>

#include "accounts/pod_references.hpp"
#include "backplane/core/json_access.hpp"

namespace backplane::admission::nodes {
namespace {

// A type of volume, and the resource that such a volume refers to (empty: none), in the order in which the types are checked.
struct VolumeReference {
  std::string_view type, resource;
};
constexpr VolumeReference kVolumeReferences[] = {
    {"awsElasticBlockStore", ""},
    {"azureDisk", ""},
    {"cephfs", ""},
    {"cinder", ""},
    {"downwardAPI", ""},
    {"emptyDir", ""},
    {"fc", ""},
    {"flexVolume", ""},
    {"flocker", ""},
    {"gcePersistentDisk", ""},
    {"gitRepo", ""},
    {"hostPath", ""},
    {"image", ""},
    {"iscsi", ""},
    {"nfs", ""},
    {"photonPersistentDisk", ""},
    {"portworxVolume", ""},
    {"quobyte", ""},
    {"rbd", ""},
    {"scaleIO", ""},
    {"storageos", ""},
    {"vsphereVolume", ""},
    {"configMap", "configmaps (via configmap volumes)"},
    {"secret", "secrets (via secret volumes)"},
    {"csi", "csidrivers (via CSI volumes)"},
    {"glusterfs", "endpoints (via glusterFS volumes)"},
    {"persistentVolumeClaim", "persistentvolumeclaims"},
    {"ephemeral", "persistentvolumeclaims (via ephemeral volumes)"},
    {"azureFile", "secrets (via azureFile volumes)"},
};
constexpr VolumeReference kProjections[] = {
    {"configMap", "configmaps (via projected volumes)"},
    {"secret", "secrets (via projected volumes)"},
    {"serviceAccountToken", "serviceaccounts (via projected volumes)"},
    {"clusterTrustBundle", "clustertrustbundles"},
    {"podCertificate", "podcertificates"},
    {"downwardAPI", ""},
};

using Reference = std::optional<std::string>;

// The first of `types` that the object has; null if it has none.
const VolumeReference* type_in(std::span<const VolumeReference> types, const Object& object) {
  for (const VolumeReference& type : types) {
    if (has(object, type.type)) return &type;
  }
  return nullptr;
}

Result<Reference> projected_reference(const Object& volume) {
  const Array* sources = get_array(object_or_empty(volume, "projected"), "sources");
  for (std::size_t i = 0; sources != nullptr && i < sources->size(); ++i) {
    const Object* source = (*sources)[i].if_object();
    const VolumeReference* type = source != nullptr ? type_in(kProjections, *source) : nullptr;
    if (type == nullptr) return bad_request("unknown source for projected volume " + quoted(get_string(volume, "name")));
    if (!type->resource.empty()) return Reference(type->resource);
  }
  return Reference();
}

Result<Reference> volume_reference(const Object& volume) {
  if (const VolumeReference* type = type_in(kVolumeReferences, volume)) {
    return type->resource.empty() ? Reference() : Reference(type->resource);
  }
  if (has(volume, "projected")) return projected_reference(volume);
  return bad_request("unknown volume type for volume  " + quoted(get_string(volume, "name")));
}

}  // namespace

Result<Reference> api_reference(const Object& pod_spec) {
  if (!get_string(pod_spec, "serviceAccountName").empty()) return Reference("serviceaccounts");
  if (accounts::references_secrets(pod_spec)) return Reference("secrets");
  if (accounts::references_config_maps(pod_spec)) return Reference("configmaps");
  if (count_of(pod_spec, "resourceClaims") > 0) return Reference("resourceclaims");
  const Array* volumes = get_array(pod_spec, "volumes");
  for (std::size_t i = 0; volumes != nullptr && i < volumes->size(); ++i) {
    if (!(*volumes)[i].is_object()) continue;
    auto found = volume_reference((*volumes)[i].get_object());
    if (!found.ok() || *found) return found;
  }
  return Reference();
}

}  // namespace backplane::admission::nodes
