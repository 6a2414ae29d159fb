// The name that Go's encoding/json uses for the kind of a JSON value, for messages such as "json: cannot unmarshal array into Go value of
// …".
//
// Thread-safety: a pure function.
// Errors:        none.
// Source:        UnmarshalTypeError.Value of encoding/json, without the text of a number.
#pragma once

#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// "null", "bool", "string", "number", "array" or "object".
inline std::string_view json_kind(const Value& value) noexcept {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "bool";
    case json::kind::string:
      return "string";
    case json::kind::array:
      return "array";
    case json::kind::object:
      return "object";
    default:
      return "number";
  }
}

}  // namespace BACKPLANE_API
