// The role of a storage that refuses requests before the endpoint evaluates them, as the storages of a kind whose plugin does not run do.
// A refusal therefore precedes errors about the request, such as those of an unsupported media type or of a body that cannot be decoded.
//
// Thread-safety: every method from any executor.
// Lifetime:      an interface of the storage.
// Errors:        sent to the client unchanged.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"

namespace backplane::endpoints {

class RequestRefuser {
 public:
  virtual ~RequestRefuser() = default;
  // The error of the request; called before its body is read. OK: the endpoint handles the request as usual.
  virtual Status refusal(const RequestInfo& request) const = 0;
  // The error of a strategic merge patch if the resource does not accept this type of patch. OK: the request gets 415.
  virtual Status patch_refusal(const RequestInfo& request, const Object& patch) const = 0;
};

}  // namespace backplane::endpoints
