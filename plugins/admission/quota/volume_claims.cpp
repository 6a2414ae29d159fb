// PersistentVolumeClaims: their number and storage, in total and by storage class; scopes by volume attributes class.
#include <algorithm>
#include <array>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "quota/evaluators.hpp"

namespace backplane::admission::quota {
namespace {

constexpr std::string_view kClaims = "persistentvolumeclaims";
constexpr std::string_view kClaimCount = "count/persistentvolumeclaims";
constexpr std::string_view kStorage = "requests.storage";
constexpr std::string_view kClassSuffix = ".storageclass.storage.k8s.io/";
constexpr std::string_view kAttributesScope = "VolumeAttributesClass";

bool is_claim_resource(std::string_view name) {
  if (name == kClaims || name == kClaimCount || name == kStorage) return true;
  return name.ends_with(std::string(kClassSuffix) + std::string(kClaims)) ||
         name.ends_with(std::string(kClassSuffix) + std::string(kStorage));
}

std::string_view storage_class_of(const Object& claim) {
  const Value* beta = find(object_or_empty(object_or_empty(claim, "metadata"), "annotations"), "volume.beta.kubernetes.io/storage-class");
  return beta != nullptr ? text_of(*beta) : get_string(object_or_empty(claim, "spec"), "storageClassName");
}

// All attributes classes of the claim: the current, the requested and the target class.
std::set<std::string_view> attributes_classes_of(const Object& claim) {
  const Object& status = object_or_empty(claim, "status");
  std::set<std::string_view> out{get_string(object_or_empty(claim, "spec"), "volumeAttributesClassName"),
                                 get_string(status, "currentVolumeAttributesClassName"),
                                 get_string(object_or_empty(status, "modifyVolumeStatus"), "targetVolumeAttributesClassName")};
  out.erase(std::string_view());
  return out;
}

class VolumeClaimEvaluator final : public Evaluator {
 public:
  bool handles(const AdmissionAttributes& attributes) const override {
    const bool is_update = attributes.operation == AdmissionOperation::kUpdate;
    if (attributes.subresource.empty()) return is_update || attributes.operation == AdmissionOperation::kCreate;
    // Upstream compares addresses of the allocated sizes here, so every update of a status is evaluated.
    return attributes.subresource == "status" && attributes.object != nullptr && attributes.old_object != nullptr;
  }
  ResourceNames matching_resources(const ResourceNames& names) const override {
    ResourceNames out;
    std::copy_if(names.begin(), names.end(), std::back_inserter(out), is_claim_resource);
    return out;
  }
  bool has_scopes() const override { return true; }
  Result<bool> matches_scope(const ScopeSelector& selector, const Object& claim) const override {
    if (selector.scope != kAttributesScope) return false;
    const auto classes = attributes_classes_of(claim);
    if (selector.op == "Exists") return !classes.empty();
    if (classes.empty()) return matches_value(selector, std::nullopt);
    for (const std::string_view name : classes) {
      auto matched = matches_value(selector, name);
      if (!matched.ok() || *matched) return matched;
    }
    return false;
  }
  ResourceList usage(const Subject& subject) const override {
    ResourceList out{{std::string(kClaims), "1"}, {std::string(kClaimCount), "1"}};
    const std::string by_class = std::string(storage_class_of(*subject.object)) + std::string(kClassSuffix);
    const bool has_class = !by_class.starts_with('.');
    if (has_class) out.emplace(by_class + std::string(kClaims), "1");
    const std::string storage = storage_of(*subject.object);
    if (storage.empty()) return out;
    out.emplace(kStorage, storage);
    if (has_class) out.emplace(by_class + std::string(kStorage), storage);
    return out;
  }

 private:
  // The requested size in whole bytes, because quotas of storage have no fractions; empty: none is requested.
  std::string storage_of(const Object& claim) const {
    const ResourceList requests = read_resources(object_or_empty(object_or_empty(claim, "spec"), "resources"), "requests");
    const auto requested = requests.find("storage");
    if (requested == requests.end()) return {};
    std::string out = rounded_up(requested->second);
    const ResourceList allocated = read_resources(object_or_empty(claim, "status"), "allocatedResources");
    const auto given = allocated.find("storage");
    return given != allocated.end() && compare_quantities(given->second, out) > 0 ? rounded_up(given->second) : out;
  }
};

}  // namespace

std::unique_ptr<Evaluator> make_volume_claim_evaluator() { return std::make_unique<VolumeClaimEvaluator>(); }

}  // namespace backplane::admission::quota
