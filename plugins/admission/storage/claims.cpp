#include "storage/claims.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "storage/storage_classes.hpp"

namespace backplane::admission::storage {
namespace {

bool is_claim(const AdmissionAttributes& attributes) {
  return attributes.resource.group.empty() && attributes.resource.resource == "persistentvolumeclaims" && attributes.subresource.empty() &&
         attributes.object != nullptr;
}

class DefaultStorageClass final : public AdmissionPlugin {
 public:
  explicit DefaultStorageClass(Services& services) : classes_(services) {}
  std::string_view name() const noexcept override { return "DefaultStorageClass"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kCreate; }
  bool validates() const noexcept override { return false; }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (!is_claim(attributes) || has_class(*attributes.object)) return Status();
    if (!classes_.ready()) return std::nullopt;
    return set_default(*attributes.object);
  }
  Task<Status> admit(AdmissionAttributes& attributes) const override {
    auto waiting = classes_.wait_ready();
    co_await std::move(waiting);
    co_return set_default(*attributes.object);
  }

 private:
  Status set_default(Object& claim) const {
    if (const auto name = classes_.default_class()) ensure_object(claim, "spec")["storageClassName"] = *name;
    return {};
  }

  const StorageClasses classes_;
};

std::string_view size_of(const Object& claim) {
  const std::string_view size = get_string_path(claim, "spec.resources.requests.storage");
  return size.empty() ? "0" : size;
}

class PersistentVolumeClaimResize final : public AdmissionPlugin {
 public:
  explicit PersistentVolumeClaimResize(Services& services) : classes_(services) {}
  std::string_view name() const noexcept override { return "PersistentVolumeClaimResize"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kUpdate; }
  bool mutates() const noexcept override { return false; }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (!is_claim(attributes) || attributes.old_object == nullptr) return Status();
    if (compare_quantities(size_of(*attributes.object), size_of(*attributes.old_object)) <= 0) return Status();
    if (!classes_.ready()) return std::nullopt;
    return check(attributes);
  }
  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    auto waiting = classes_.wait_ready();
    co_await std::move(waiting);
    co_return check(attributes);
  }

 private:
  // Precondition: the requested size has grown.
  Status check(const AdmissionAttributes& attributes) const {
    const Object &claim = *attributes.object, &old = *attributes.old_object;
    if (get_string_path(old, "status.phase") != "Bound") {
      return admission_forbidden(attributes, "Only bound persistent volume claims can be expanded");
    }
    if (allows(claim, old)) return {};
    return admission_forbidden(
        attributes, "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize");
  }

  bool allows(const Object& claim, const Object& old) const {
    const std::string_view name = class_of(claim);
    return !name.empty() && name == class_of(old) && classes_.allows_expansion(name);
  }

  const StorageClasses classes_;
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_default_storage_class(Services& services, const AdmissionPluginConfig&) {
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<DefaultStorageClass>(services));
}

Result<std::shared_ptr<AdmissionPlugin>> make_claim_resize(Services& services, const AdmissionPluginConfig&) {
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<PersistentVolumeClaimResize>(services));
}

}  // namespace backplane::admission::storage
