// Removes the fields that an applier no longer has in its configuration and that no other manager owns (upstream: merge.Updater's prune).
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

  // `merged`: the merged object in the version of the applied configuration. `owners`: includes the applier's new fields. `last`: the
  // applier's former fields.
  Task<Result<VersionedObject>> prune(VersionedObject merged, const FieldOwners& owners, const OwnedFields& last) const;

 private:
  // The merged object before and after the removal of fields.
  struct Pair {
    VersionedObject merged;
    VersionedObject pruned;
  };
  // Converts both objects to `api_version`, and adds the removed fields that `managed` contains to Pair::pruned again.
  Task<Result<Pair>> add_back_owned(Pair objects, std::string api_version, FieldSet managed) const;
  // Adds the removed fields that `last` does not contain to `pruned` again.
  Task<Result<VersionedObject>> restore_dangling(VersionedObject merged, VersionedObject pruned, const OwnedFields& last) const;

  const Schema* type_of(const std::string& api_version) const { return versions_.type_of(api_version).value_or(nullptr); }
  bool served(const std::string& api_version) const { return versions_.type_of(api_version).has_value(); }

  const FieldVersions& versions_;
};

}  // namespace backplane::registry
