#include "storage/storage_classes.hpp"

#include <chrono>

#include "backplane/core/json_access.hpp"
#include "backplane/points/hooks.hpp"

namespace backplane::admission::storage {
namespace {

constexpr std::string_view kDefaultMark = "storageclass.kubernetes.io/is-default-class";
constexpr std::string_view kBetaDefaultMark = "storageclass.beta.kubernetes.io/is-default-class";
constexpr std::string_view kBetaClass = "volume.beta.kubernetes.io/storage-class";

GroupVersionResource storage_classes() { return {"storage.k8s.io", "v1", "storageclasses"}; }

const Object& annotations_of(const Object& object) { return object_or_empty(object_or_empty(object, "metadata"), "annotations"); }

bool is_default_class(const Object& storage_class) {
  const Object& annotations = annotations_of(storage_class);
  return get_string(annotations, kDefaultMark) == "true" || get_string(annotations, kBetaDefaultMark) == "true";
}

}  // namespace

StorageClasses::StorageClasses(Services& services) : host_(services.host()), classes_(services.lister(storage_classes())) {}

bool StorageClasses::ready() const {
  return classes_.has_synced() || !host_.groups_complete().fired() || host_.find_storage(storage_classes()) == nullptr;
}

Task<void> StorageClasses::wait_ready() const {
  constexpr std::chrono::milliseconds kPause{100};
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts && !ready(); ++attempt) co_await sleep_for(kPause);
}

std::optional<std::string> StorageClasses::default_class() const {
  std::optional<std::string> found;
  std::string created;
  for (const ObjectRef& entry : classes_.all()) {
    const Object storage_class = decode(*entry, {});
    if (!is_default_class(storage_class)) continue;
    // Creation times are UTC in whole seconds, so their texts are in the order of the times.
    const std::string_view time = meta_text(storage_class, "creationTimestamp");
    if (found && (time < created || (time == created && entry->name() > *found))) continue;
    found = entry->name();
    created = time;
  }
  return found;
}

bool StorageClasses::allows_expansion(std::string_view name) const {
  const ObjectRef entry = classes_.find("", name);
  return entry != nullptr && get_bool(decode(*entry, {}), "allowVolumeExpansion") == true;
}

bool has_class(const Object& claim) {
  return annotations_of(claim).contains(kBetaClass) || has(object_or_empty(claim, "spec"), "storageClassName");
}

std::string_view class_of(const Object& claim) {
  const Object& annotations = annotations_of(claim);
  return annotations.contains(kBetaClass) ? get_string(annotations, kBetaClass) : get_string_path(claim, "spec.storageClassName");
}

}  // namespace backplane::admission::storage
