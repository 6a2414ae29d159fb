// A configuration that a client applies: the fields that the object must have, instead of the whole object that an update returns.
// The store does not call it for the new object, as for other updates, but merges it with the stored object (FieldManager).
//
// Thread-safety: one request.
// Lifetime:      shorter than the request.
#pragma once

#include <optional>
#include <string>

#include "backplane/core/request.hpp"
#include "backplane/rest/update_info.hpp"
#include "registry/client_write.hpp"

namespace backplane::registry {

class AppliedObject : public UpdatedObjectInfo, public ClientWrite {
 public:
  AppliedObject(std::string manager, bool force) : manager_(std::move(manager)), force_(force) {}

  const std::string& manager() const noexcept { return manager_; }
  bool force() const noexcept { return force_; }

  // The parsed configuration. Errors: 400.
  virtual Result<const Object*> configuration(RequestContext& context) = 0;
  // Checks of the applied object: name, namespace, strictness.  Errors: 400.
  virtual Status accept(RequestContext& context, Object& object, const Object* existing) = 0;

  ClientWrite* client_write() noexcept final { return this; }
  AppliedObject* applied() noexcept final { return this; }
  // For storages that do not support apply.
  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override;

 private:
  std::string manager_;
  bool force_;
};

}  // namespace backplane::registry
