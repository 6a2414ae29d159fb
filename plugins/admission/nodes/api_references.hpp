// References of pods to API objects, which mirror pods must not have.
//
// Thread-safety: pure function.
// Source:        kubernetes pkg/api/pod (HasAPIObjectReference).
#pragma once

#include <optional>
#include <string>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::admission::nodes {

// The resource that the pod refers to; nullopt if it refers to none.
// Errors: a volume of an unknown type.
Result<std::optional<std::string>> api_reference(const Object& pod_spec);

}  // namespace backplane::admission::nodes
