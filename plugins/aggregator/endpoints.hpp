// Services and endpoint slices as the availability of an APIService sees them.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <backplane/core/object.hpp>

namespace backplane {

// Under this index slices are found by their service, "namespace/name".
inline constexpr std::string_view kServiceIndex = "service";
std::vector<std::string> service_of_slice(const ObjectEntry& slice);

// The service's port of that number; null: it does not listen there.
const Object* port_of(const Object& service_spec, int number);
// It has a ready endpoint, and a port of that name that can be called.
bool slice_has(const Object& slice, std::string_view port_name);

}  // namespace backplane
