// The storages that the host makes from a Strategy: Host::make_storage and Host::make_subresource return them.
//
// Thread-safety: every method may be called from any executor at any time.
// Lifetime:      shared with the host; storages outlive every request that uses them.
// Errors:        a Status with group, resource and name set, which is sent to the client unchanged.
#pragma once

#include "backplane/core/visibility.hpp"
#include "backplane/rest/roles.hpp"

namespace backplane BACKPLANE_API {

class BegunWrite;

// The part of a StandardStorage that only the host uses. The host defines this type.
class HostStore;

// A storage with all roles of an ordinary resource. Host::make_storage returns one.
class StandardStorage : public RestStorage,
                        public Scoper,
                        public SingularNameProvider,
                        public ShortNamesProvider,
                        public CategoriesProvider,
                        public StorageVersionProvider,
                        public TableProvider,
                        public FieldReader,
                        public Getter,
                        public Lister,
                        public Watcher,
                        public Creater,
                        public Updater,
                        public GracefulDeleter,
                        public CollectionDeleter {
 public:
  ~StandardStorage() override;
  // The store of Host::make_storage in which the objects are. A storage that wraps another one forwards the call. Null if the objects are
  // not in such a store; they then cannot join a transaction and cannot have subresources of Host::make_subresource.
  virtual HostStore* host_store() noexcept { return nullptr; }
  // Commits a transaction that consists only of the changes that write.join() adds. For background work that is not the write of an object
  // by a request. After a conflict it calls join() again. It never calls finish(). Returns false if join() has returned false.
  // Errors: those of join() and of the commit; kInternalError if host_store() is null.
  virtual Task<Result<bool>> transact(RequestContext& context, BegunWrite& write);
  const HostStore* host_store() const noexcept { return const_cast<StandardStorage*>(this)->host_store(); }
};

// A subresource that reads and updates the objects of another storage: /status, /scale, /approval. Host::make_subresource returns one.
class SubresourceStorage : public RestStorage, public Scoper, public Getter, public Updater {
 public:
  ~SubresourceStorage() override;
  // The columns of the subresource. Null: a request that accepts only a Table gets 406.
  virtual const TableConvertor* subresource_table() const noexcept = 0;
};

}  // namespace BACKPLANE_API
