// The configuration of a server-side apply: the fields that the object must have. Other updates return the whole new object from
// updated_object(). The store does not call this function for an apply; FieldManager merges the configuration with the stored object.
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
  // Checks the name, the namespace and the strictness of the merged object.  Errors: 400.
  virtual Status accept(RequestContext& context, Object& object, const Object* existing) = 0;

  ClientWrite* client_write() noexcept final { return this; }
  AppliedObject* applied() noexcept final { return this; }
  // Called by storages that do not support apply; returns an error.
  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override;

 private:
  std::string manager_;
  bool force_;
};

}  // namespace backplane::registry
