// The evaluators of all resources: those of core's kinds and claims, and a count of objects for any other resource.
//
// Thread-safety: const; any thread.
// Lifetime:      outlives every evaluation.
// Errors:        none.
// Source:        k8s.io/kubernetes/pkg/quota/v1/install, k8s.io/apiserver/pkg/quota/v1/generic.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "quota/evaluator.hpp"

namespace backplane::admission::quota {

// The feature gates that evaluators depend on.
struct Gates {
  bool pod_level_resources = true;
  bool extended_resources_by_claim = true;
};

// The mapping between device classes and extended resources (DeviceClass.spec.extendedResourceName).
class DeviceClasses {
 public:
  virtual ~DeviceClasses() = default;
  // Empty: the class is unknown or has none.
  virtual std::string extended_resource_of(std::string_view device_class) const = 0;
  virtual bool provides(std::string_view extended_resource) const = 0;
};

std::unique_ptr<Evaluator> make_pod_evaluator(const Gates& gates);
std::unique_ptr<Evaluator> make_service_evaluator();
std::unique_ptr<Evaluator> make_volume_claim_evaluator();
// `classes` outlives the evaluator.
std::unique_ptr<Evaluator> make_resource_claim_evaluator(const Gates& gates, const DeviceClasses& classes);
// Counts objects under `names`.
std::unique_ptr<Evaluator> make_count_evaluator(ResourceNames names);

class Evaluators {
 public:
  Evaluators(const Gates& gates, const DeviceClasses& classes);
  // The evaluator of the resource; an evaluator that counts objects if the resource has no special one.
  std::shared_ptr<const Evaluator> of(const GroupResource& resource) const;
  // False for resources that quotas do not count: reviews, bindings, events.
  static bool counts(const GroupResource& resource);

 private:
  std::map<std::string, std::shared_ptr<const Evaluator>, std::less<>> evaluators_;  // by "resource" or "resource.group"
};

}  // namespace backplane::admission::quota
