// Converts between the managedFields of an object and the managedFields of its Scale: the subresource /scale contains only the managers of
// the replicas.
//
// Thread-safety: pure; one request.
// Lifetime:      borrows the parent's managedFields and versions.
// Errors:        those of decode_managed().
#pragma once

#include <string>

#include "registry/fields/managers.hpp"

namespace backplane::registry {

class ScaleManagers {
 public:
  // `api_version`: the parent's version in the request. `replicas`: the path of the replicas in the parent.
  ScaleManagers(const Value* parent, std::string api_version, FieldPath replicas, const FieldVersions& versions)
      : parent_(parent), api_version_(std::move(api_version)), replicas_(std::move(replicas)), versions_(versions) {}

  // The managedFields of the Scale: each manager of the parent's replicas owns .spec.replicas.
  Result<Value> of_scale(const json::storage_ptr& storage) const;
  // The parent's managedFields after a write through /scale. `scale`: the Scale's managedFields after the write.
  Result<Value> of_parent(const Value* scale, const json::storage_ptr& storage) const;

 private:
  const Value* parent_;
  std::string api_version_;
  FieldPath replicas_;
  const FieldVersions& versions_;
};

}  // namespace backplane::registry
