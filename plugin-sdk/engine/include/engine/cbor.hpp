// CBOR (RFC 8949) as upstream takes it.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// The tree of one item.  Text and byte strings alike are texts, byte strings of which base64 or hex is expected become that, tagged times
// become RFC 3339, other tags mean nothing.
// Errors: kBadRequest with the message of upstream's decoder: malformed or repeated keys, keys that are no texts, numbers beyond int64, NaN
// and infinity, simple values but false, true and null.
Result<Value> parse_cbor(std::string_view bytes, json::storage_ptr storage);

}  // namespace BACKPLANE_API
