// The result of a run as JSON.
//
// Thread-safety: pure function.
#pragma once

#include "cel/value.hpp"

namespace backplane::cel_detail {

// Durations and times are texts, bytes are base64, an absent optional value is null; values of libraries are their texts.
backplane::Value result_of(Arena& arena, const Val& value);

}  // namespace backplane::cel_detail
