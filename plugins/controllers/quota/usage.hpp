// Calculates the usage of a quota by the objects of a namespace.
//
// Thread-safety: the plugin's executor.
// Lifetime:      shared by the controller's workers; the host outlives it.
// Errors:        a resource whose objects cannot be listed is not counted; Calculated::error is the last reason.
// Source:        k8s.io/apiserver/pkg/quota/v1 (CalculateUsage).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frame/context.hpp"
#include "gc/types.hpp"
#include "quota/evaluators.hpp"

namespace backplane::controllers {

namespace quota = admission::quota;

// A resource that a quota counts, and the names under which the quota counts it.
struct CountedResource {
  GroupResource resource;
  std::shared_ptr<const quota::Evaluator> evaluator;
  admission::ResourceNames names;
};

class QuotaUsage {
 public:
  explicit QuotaUsage(const Context& context);

  // Returns the resources that `hard` counts.
  std::vector<CountedResource> counted(const admission::ResourceList& hard) const;
  // The usage of each name of `hard` that could be calculated.
  struct Calculated {
    admission::ResourceList used;
    Status error;
  };
  Task<Calculated> calculate(std::string ns, quota::ScopeSelectors scopes, admission::ResourceList hard, const ServedTypes* types) const;

 private:
  Task<Result<admission::ResourceList>> sum(std::string ns, quota::ScopeSelectors scopes, CountedResource counted,
                                            GroupVersionResource from) const;

  const Context context_;
  const quota::Gates gates_;
  const std::unique_ptr<quota::DeviceClasses> classes_;
  const quota::Evaluators evaluators_;
};

}  // namespace backplane::controllers
