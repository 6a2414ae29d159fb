// Computes the usage of objects of one resource for quotas.
//
// Thread-safety: const; any thread.
// Lifetime:      evaluators live as long as their registry.
// Errors:        those of scope selectors.
// Source:        k8s.io/apiserver/pkg/quota/v1 (Evaluator), k8s.io/kubernetes/pkg/quota/v1/evaluator/core.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backplane/points/admission.hpp"
#include "common/resource_list.hpp"
#include "quota/scopes.hpp"

namespace backplane::admission::quota {

// An object in the version that evaluators read: v1.
struct Subject {
  const Object* object = nullptr;
  // For a resource claim that was made for the extended resources of a pod: the usage of the pod.
  ResourceList owner_usage = {};
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // Whether the write can change a usage.
  virtual bool handles(const AdmissionAttributes& attributes) const = 0;
  // The names of `names` that this evaluator counts.
  virtual ResourceNames matching_resources(const ResourceNames& names) const = 0;
  // Whether scopes can match objects of this resource at all.
  virtual bool has_scopes() const { return false; }
  virtual Result<bool> matches_scope(const ScopeSelector&, const Object&) const { return false; }
  // The missing parts of the object if quotas count `required`: "must specify …".
  virtual std::optional<std::string> missing(const ResourceNames&, const Object&) const { return std::nullopt; }
  virtual ResourceList usage(const Subject& subject) const = 0;
};

// "count/pods", "count/deployments.apps".
std::string object_count_name(const GroupResource& resource);

}  // namespace backplane::admission::quota
