// Managers of an object's replicas, as its subresource /scale shows and changes them.
//
// Thread-safety: pure; one request.
// Lifetime:      borrows the parent's record and versions.
// Errors:        kInternalError for records that cannot be read.
#pragma once

#include <string>

#include "registry/fields/managers.hpp"

namespace backplane::registry {

class ScaleManagers {
 public:
  // `api_version`: the parent's version in the request. `replicas`: the path of the replicas in the parent.
  ScaleManagers(const Value* parent, std::string api_version, FieldPath replicas, const FieldVersions& versions)
      : parent_(parent), api_version_(std::move(api_version)), replicas_(std::move(replicas)), versions_(versions) {}

  // The managers of the replicas, as managers of .spec.replicas of a Scale.
  Result<Value> of_scale(const json::storage_ptr& storage) const;
  // The parent's managers after the Scale's managers have become `scale`.
  Result<Value> of_parent(const Value* scale, const json::storage_ptr& storage) const;

 private:
  const Value* parent_;
  std::string api_version_;
  FieldPath replicas_;
  const FieldVersions& versions_;
};

}  // namespace backplane::registry
