// Decoding of scalars with special rules: times, durations, quantities, …
#pragma once

#include "schema/decode.hpp"

namespace backplane::schema {

// Each converts `value` to its canonical text.  False when decoding must end.  Null stays null: the caller handles unset values.
bool decode_time(Value& value, bool micro, Decode& decode, const Frame& frame);
bool decode_duration(Value& value, Decode& decode, const Frame& frame);
bool decode_quantity(Value& value, Decode& decode);
bool decode_int_or_string(Value& value, Decode& decode, const Frame& frame);
// Base64; Go also takes a list of byte values.
bool decode_bytes(Value& value, const Type& type, Decode& decode, const Frame& frame);
// An integer within the range of the form.
bool decode_integer(Value& value, const Type& type, Decode& decode, const Frame& frame);

// "25%": digits and the sign.
bool is_percent(std::string_view text) noexcept;
// The value of a number or percentage; 0 for other values.
std::int64_t number_or_percent(const Value& value) noexcept;

// Whether Go's omitempty leaves the value out: null, false, 0, "", and empty lists and maps.
bool is_zero(const Value& value) noexcept;

}  // namespace backplane::schema
