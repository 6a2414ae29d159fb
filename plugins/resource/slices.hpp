// Rules of slices and their devices that concern several fields.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::resource {

// `attribute_type`: the type DeviceAttribute, to quote a value.
void check_slice(const Object& slice, const Schema& attribute_type, FieldErrors& errors);

}  // namespace backplane::resource
