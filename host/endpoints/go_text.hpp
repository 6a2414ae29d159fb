// JSON trees and decoding errors as Go prints them, for messages that quote them.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::endpoints {

// fmt's %v of the tree: map[a:1 b:[x y]], nil as <nil>, keys sorted.
std::string go_value(const Value& value);

// "json: cannot unmarshal array into Go value of type T".
std::string unmarshal_error(const Value& value, std::string_view type);
// "json: cannot unmarshal number 1.5 into Go struct field F of type T".
std::string unmarshal_field_error(const Value& value, std::string_view field, std::string_view type);

// apiserver's summary of a body that could not be read: the first bytes, in hexadecimal if they are not a JSON object.
std::string body_summary(std::string_view body);

}  // namespace backplane::endpoints
