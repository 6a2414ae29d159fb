// What a client has sent with an update, in addition to the new object (UpdatedObjectInfo::client_write).
//
// Thread-safety: one request.
// Lifetime:      that of the UpdatedObjectInfo.
#pragma once

#include "backplane/rest/roles.hpp"

namespace backplane {

namespace registry {
class AppliedObject;
class SentValues;
}  // namespace registry

class ClientWrite {
 public:
  virtual ~ClientWrite() = default;
  // The configuration of a server-side apply; null: the client sent a whole object or a patch.
  virtual registry::AppliedObject* applied() noexcept { return nullptr; }
  // The values that error messages quote; null: they are not recorded.
  virtual const registry::SentValues* sent_values() const noexcept { return nullptr; }
};

}  // namespace backplane
