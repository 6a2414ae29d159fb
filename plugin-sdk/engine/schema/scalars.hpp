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

// "25%": digits and the sign.
bool is_percent(std::string_view text) noexcept;
// Of a number or percentage; 0 for what is neither.
std::int64_t number_or_percent(const Value& value) noexcept;

// What Go's omitempty leaves out: null, false, 0, "", and lists and maps without content.
bool is_zero(const Value& value) noexcept;

}  // namespace backplane::schema
