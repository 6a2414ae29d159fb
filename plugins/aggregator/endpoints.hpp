// Services and endpoint slices, for the availability of an APIService.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <backplane/core/object.hpp>

namespace backplane {

// The name of the index of slices by their service ("namespace/name").
inline constexpr std::string_view kServiceIndex = "service";
std::vector<std::string> service_of_slice(const ObjectEntry& slice);

// Returns the service's port with that number; null: there is none.
const Object* port_of(const Object& service_spec, int number);
// True if the slice has a ready endpoint, and a callable port of that name.
bool slice_has(const Object& slice, std::string_view port_name);

}  // namespace backplane
