// Canonical JSON into CBOR, bytes to bytes, as upstream's encoder writes it: texts and keys are byte strings, bytes stand in a tag that
// says they become base64, numbers and lengths are as short as they can be, and members are in the order of the JSON.
//
// Thread-safety: pure functions.
// Errors:        false when the text is not JSON, or not JSON of the type; `out` is then as it was.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backplane/types/schema.hpp"

namespace backplane::schema {

// Appends the item.  `schema` knows which texts are bytes and which whole numbers are reals; null, or of a custom resource: none are.
bool encode_cbor(const Schema* schema, std::string_view json, std::string& out);

// The parts, for what is written around items.
void append_cbor_map(std::string& out, std::uint64_t members);
void append_cbor_array(std::string& out, std::uint64_t items);
void append_cbor_integer(std::string& out, std::int64_t number);
void append_cbor_text(std::string& out, std::string_view text);

}  // namespace backplane::schema
