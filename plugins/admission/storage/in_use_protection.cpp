#include "storage/in_use_protection.hpp"

#include <algorithm>

#include "backplane/core/meta.hpp"

namespace backplane::admission::storage {
namespace {

struct ProtectedKind {
  std::string_view group, resource, finalizer;
};
constexpr ProtectedKind kProtectedKinds[] = {
    {"", "persistentvolumes", "kubernetes.io/pv-protection"},
    {"", "persistentvolumeclaims", "kubernetes.io/pvc-protection"},
    {"storage.k8s.io", "volumeattributesclasses", "kubernetes.io/vac-protection"},
};

void add_finalizer(Object& object, std::string_view finalizer) {
  ObjectMeta meta(object);
  std::vector<std::string> finalizers = meta.finalizers();
  if (std::find(finalizers.begin(), finalizers.end(), finalizer) != finalizers.end()) return;
  finalizers.emplace_back(finalizer);
  meta.set_finalizers(finalizers);
}

class StorageObjectInUseProtection final : public AdmissionPlugin {
 public:
  std::string_view name() const noexcept override { return "StorageObjectInUseProtection"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kCreate; }
  bool validates() const noexcept override { return false; }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (!attributes.subresource.empty() || attributes.object == nullptr) return Status();
    for (const ProtectedKind& kind : kProtectedKinds) {
      const bool is_kind = attributes.resource.resource == kind.resource && attributes.resource.group == kind.group;
      if (is_kind) add_finalizer(*attributes.object, kind.finalizer);
    }
    return Status();
  }
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_in_use_protection(Services&, const AdmissionPluginConfig&) {
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<StorageObjectInUseProtection>());
}

}  // namespace backplane::admission::storage
