// Decodes CBOR (RFC 8949) as upstream does.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// The tree of one item. Text strings and byte strings become texts; byte strings with a tag that expects base64 or hex are encoded so;
// tagged times become RFC 3339; other tags are ignored.
// Errors:        kBadRequest with the message of upstream's decoder: malformed or repeated keys, keys that are not texts, numbers beyond
//                int64,
// NaN and infinity, simple values except false, true and null.
Result<Value> parse_cbor(std::string_view bytes, json::storage_ptr storage);

}  // namespace BACKPLANE_API
