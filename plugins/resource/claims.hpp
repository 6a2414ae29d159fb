// Rules of claims that concern several fields: names of requests and alternatives, reported devices, allocated devices.
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
// Removes the reports of devices that are not allocated any more from the status.
void drop_deallocated(Object& claim, const Object& old);
// Adds the compilation errors of the expressions in `selectors`.
void check_selectors(const Object& holder, const kit::Path& path, FieldErrors& errors);
// Checks binding conditions and binding failure conditions: names must be unique, and neither list may be set without the other.
void check_binding_conditions(const Object& holder, const kit::Path& path, FieldErrors& errors);

}  // namespace backplane::resource
