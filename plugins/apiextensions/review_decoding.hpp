// Decodes a webhook's response as a ConversionReview, as the codec of upstream's webhook client does, with its messages.
//
// Thread-safety: pure functions.
// Errors:        500 without a reason; the message is upstream's, without the converter's prefix.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::apiextensions {

// `text`: JSON or YAML, not empty; `version`: of the review that is expected, "v1" or "v1beta1".
Result<Object> decode_review(std::string_view text, std::string_view version, json::storage_ptr storage);

// The error for a response of a webhook with a code other than 200 to 206. `content_type`: its header; empty: it has none.
std::string error_answer_message(int code, std::string_view content_type, std::string_view body);

}  // namespace backplane::apiextensions
