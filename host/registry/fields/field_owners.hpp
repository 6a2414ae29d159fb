// The owners of an object's fields, and their changes by writes (upstream: structured-merge-diff's merge.Updater).
//
// The caller identifies an owner by a text (Manager::identifier()). An owner has a set of fields of the object in one version.  If owners
// have different versions, the object is converted to each version, and is compared in it. Owners of a version that is no longer served are
// removed.
//
// Thread-safety: a FieldUpdater has no state between calls; any thread, if its FieldVersions allows that.
// Lifetime:      borrows its FieldVersions and its filters; objects passed by reference live until the task has ended.
// Errors:        those of the conversion; kInternalError with upstream's message for objects that do not match their schema.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backplane/core/task.hpp"
#include "engine/field_set.hpp"
#include "engine/object_fields.hpp"

namespace backplane::registry {

struct OwnedFields {
  FieldSet fields;
  std::string api_version;  // the version that the fields are of: "apps/v1"
  bool applied = false;     // true: the fields were set by an apply; false: by an update

  bool operator==(const OwnedFields&) const = default;
};
// Identifier of the owner → its fields.
using FieldOwners = std::map<std::string, OwnedFields>;

// The served versions of a resource.
class FieldVersions {
 public:
  virtual ~FieldVersions() = default;
  // The schema of the objects of a version; null: they have no schema; nullopt: the version is not served.
  virtual std::optional<const Schema*> type_of(const std::string& api_version) const = 0;
  // A copy of the object converted to another served version.
  virtual Task<Result<Object>> convert(const Object& object, std::string api_version) const = 0;
};

// A field that an apply would change although another owner has it.
struct FieldConflict {
  std::string owner;  // the identifier of the other owner
  FieldSet fields;
};

struct AppliedFields {
  // Sorted by identifier of the owner. If it is not empty, the other members are empty.
  std::vector<FieldConflict> conflicts;
  // The new object in the applied version, without defaults, in the storage of the live object; nullopt: it equals the live object.
  std::optional<Object> object;
  FieldOwners owners;
};

class FieldUpdater {
 public:
  // `filters`: version → filter of the fields that are tracked: fields that the strategy resets are excluded; null: all fields are tracked.
  explicit FieldUpdater(const FieldVersions& versions, const std::map<std::string, FieldFilter>* filters = nullptr) noexcept
      : versions_(versions), filters_(filters) {}

  // The owners after an update by `owner` has changed `live` to `next`, both in `version`; for a create, `live` is an empty object of the
  // type.  Only `owner` owns changed fields afterwards; removed fields have no owner.
  Task<Result<FieldOwners>> update(const Object& live, const Object& next, std::string version, FieldOwners owners,
                                   std::string owner) const;

  // Applies `config` to `live` for `owner`; both objects are in `version`. Removes fields that `owner` has applied before and that `config`
  // no longer contains, unless another owner has them. Precondition: `config` has passed check_fields().
  Task<Result<AppliedFields>> apply(const Object& live, const Object& config, std::string version, FieldOwners owners, std::string owner,
                                    bool force) const;

 private:
  class Versioned;
  // The owners after a write, the conflicts with other owners, and the changes in the version of the write.
  struct MergedOwners {
    std::vector<FieldConflict> conflicts;
    FieldOwners owners;
    FieldChanges changes;
  };
  Task<Result<MergedOwners>> merge_owners(const Object& live, const Object& next, std::string version, FieldOwners owners,
                                          std::string owner, bool force) const;
  const FieldFilter& filter_of(const std::string& version) const;

  const FieldVersions& versions_;
  const std::map<std::string, FieldFilter>* filters_;
};

}  // namespace backplane::registry
