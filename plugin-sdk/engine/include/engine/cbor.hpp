// Decodes CBOR (RFC 8949) as upstream does.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Returns the tree of one item. Text strings and byte strings become texts. A byte string with a tag that expects base64 or hex is encoded
// so. Tagged times become RFC 3339; other tags are ignored.
// Errors: kBadRequest with the message of upstream's decoder, for malformed or repeated keys, keys that are not texts, numbers beyond
// int64, NaN and infinity, and simple values except false, true and null.
Result<Value> parse_cbor(std::string_view bytes, json::storage_ptr storage);

}  // namespace BACKPLANE_API
