// Rules of slices and their devices that cross fields.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/json.hpp"
#include "backplane/schema.hpp"
#include "backplane/status.hpp"

namespace backplane::resource {

// `attribute_type`: of a DeviceAttribute, to quote one.
void check_slice(const Object& slice, const Schema& attribute_type, FieldErrors& errors);

}  // namespace backplane::resource
