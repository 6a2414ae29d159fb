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

// Parts of the client's request: the configuration of an apply, and the original values that error messages quote. The host defines this
// type.
class ClientWrite;

// Computes the new object from the stored one. The store calls it again for each attempt after a conflict.
class UpdatedObjectInfo {
 public:
  virtual ~UpdatedObjectInfo();
  // `existing` is null if the object does not exist. The result is allocated in the request's arena.
  virtual Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) = 0;
  // Conditions on the stored object that the client sent. The store checks them in each attempt.
  virtual Preconditions preconditions() const { return {}; }
  // Checks that the user may create the object. In each attempt, the store calls it before an update creates an object: after the mutating
  // step of admission and before the validating step.
  // Errors: kForbidden, sent to the client unchanged. The default allows the creation.
  virtual Task<Status> may_create(RequestContext& context);
  // The client's request; null if no client sent the update. An UpdatedObjectInfo that wraps another one returns client_write() of the
  // wrapped object.
  virtual ClientWrite* client_write() noexcept { return nullptr; }
  // Changes the object of an apply. The store merges an apply itself and does not call updated_object(). Called once for each attempt.
  virtual Task<Status> change_applied(RequestContext& context, Object& object, const Object* existing);
};

// Changes the object that another UpdatedObjectInfo has computed, for PUT, patch and apply alike (upstream: WrapUpdatedObjectInfo).
class WrappedObjectInfo : public UpdatedObjectInfo {
 public:
  // `wrapped` must outlive this object.
  explicit WrappedObjectInfo(UpdatedObjectInfo& wrapped) noexcept : wrapped_(wrapped) {}
  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override;
  Preconditions preconditions() const override { return wrapped_.preconditions(); }
  Task<Status> may_create(RequestContext& context) override;
  ClientWrite* client_write() noexcept override { return wrapped_.client_write(); }
  Task<Status> change_applied(RequestContext& context, Object& object, const Object* existing) override;

 protected:
  // Changes `object`, which `wrapped` has computed. `existing` is null if the object does not exist.
  virtual Task<Status> change(RequestContext& context, Object& object, const Object* existing) = 0;

 private:
  UpdatedObjectInfo& wrapped_;
};

}  // namespace BACKPLANE_API
