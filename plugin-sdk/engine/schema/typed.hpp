// Typed mode: decodes and encodes an object of a built-in kind as Go does.
#pragma once

#include "schema/decode.hpp"

namespace backplane::schema {

// Brings `value` into output form in place.  False when decoding must end; the error is in `decode`.
bool decode_value(const Type& type, Value& value, Decode& decode, const Frame& frame);
void default_typed(const Type& type, Value& value);
// Sets or removes members beyond their defaults: derived.cpp.
void derive_members(const Body& body, Object& object);

// Sorts the members by key.
void sort_keys(Object& object);

// Structural mode: structural.cpp.
Status normalize_structural(const Type& type, Value& value, DecodeReport* report);
void default_structural(const Type& type, Value& value);

}  // namespace backplane::schema
