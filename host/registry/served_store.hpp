// One served version of a resource, as the parts of the registry that are made over it see it (status, scale): the stored version itself,
// or a view of it.
//
// Thread-safety: every method from any executor.
// Lifetime:      shared; keeps the store below alive.
// Errors:        complete Statuses.
#pragma once

#include <string>

#include "backplane/admits_writes.hpp"
#include "backplane/deleted_object.hpp"
#include "registry/before.hpp"
#include "registry/fields/field_manager.hpp"

namespace backplane::registry {

class ObjectStore;

class ServedStore : public StandardStorage, public DeprecationProvider, public DeletedObjectProvider, public AdmitsWrites {
 public:
  // The store of the stored version; itself when this is it.
  virtual ObjectStore& stored() noexcept = 0;
  // What this version is called.
  virtual const ResourceFace& face() const noexcept = 0;
  // What speaks of this version's own form, in which objects come and go; null: nothing does, or the stored version's strategy.
  virtual const Strategy* own() const noexcept = 0;
  // Who records whose fields are whose in writes of this version's resource itself.
  virtual const FieldManager& fields() const noexcept = 0;
  // All versions that are served.
  virtual std::shared_ptr<const FieldVersions> versions() const noexcept = 0;
  // An update through `mode`, whose strategy speaks of the stored form.  `own` speaks of this version's form, before; null: nothing to say.
  // `info` sees and gives this version's form.
  virtual Task<Result<UpdateResult>> update_through(WriteMode mode, const Strategy* own, RequestContext& context, std::string name,
                                                    UpdatedObjectInfo& info, WriteOptions options, bool force_allow_create) = 0;
};

}  // namespace backplane::registry
