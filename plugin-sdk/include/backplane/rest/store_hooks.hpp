// Begin, commit and rollback around every write of the generic store: what registry.Store's BeginCreate, BeginUpdate, AfterCreate,
// AfterUpdate and AfterDelete are upstream, and one thing more: what a hook writes is committed with the object, in one transaction.
//
// One try of a write:
//   mutating admission → begin → the strategy's preparation and rules → validating admission → join → one transaction → finish → after
// A try that lost a race is finished as not kept, and the next one begins anew; so is one that was refused, and every dry run.
//
// Thread-safety: hooks are const and called from any executor at once; a BegunWrite belongs to one try of one write.
// Lifetime:      hooks are shared with the storage made from them.
// Errors:        a Status of begin or join is the answer to the client, complete.  after_… must not throw: the write has happened.
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

// The transaction of one write, before it is committed.  Whatever joins it is stored in the same revision as the object, or not at all.
// Each call names a storage that Host::make_storage has made; objects are in the form that is to be stored, but for resourceVersion.
// Errors: kInternalError for a storage of somebody else's making or an object its schema cannot hold; kBadRequest for an impossible name.
class StoreTransaction {
 public:
  virtual ~StoreTransaction();
  // The transaction is tried again: the last one found that what had joined it was no longer as it had been read.  The object itself
  // still stood.
  virtual bool again() const noexcept = 0;
  // Commits only if there is no such object.
  virtual Status create(const StandardStorage& store, std::string ns, std::string name, Object object) = 0;
  // Commits only if the object is still the one that was read as `before`.
  virtual Status replace(const StandardStorage& store, const ObjectRef& before, Object object) = 0;
  virtual Status remove(const StandardStorage& store, const ObjectRef& before) = 0;
};

// What a begin hook holds for one try of a write.  Destroyed without finish() only when an exception ended the try: not kept.
class BegunWrite {
 public:
  virtual ~BegunWrite();
  // Adds what is to be committed with the object.  Called right before the transaction, and again when that was lost to somebody who
  // changed what had joined it.  False: what was begun is no longer to be had, the write must begin anew.  Not called for dry runs.
  virtual Task<Result<bool>> join(RequestContext& context, StoreTransaction& transaction);
  // The end of the try, once.  `kept`: the object has been stored (or removed) as it was begun.
  virtual Task<void> finish(bool kept);
};

class StoreHooks {
 public:
  using Begun = std::unique_ptr<BegunWrite>;  // null: nothing to join, nobody to tell
  virtual ~StoreHooks();

  // May change `object`, which has its name and uid but has not been prepared by the strategy.
  virtual Task<Result<Begun>> begin_create(RequestContext& context, Object& object, bool dry_run) const;
  // Updates of the resource itself, not through its subresources.  `old` is the stored object.
  virtual Task<Result<Begun>> begin_update(RequestContext& context, Object& object, const Object& old, bool dry_run) const;
  // The object is about to go: by a delete, or by an update that took its last finalizer.  Not for deletes that only mark it, and not
  // for dry runs.
  virtual Task<Result<Begun>> begin_delete(RequestContext& context, const Object& old) const;

  // After the commit; not after dry runs.
  virtual void after_create(RequestContext& context, const ObjectRef& stored) const;
  virtual void after_update(RequestContext& context, const ObjectRef& stored) const;
  virtual void after_delete(RequestContext& context, const ObjectRef& last) const;
};

}  // namespace BACKPLANE_API
