// The storages that the host makes from a Strategy: Host::make_storage and Host::make_subresource return them.
//
// Thread-safety: every method may be called from any executor at any time.
// Lifetime:      shared with the host; outlive every request on them.
// Errors:        a Status with group, resource and name set, which is sent to the client unchanged.
#pragma once

#include "backplane/core/visibility.hpp"
#include "backplane/rest/roles.hpp"

namespace backplane BACKPLANE_API {

class BegunWrite;

// The part of a StandardStorage that only the host uses. Defined by the host.
class HostStore;

// All roles of an ordinary resource. Host::make_storage returns one.
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
  // The store of Host::make_storage that holds the objects; a storage that wraps another one forwards the call. Null: the objects are not
  // in such a store, so they cannot join a transaction or have subresources of Host::make_subresource.
  virtual HostStore* host_store() noexcept { return nullptr; }
  // Commits a transaction that consists only of the changes that `write` joins; for background work, which writes no object of a request.
  // join() is called again after a conflict. Returns false if join() returned false. finish() is not called.
  // Errors: those of join() and of the commit; kInternalError if host_store() is null.
  virtual Task<Result<bool>> transact(RequestContext& context, BegunWrite& write);
  const HostStore* host_store() const noexcept { return const_cast<StandardStorage*>(this)->host_store(); }
};

// A subresource that reads and updates the objects of another storage: /status, /scale, /approval. Host::make_subresource returns one.
class SubresourceStorage : public RestStorage, public Scoper, public Getter, public Updater {
 public:
  ~SubresourceStorage() override;
  // The table of the subresource; null: a request that accepts only a Table gets 406.
  virtual const TableConvertor* subresource_table() const noexcept = 0;
};

}  // namespace BACKPLANE_API
