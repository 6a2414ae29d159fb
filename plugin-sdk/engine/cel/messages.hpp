// Well-known messages of protobuf, made by name: google.protobuf.Int64Value{value: 1} is the number.
//
// Thread-safety: pure function.
#pragma once

#include "cel/value.hpp"

namespace backplane::cel_detail {

// `message`: a map with the message's name.  Other messages are unchanged.
Val unwrap_message(Arena& arena, const Val& message);

}  // namespace backplane::cel_detail
