// Ownership of fields: updates metadata.managedFields for each write of a request, and performs server-side apply.
//
// Each version of a resource has one FieldManager for the resource itself, and one for each subresource.  A FieldManager works on objects
// in the version of the client, before admission: no manager owns fields that admission or the strategy changes.
//
// Thread-safety: immutable; any thread.
// Lifetime:      shares the FieldVersions of the store; objects live in the request's arena.
// Errors:        update: only those of UpdatedObjectInfo; if the fields cannot be compared (list items with equal keys), the object loses
//                its managedFields. Apply: complete Statuses, such as conflicts.
#pragma once

#include <memory>
#include <string>

#include "backplane/core/options.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/strategy.hpp"
#include "backplane/rest/written_fields.hpp"
#include "registry/fields/applied_object.hpp"
#include "registry/fields/field_owners.hpp"
#include "registry/fields/managers.hpp"

namespace backplane::registry {

// The fields that a client's write may change with this strategy; null: all fields.
WrittenFields written_fields_of(const Strategy* strategy);

class FieldManager {
 public:
  FieldManager(GroupVersionKind kind, const Schema* schema, std::shared_ptr<const FieldVersions> versions, const WrittenFields& written);

  // The object that `info` returns for `existing` (null: create), with the defaults of the strategy `defaults` (null: none) and with its
  // managedFields.
  Task<Result<Object>> wanted(UpdatedObjectInfo& info, const Strategy* defaults, RequestContext& context, const WriteOptions& options,
                              const Object* existing) const;
  // Sets the managers of a new object.
  Task<void> track_new(RequestContext& context, const WriteOptions& options, Object& object) const;

  const GroupVersionKind& kind() const noexcept { return kind_; }

 private:
  using Filters = std::map<std::string, FieldFilter>;
  struct Write;

  bool tracks(const RequestContext& context, const WriteOptions& options) const;
  // `live`: null for a create.
  Task<void> track(RequestContext& context, const WriteOptions& options, const Object* live, Object& object) const;
  Task<Result<ManagedFields>> updated(const Write& write, const Object& live, const Object& object, ManagedFields managed) const;
  // As updated(), for the case that all managers have this version (update_entries()); nullopt: they do not.
  std::optional<Result<Value>> updated_here(const Write& write, const Object& live, const Object& object, const Value& managed) const;

  Task<Result<Object>> apply(AppliedObject& applied, const Strategy* defaults, RequestContext& context, const Object* existing) const;
  // The live object with a configuration merged into it.
  struct Merged {
    Object object;
    ManagedFields managed;
    bool changed;
  };
  Object unchanged(const Object* existing, Object live) const;
  Task<Result<Merged>> merge(const AppliedObject& applied, const Object& configuration, RequestContext& context,
                             const Object* existing) const;
  // Adds the manager "before-first-apply", which owns all fields of an object that has no managers when it is first applied.
  Task<Result<ManagedFields>> before_first_apply(const Write& write, const Object& live, ManagedFields managed) const;
  // Converts the merged object to canonical form (Schema::normalize()) and sets its defaults.
  Status finish(const Object& configuration, const Strategy* defaults, Object& object) const;
  Status check_configuration(const Object& configuration) const;
  Filters filters_for(const FieldOwners& owners) const;
  // An empty object of this kind.
  const Object& nothing() const;

  GroupVersionKind kind_;
  std::string api_version_;
  const Schema* schema_;
  std::shared_ptr<const FieldVersions> versions_;
  FieldFilter filter_;
  bool tracked_;
  std::function<void(Object&)> given_later_;
  bool sorted_keys_;
  struct Nothing;
  std::shared_ptr<Nothing> nothing_;
};

}  // namespace backplane::registry
