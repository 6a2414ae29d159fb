// The values that a client has sent with an update, for error messages that quote them.
// Decoding removes empty lists and maps, because they are not stored. So an error message that quotes a struct would show null for them;
// upstream retains the sent values and prints `[]` or `{}`.
//
// Thread-safety: one request.
// Lifetime:      that of the UpdatedObjectInfo.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/types/schema.hpp"
#include "registry/client_write.hpp"

namespace backplane::registry {

class SentValues : public ClientWrite {
 public:
  const SentValues* sent_values() const noexcept final { return this; }
  // The object before decoding: as the client has sent it, or the result of the client's patch of `existing`. It is called only if there
  // are errors to quote, so it may parse the body again.
  virtual Result<Value> sent(RequestContext& context, const Object& existing) const = 0;
};

// Copies each empty list or map of `sent` to `object` if `object` has no value at that path. Omits values inside types of apimachinery
// (label selectors, metadata), because errors print these as JSON, which has no empty values. `schema`: of the object; null: the object
// contains no types of apimachinery. Returns false if nothing was copied.
bool restore_empty_values(const Object& sent, Object& object, const Schema* schema);

}  // namespace backplane::registry
