// Decoding of the wire's scalars that have rules of their own.
#pragma once

#include "schema/decode.hpp"

namespace backplane::schema {

// Each brings `value` into the form that output has.  False when decoding must end.  Null stays null: the caller knows what unset means.
bool decode_time(Value& value, bool micro, Decode& decode, const Frame& frame);
bool decode_duration(Value& value, Decode& decode, const Frame& frame);
bool decode_quantity(Value& value, Decode& decode);
bool decode_int_or_string(Value& value, Decode& decode, const Frame& frame);
// Base64; Go also takes a list of byte values.
bool decode_bytes(Value& value, const Type& type, Decode& decode, const Frame& frame);
// A whole number within the bits of the form.
bool decode_integer(Value& value, const Type& type, Decode& decode, const Frame& frame);

// What Go's omitempty leaves out: null, false, 0, "", and lists and maps without content.
bool is_zero(const Value& value) noexcept;

}  // namespace backplane::schema
