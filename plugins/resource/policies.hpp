// Request policies of a shared capacity: listed values, or a range with steps.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/kit/path.hpp"

namespace backplane::resource {

// `shared`: the device allows several allocations; if false, a policy is an error.
void check_capacity(const Object& capacity, bool shared, const kit::Path& path, FieldErrors& errors);

}  // namespace backplane::resource
