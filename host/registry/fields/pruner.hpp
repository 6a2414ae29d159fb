// Removes fields that an applier no longer names and no other manager owns (upstream: merge.Updater's prune).
//
// Thread-safety: belongs to one write.
// Lifetime:      borrows its FieldVersions.
// Errors:        those of the conversions.
#pragma once

#include "registry/fields/versioned_object.hpp"

namespace backplane::registry {

class FieldPruner {
 public:
  explicit FieldPruner(const FieldVersions& versions) noexcept : versions_(versions) {}

  // `merged`: in the version of the owner's new fields, which `owners` includes. `last`: the owner's former fields.
  Task<Result<VersionedObject>> prune(VersionedObject merged, const FieldOwners& owners, const OwnedFields& last) const;

 private:
  // Adds to `pruned` the removed fields that `managed` contains. Both objects are converted to `api_version`; `merged` still has the
  // removed fields.
  struct Pair {
    VersionedObject merged;
    VersionedObject pruned;
  };
  Task<Result<Pair>> add_back_owned(Pair objects, std::string api_version, FieldSet managed) const;
  // Adds to `pruned` the removed fields that `last` does not contain.
  Task<Result<VersionedObject>> add_back_dangling(VersionedObject merged, VersionedObject pruned, const OwnedFields& last) const;

  const Schema* type_of(const std::string& api_version) const { return versions_.type_of(api_version).value_or(nullptr); }
  bool served(const std::string& api_version) const { return versions_.type_of(api_version).has_value(); }

  const FieldVersions& versions_;
};

}  // namespace backplane::registry
