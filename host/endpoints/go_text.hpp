// Prints JSON trees and decoding errors like Go, for messages that contain them.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::endpoints {

// Prints the tree like fmt's %v: map[a:1 b:[x y]]. Null becomes <nil>, and keys are sorted.
std::string go_value(const Value& value);

// Returns "json: cannot unmarshal array into Go value of type T".
std::string unmarshal_error(const Value& value, std::string_view type);
// Returns "json: cannot unmarshal string into Go struct field F of type T".
std::string unmarshal_field_error(const Value& value, std::string_view field, std::string_view type);

// Returns apiserver's summary of a body that cannot be decoded: its first bytes, in hexadecimal unless they begin a JSON object.
std::string body_summary(std::string_view body);

}  // namespace backplane::endpoints
