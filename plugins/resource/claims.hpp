// Rules of claims that cross their fields: names of requests, one of several, devices that are reported and allocated.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/kit/path.hpp"

namespace backplane::resource {

// `spec` is a ResourceClaimSpec.  `distinct`: the gate of distinctAttribute, DRAConsumableCapacity.
void check_claim_spec(const Object& spec, bool distinct, const kit::Path& path, FieldErrors& errors);
void check_claim_status(const Object& claim, const Object& old, FieldErrors& errors);
// Takes what is reported of devices out of the status that were allocated and no longer are.
void drop_deallocated(Object& claim, const Object& old);
// What can be told of the expressions in `selectors` without running them.
void check_selectors(const Object& holder, const kit::Path& path, FieldErrors& errors);
// Binding conditions and those of failure: names, no two alike, and neither without the other.
void check_binding_conditions(const Object& holder, const kit::Path& path, FieldErrors& errors);

}  // namespace backplane::resource
