// Hooks that the host calls around every write of a resource (registry.Store's BeginCreate, BeginUpdate, AfterCreate, AfterUpdate and
// AfterDelete). In addition, changes that a hook makes can be committed in the same transaction as the object.
//
// One attempt of a write:
//   mutating admission → begin → the strategy's preparation and rules → validating admission → join → one transaction → finish → after
//   finish(false) ends an attempt that lost a conflict, was refused, or is a dry run. After a conflict, the next attempt begins.
//
// Thread-safety: hooks are const and called concurrently from any executor; a BegunWrite belongs to one attempt of one write.
// Lifetime:      hooks are shared with the storage whose ResourceConfig contains them.
// Errors:        an error of begin or join is sent to the client unchanged. The after_… functions must not throw, because the write is
//                already committed.
#pragma once

#include <memory>
#include <string>

#include "backplane/core/json.hpp"
#include "backplane/core/object.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class StandardStorage;

// The uncommitted transaction of one write. Changes that join it are stored in the same revision as the object, or not at all. `store` is a
// storage made by Host::make_storage. Objects are in the stored version, without resourceVersion.
// Errors: kInternalError if `store` is another storage, or if the schema cannot represent the object; kBadRequest for an invalid name.
class StoreTransaction {
 public:
  virtual ~StoreTransaction();
  // True if the transaction is repeated because another object that had joined it has changed. The object of the write itself was
  // unchanged.
  virtual bool again() const noexcept = 0;
  // Creates the object. The transaction commits only if the object does not exist.
  virtual Status create(const StandardStorage& store, std::string ns, std::string name, Object object) = 0;
  // Replaces the object. The transaction commits only if the stored object is still at the revision of `before`.
  virtual Status replace(const StandardStorage& store, const ObjectRef& before, Object object) = 0;
  // Removes the object. The transaction commits only if the stored object is still at the revision of `before`.
  virtual Status remove(const StandardStorage& store, const ObjectRef& before) = 0;
};

// The state of a hook for one attempt of a write. It is destroyed without a call of finish() only if an exception ended the attempt; the
// attempt was then not committed.
class BegunWrite {
 public:
  virtual ~BegunWrite();
  // Adds the changes to commit together with the object. Called immediately before the transaction, and again if an object that had joined
  // has changed in the meantime. If it returns false, the write restarts from the beginning. Not called for dry runs.
  virtual Task<Result<bool>> join(RequestContext& context, StoreTransaction& transaction);
  // Ends the attempt; called once. `kept` is true if the write has been committed.
  virtual Task<void> finish(bool kept);
};

// Set it as ResourceConfig::hooks. The default of every function does nothing.
//
//   class CountServices final : public StoreHooks {
//     Task<Result<Begun>> begin_create(RequestContext& context, Object& service, bool dry_run) const override;
//     void after_delete(RequestContext& context, const ObjectRef& last) const override;
//   };
class StoreHooks {
 public:
  using Begun = std::unique_ptr<BegunWrite>;  // null: the hook adds no changes and needs no finish()
  virtual ~StoreHooks();

  // May change `object`, which already has its name and uid. Called before the strategy prepares the object.
  virtual Task<Result<Begun>> begin_create(RequestContext& context, Object& object, bool dry_run) const;
  // Called for updates of the resource, not of its subresources. `old` is the stored object.
  virtual Task<Result<Begun>> begin_update(RequestContext& context, Object& object, const Object& old, bool dry_run) const;
  // Called before the object is removed: by a delete, or by an update that has removed its last finalizer. Not called for deletes that only
  // set deletionTimestamp, and not for dry runs.
  virtual Task<Result<Begun>> begin_delete(RequestContext& context, const Object& old) const;

  // Called after the commit; not for dry runs.
  virtual void after_create(RequestContext& context, const ObjectRef& stored) const;
  virtual void after_update(RequestContext& context, const ObjectRef& stored) const;
  virtual void after_delete(RequestContext& context, const ObjectRef& last) const;
};

}  // namespace BACKPLANE_API
