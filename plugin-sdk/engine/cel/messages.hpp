// Messages that protobuf knows well, made by name: google.protobuf.Int64Value{value: 1} is the number.
//
// Thread-safety: pure function.
#pragma once

#include "cel/value.hpp"

namespace backplane::cel_detail {

// `message`: a map with the message's name.  Others than these stay what they are.
Val unwrap_message(Arena& arena, const Val& message);

}  // namespace backplane::cel_detail
