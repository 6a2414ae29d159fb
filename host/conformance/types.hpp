// The types of a group, from discovery, and the sample of a type.
//
// Thread-safety: functions of their arguments.
// Lifetime:      sample_of() borrows from `samples`.
// Errors:        a group that the server does not list has no types.
#pragma once

#include <string>
#include <vector>

#include "conformance/subject.hpp"

namespace backplane::conformance {

// The types of all versions of the group; "" is the core group.
std::vector<Type> types_of(Api& api, const std::string& group);
// Returns the first sample of the type's kind and version; null if there is none.
const Object* sample_of(const std::vector<Object>& samples, const Type& type);

}  // namespace backplane::conformance
