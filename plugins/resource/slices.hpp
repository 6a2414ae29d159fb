// Rules of slices and their devices that cross fields.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::resource {

// `attribute_type`: of a DeviceAttribute, to quote one.
void check_slice(const Object& slice, const Schema& attribute_type, FieldErrors& errors);

}  // namespace backplane::resource
