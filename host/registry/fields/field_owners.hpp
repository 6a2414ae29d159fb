// The owners of an object's fields, and their changes by writes (upstream: structured-merge-diff's merge.Updater).
//
// An owner is identified by a text of the caller (manager, operation, apiVersion and subresource, encoded); each owns a set of
// fields of the object in one version.  Writers of several versions meet by converting the object: a version that is no longer served loses
// its owners.
//
// Thread-safety: a FieldUpdater has no state between calls; any thread, if its FieldVersions allows that.
// Lifetime:      borrows its FieldVersions and its filters; objects passed by reference live until the task has ended.
// Errors:        those of the conversion; kInternalError with upstream's message for objects that are not of their type.
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
  bool applied = false;     // by apply, not by an update

  bool operator==(const OwnedFields&) const = default;
};
// By identifier.
using FieldOwners = std::map<std::string, OwnedFields>;

// The versions of the resource whose objects are written.
class FieldVersions {
 public:
  virtual ~FieldVersions() = default;
  // The type of the objects of a version, which may be null (no schema); nothing: the version is not served.
  virtual std::optional<const Schema*> type_of(const std::string& api_version) const = 0;
  // A copy of the object converted to another served version.
  virtual Task<Result<Object>> convert(const Object& object, std::string api_version) const = 0;
};

// A field that an apply would change although another owner has it.
struct FieldConflict {
  std::string owner;  // its identifier
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
  // `filters`: by version, the fields of a request that are tracked (without a subresource's reset fields); null: all.
  explicit FieldUpdater(const FieldVersions& versions, const std::map<std::string, FieldFilter>* filters = nullptr) noexcept
      : versions_(versions), filters_(filters) {}

  // The owners after `live` (for a create: the type's empty object) has become `next`, both in `version`.  `owner` is the only owner of
  // changed fields; removed fields have none.
  Task<Result<FieldOwners>> update(const Object& live, const Object& next, std::string version, FieldOwners owners,
                                   std::string owner) const;

  // Applies `config` to `live` for `owner`; both are in `version`. Removes fields that the owner has applied before and no longer names,
  // unless another owner has them. `config` has passed check_fields().
  Task<Result<AppliedFields>> apply(const Object& live, const Object& config, std::string version, FieldOwners owners, std::string owner,
                                    bool force) const;

 private:
  class Versioned;
  // The owners after a write, the conflicts with other owners, and the changes in the version of the write.
  struct Settled {
    std::vector<FieldConflict> conflicts;
    FieldOwners owners;
    FieldChanges changes;
  };
  Task<Result<Settled>> settle(const Object& live, const Object& next, std::string version, FieldOwners owners, std::string owner,
                               bool force) const;
  const FieldFilter& filter_of(const std::string& version) const;

  const FieldVersions& versions_;
  const std::map<std::string, FieldFilter>* filters_;
};

}  // namespace backplane::registry
