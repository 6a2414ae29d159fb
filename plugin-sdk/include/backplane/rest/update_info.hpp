// The update that a storage applies to the stored object: a PUT, a patch or an apply (upstream rest.UpdatedObjectInfo).
//
// Thread-safety: belongs to one request.
// Lifetime:      outlives the call of Updater::update; objects live in the request's arena.
// Errors:        sent to the client unchanged.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/options.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class RequestContext;

// Parts of the client's request: the configuration of an apply, and the original values that error messages quote. Defined by the host.
class ClientWrite;

// Computes the new object from the stored one. The store calls it again for each attempt after a conflict.
class UpdatedObjectInfo {
 public:
  virtual ~UpdatedObjectInfo();
  // `existing` is null if the object does not exist. The result is allocated in the request's arena.
  virtual Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) = 0;
  // Conditions on the stored object that the client sent; checked in each attempt.
  virtual Preconditions preconditions() const { return {}; }
  // Called before an update creates an object, in each attempt, after mutating and before validating admission: checks that the user may
  // create it.
  // Errors: kForbidden, sent unchanged. The default allows it.
  virtual Task<Status> may_create(RequestContext& context);
  // Null if no client sent the update. An info that wraps another one returns the wrapped one's.
  virtual ClientWrite* client_write() noexcept { return nullptr; }
  // Changes the object of an apply, which the store merges itself instead of calling updated_object(). Called once for each attempt.
  virtual Task<Status> change_applied(RequestContext& context, Object& object, const Object* existing);
};

// An info that changes the object of another one, for PUT, patch and apply alike (upstream: WrapUpdatedObjectInfo).
class WrappedObjectInfo : public UpdatedObjectInfo {
 public:
  // `wrapped` must outlive this info.
  explicit WrappedObjectInfo(UpdatedObjectInfo& wrapped) noexcept : wrapped_(wrapped) {}
  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override;
  Preconditions preconditions() const override { return wrapped_.preconditions(); }
  Task<Status> may_create(RequestContext& context) override;
  ClientWrite* client_write() noexcept override { return wrapped_.client_write(); }
  Task<Status> change_applied(RequestContext& context, Object& object, const Object* existing) override;

 protected:
  // Changes `object`, which the wrapped info has computed. `existing` is null if the object does not exist.
  virtual Task<Status> change(RequestContext& context, Object& object, const Object* existing) = 0;

 private:
  UpdatedObjectInfo& wrapped_;
};

}  // namespace BACKPLANE_API
