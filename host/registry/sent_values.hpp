// The original values of an update, for errors that quote them.
// Decoding drops empty lists and maps, which are never stored. An error that prints a struct would print null in their place; upstream
// retains the sent values and prints `[]` or `{}`.
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
  // The object before decoding: as the client sent it, or as a patch of `existing` returned it. Called for errors only, which are rare, so
  // it may parse the body again.
  virtual Result<Value> sent(RequestContext& context, const Object& existing) const = 0;
};

// Copies the empty lists and maps of `sent` to `object`, where it has no value. Does not change types of apimachinery (label selectors,
// metadata): errors print them as JSON, which omits empty values. `schema`: of the object; null: no type is one of apimachinery. False:
// `sent` has no empty values.
bool restore_empty_values(const Object& sent, Object& object, const Schema* schema);

}  // namespace backplane::registry
