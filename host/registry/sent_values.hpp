// What an update was sent as, for refusals that quote it.
//
// Decoding leaves empty lists and maps out: they mean nothing, and are never stored.  A refusal that prints a struct prints null in their
// place, where upstream still has what was sent and prints `[]` or `{}`.
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
  // The object as it was before it was decoded: what was sent, or what a patch made of `existing`.  Asked for refusals only, which are
  // rare, so it may cost a second reading.
  virtual Result<Value> sent(RequestContext& context, const Object& existing) const = 0;
};

// Puts the empty lists and maps of `sent` where `object` has nothing.  Types of apimachinery (label selectors, metadata) stay as they are:
// they are printed as their own JSON, which leaves emptiness out.  `schema`: of the object; null: every type is the kind's own.
// False: there was none.
bool restore_empty_values(const Object& sent, Object& object, const Schema* schema);

}  // namespace backplane::registry
