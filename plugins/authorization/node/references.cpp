#include "node/references.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"

namespace backplane::authorization {
namespace {

constexpr std::string_view kMirrorPod = "kubernetes.io/config.mirror";
constexpr const char* kContainerLists[] = {"initContainers", "containers", "ephemeralContainers"};

// A member of a volume source that names a secret.
struct SecretMember {
  const char* source;
  const char* reference;  // an object with `name`
};
// In upstream's order: only the first source of a volume counts.
constexpr SecretMember kPodSecrets[] = {{"cephfs", "secretRef"},    {"cinder", "secretRef"},        {"flexVolume", "secretRef"},
                                        {"rbd", "secretRef"},       {"scaleIO", "secretRef"},       {"iscsi", "secretRef"},
                                        {"storageos", "secretRef"}, {"csi", "nodePublishSecretRef"}};

class PodReader {
 public:
  explicit PodReader(const Object& pod) : pod_(pod), spec_(object_or_empty(pod, "spec")), ns_(get_string_path(pod, "metadata.namespace")) {}

  std::vector<VertexName> read() {
    if (has(object_or_empty(object_or_empty(pod_, "metadata"), "annotations"), kMirrorPod)) return {};
    add(VertexKind::kServiceAccount, get_string(spec_, "serviceAccountName"));
    each(spec_, "imagePullSecrets", [&](const Object& item, std::size_t) { add(VertexKind::kSecret, get_string(item, "name")); });
    for (const char* list : kContainerLists) {
      each(spec_, list, [&](const Object& container, std::size_t) { read_container(container); });
    }
    each(spec_, "volumes", [&](const Object& volume, std::size_t) { read_volume(volume); });
    read_resource_claims();
    return std::move(out_);
  }

 private:
  void add(VertexKind kind, std::string_view name) {
    if (name.empty()) return;
    VertexName reference{kind, ns_, std::string(name)};
    if (std::find(out_.begin(), out_.end(), reference) == out_.end()) out_.push_back(std::move(reference));
  }
  void add_named(VertexKind kind, const Object& parent, std::string_view member) {
    add(kind, get_string(object_or_empty(parent, member), "name"));
  }

  void read_container(const Object& container) {
    each(container, "envFrom", [&](const Object& from, std::size_t) {
      add_named(VertexKind::kSecret, from, "secretRef");
      add_named(VertexKind::kConfigMap, from, "configMapRef");
    });
    each(container, "env", [&](const Object& variable, std::size_t) {
      const Object& from = object_or_empty(variable, "valueFrom");
      add_named(VertexKind::kSecret, from, "secretKeyRef");
      add_named(VertexKind::kConfigMap, from, "configMapKeyRef");
    });
  }

  void read_volume(const Object& volume) {
    if (const Object* claim = get_object(volume, "persistentVolumeClaim")) {
      add(VertexKind::kVolumeClaim, get_string(*claim, "claimName"));
    } else if (has(volume, "ephemeral")) {
      add(VertexKind::kVolumeClaim, std::string(get_string_path(pod_, "metadata.name")) + "-" + std::string(get_string(volume, "name")));
    }
    if (const Object* projected = get_object(volume, "projected")) {
      each(*projected, "sources", [&](const Object& source, std::size_t) {
        add_named(VertexKind::kSecret, source, "secret");
        add_named(VertexKind::kConfigMap, source, "configMap");
      });
    }
    add(VertexKind::kSecret, get_string(object_or_empty(volume, "azureFile"), "secretName"));
    add(VertexKind::kSecret, get_string(object_or_empty(volume, "secret"), "secretName"));
    add_named(VertexKind::kConfigMap, volume, "configMap");
    for (const SecretMember& member : kPodSecrets) {
      add_named(VertexKind::kSecret, object_or_empty(volume, member.source), member.reference);
    }
  }

  // The name of a claim that was made from a template is in the status.
  void read_resource_claims() {
    const Object& status = object_or_empty(pod_, "status");
    each(spec_, "resourceClaims", [&](const Object& claim, std::size_t) {
      if (has(claim, "resourceClaimName")) return add(VertexKind::kResourceClaim, get_string(claim, "resourceClaimName"));
      if (!has(claim, "resourceClaimTemplateName")) return;
      const Object* made = find_item(status, "resourceClaimStatuses", "name", get_string(claim, "name"));
      if (made != nullptr) add(VertexKind::kResourceClaim, get_string(*made, "resourceClaimName"));
    });
    add(VertexKind::kResourceClaim, get_string(object_or_empty(status, "extendedResourceClaimStatus"), "resourceClaimName"));
  }

  const Object& pod_;
  const Object& spec_;
  const std::string ns_;
  std::vector<VertexName> out_;
};

// Secrets of persistent volumes. `claim_namespace`: a reference without a namespace refers to the claim's namespace.
struct VolumeSecret {
  const char* source;
  const char* reference;
  bool claim_namespace;
};
constexpr VolumeSecret kVolumeSecrets[] = {{"cephfs", "secretRef", true},        {"cinder", "secretRef", false},
                                           {"flexVolume", "secretRef", true},    {"rbd", "secretRef", true},
                                           {"scaleIO", "secretRef", true},       {"iscsi", "secretRef", true},
                                           {"storageos", "secretRef", false},    {"csi", "nodePublishSecretRef", false},
                                           {"csi", "nodeStageSecretRef", false}, {"csi", "nodeExpandSecretRef", false}};

}  // namespace

std::vector<VertexName> pod_references(const Object& pod) { return PodReader(pod).read(); }

std::optional<VolumeReferences> volume_references(const Object& volume) {
  const Object& spec = object_or_empty(volume, "spec");
  const Object* claim = get_object(spec, "claimRef");
  if (claim == nullptr) return std::nullopt;
  const std::string claim_ns(get_string(*claim, "namespace"));
  VolumeReferences out{{VertexKind::kVolumeClaim, claim_ns, std::string(get_string(*claim, "name"))}, {}};
  const auto add = [&](std::string_view ns, bool fall_back, std::string_view name) {
    if (name.empty()) return;
    VertexName secret{VertexKind::kSecret, ns.empty() && fall_back ? claim_ns : std::string(ns), std::string(name)};
    if (std::find(out.secrets.begin(), out.secrets.end(), secret) == out.secrets.end()) out.secrets.push_back(std::move(secret));
  };
  const Object& azure = object_or_empty(spec, "azureFile");
  add(get_string(azure, "secretNamespace"), true, get_string(azure, "secretName"));
  for (const VolumeSecret& row : kVolumeSecrets) {
    const Object& reference = object_or_empty(object_or_empty(spec, row.source), row.reference);
    add(get_string(reference, "namespace"), row.claim_namespace, get_string(reference, "name"));
  }
  return out;
}

}  // namespace backplane::authorization
