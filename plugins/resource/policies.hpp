// What may be asked for of a capacity that several share: listed values, or a range with steps.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/kit/path.hpp"

namespace backplane::resource {

// `shared`: the device allows several allocations; only then there may be a policy.
void check_capacity(const Object& capacity, bool shared, const kit::Path& path, FieldErrors& errors);

}  // namespace backplane::resource
