// The interface of a served version of a resource for its subresources (status, scale). It is implemented by the store of the stored
// version, and by the views that convert from it.
//
// Thread-safety: every method from any executor.
// Lifetime:      shared; keeps the store below alive.
// Errors:        complete Statuses.
#pragma once

#include <memory>
#include <string>

#include "backplane/rest/object_defaults.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "registry/fields/field_manager.hpp"
#include "registry/write_preparation.hpp"

namespace backplane {

namespace registry {
class ObjectStore;
class ServedStore;
}  // namespace registry

// The part of a storage that only the host uses: see StandardStorage::host_store.
class HostStore {
 public:
  virtual ~HostStore() = default;
  virtual registry::ServedStore& served() noexcept = 0;
};

namespace registry {

class ServedStore : public StandardStorage, public HostStore, public ObjectDefaulter {
 public:
  HostStore* host_store() noexcept final { return this; }
  ServedStore& served() noexcept final { return *this; }
  bool admits_writes() const noexcept override { return true; }
  // The store of the stored version; this object, if this is the stored version.
  virtual ObjectStore& stored() noexcept = 0;
  // The names of this version.
  virtual const ServedNames& served_names() const noexcept = 0;
  // The strategy with additional rules for objects in this version; null: none. The stored version returns null.
  virtual const Strategy* view_strategy() const noexcept = 0;
  // Tracks managedFields for writes of this version's resource (not of its subresources).
  virtual const FieldManager& fields() const noexcept = 0;
  // All versions that are served.
  virtual std::shared_ptr<const FieldVersions> versions() const noexcept = 0;
  // An update for a subresource. `mode.strategy` gets objects in the stored version. Before it, `view_strategy` (null: none) gets the
  // object in this version. `info` gets and returns objects in this version.
  virtual Task<Result<UpdateResult>> update_through(WriteMode mode, const Strategy* view_strategy, RequestContext& context,
                                                    std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                                    bool force_allow_create) = 0;
};

// The ServedStore of a storage that this host has made; it shares the ownership of `storage`. Null: the storage is of another class.
inline std::shared_ptr<ServedStore> served_store(const std::shared_ptr<StandardStorage>& storage) {
  HostStore* const store = storage != nullptr ? storage->host_store() : nullptr;
  return store != nullptr ? std::shared_ptr<ServedStore>(storage, &store->served()) : nullptr;
}

}  // namespace registry
}  // namespace backplane
