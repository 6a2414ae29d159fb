// ResourceClaims: their number, and devices by device class and by extended resource.
#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "quota/evaluators.hpp"
#include "quota/pod_usage.hpp"

namespace backplane::admission::quota {
namespace {

constexpr std::string_view kResourceClaimCount = "count/resourceclaims.resource.k8s.io";
constexpr std::string_view kPerClass = ".deviceclass.resource.k8s.io/devices";
constexpr std::int64_t kMostDevices = 32;  // the maximum number of devices of one claim

// The number of devices of a request, or of one of its alternatives. An unknown mode counts as 0.
std::int64_t devices_of(const Object& request) {
  const std::string_view mode = get_string(request, "allocationMode");
  if (mode == "ExactCount") return get_int(request, "count").value_or(0);
  return mode == "All" ? kMostDevices : 0;
}

std::string per_class(const Object& request) { return std::string(get_string(request, "deviceClassName")) + std::string(kPerClass); }

// The maximum number of devices of each class over all alternatives.
ResourceList most_devices(const Object& request) {
  ResourceList out;
  each(request, "firstAvailable", [&](const Object& alternative, std::size_t) {
    const std::int64_t devices = devices_of(alternative);
    if (devices > 0) raise_to(out, {{per_class(alternative), std::to_string(devices)}});
  });
  return out;
}

class ResourceClaimEvaluator final : public Evaluator {
 public:
  ResourceClaimEvaluator(const Gates& gates, const DeviceClasses& classes) : gates_(gates), classes_(classes) {}
  bool handles(const AdmissionAttributes& attributes) const override {
    return attributes.subresource.empty() &&
           (attributes.operation == AdmissionOperation::kCreate || attributes.operation == AdmissionOperation::kUpdate);
  }
  ResourceNames matching_resources(const ResourceNames& names) const override {
    ResourceNames out;
    std::copy_if(names.begin(), names.end(), std::back_inserter(out), [this](const std::string& name) { return matches(name); });
    return out;
  }
  ResourceList usage(const Subject& subject) const override {
    ResourceList out{{std::string(kResourceClaimCount), "1"}};
    each(object_or_empty(object_or_empty(*subject.object, "spec"), "devices"), "requests", [&](const Object& request, std::size_t) {
      if (count_of(request, "firstAvailable") > 0) {
        out = add(out, most_devices(request));
      } else if (const Object* exactly = get_object(request, "exactly")) {
        out = add(out, {{per_class(*exactly), std::to_string(devices_of(*exactly))}});
      }
    });
    if (gates_.extended_resources_by_claim) add_extended(out, subject.owner_usage);
    return out;
  }

 private:
  bool matches(const std::string& name) const {
    if (name == kResourceClaimCount || name.ends_with(kPerClass)) return true;
    if (!gates_.extended_resources_by_claim) return false;
    if (name.starts_with(kImplicitClassRequests) && !classes_.extended_resource_of(name.substr(kImplicitClassRequests.size())).empty()) {
      return true;
    }
    return is_extended_quota_resource(name) && classes_.provides(name.substr(kRequestsPrefix.size()));
  }

  // Devices of a class count as its extended resource too, unless the pod for which the claim was made has counted them already.
  void add_extended(ResourceList& usage, const ResourceList& counted) const {
    ResourceList extended;
    for (const auto& [name, amount] : usage) {
      if (!name.ends_with(kPerClass) || name.size() == kPerClass.size()) continue;
      const std::string device_class = name.substr(0, name.size() - kPerClass.size());
      extended[std::string(kImplicitClassRequests) + device_class] = amount;
      const std::string resource = classes_.extended_resource_of(device_class);
      if (!resource.empty()) extended[std::string(kRequestsPrefix) + resource] = amount;
    }
    ResourceList rest = subtract_down_to_zero(extended, mask(counted, names_of(extended)));
    remove_zeros(rest);
    for (auto& [name, amount] : rest) usage.insert_or_assign(name, std::move(amount));
  }

  const Gates gates_;
  const DeviceClasses& classes_;
};

}  // namespace

std::unique_ptr<Evaluator> make_resource_claim_evaluator(const Gates& gates, const DeviceClasses& classes) {
  return std::make_unique<ResourceClaimEvaluator>(gates, classes);
}

}  // namespace backplane::admission::quota
