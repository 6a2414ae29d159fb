// The part of an OpenAPI v2 document that one group version needs (kube-openapi's FilterSpecByPaths).
//
// Thread-safety: pure functions.
#pragma once

#include <backplane/core/json.hpp>
#include <backplane/core/meta.hpp>

namespace backplane {

// Returns the `paths` below the path of `version`, and the `definitions` and `parameters` to which these refer, directly or indirectly.
Object openapi_v2_part(const Object& document, const GroupVersion& version);

}  // namespace backplane
