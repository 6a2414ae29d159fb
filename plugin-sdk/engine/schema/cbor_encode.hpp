// Canonical JSON into CBOR, bytes to bytes, as upstream's encoder writes it: texts and keys are byte strings, bytes have the tag
// "expected base64", numbers and lengths have the shortest encoding, and members are in the order of the JSON.
//
// Thread-safety: pure functions.
// Errors:        false if the text is not JSON of the type; `out` is then unchanged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backplane/types/schema.hpp"

namespace backplane::schema {

// Appends the item.  `schema` defines which texts are bytes and which integers are floats; null, or of a custom resource: none.
bool encode_cbor(const Schema* schema, std::string_view json, std::string& out);

// The parts of items, for their envelopes.
void append_cbor_map(std::string& out, std::uint64_t members);
void append_cbor_array(std::string& out, std::uint64_t items);
void append_cbor_integer(std::string& out, std::int64_t number);
void append_cbor_text(std::string& out, std::string_view text);

}  // namespace backplane::schema
