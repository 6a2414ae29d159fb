// Checks values of an apply configuration that upstream does not accept as JSON (null, bytes, timestamps). No field can have them.
//
// Thread-safety: a pure function.
// Source:        sigs.k8s.io/structured-merge-diff/v6/typed/validate.go.
#pragma once

#include <string>
#include <vector>

#include "backplane/types/cel_scope.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::admission::policies {

// Upstream's error text for `values`; empty: no error, or the types of the fields are not known.
std::string go_value_problems(const Schema* type, const Object& configuration, const std::vector<cel::GoValue>& values);

}  // namespace backplane::admission::policies
