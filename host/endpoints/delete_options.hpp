// Reads DeleteOptions from the body if the request has a body, otherwise from the query.
//
// Thread-safety: pure functions.
// Errors:        400 if the body cannot be decoded or has another kind; 422 if values are invalid or contradict each other.
#pragma once

#include <string_view>

#include "backplane/core/json.hpp"
#include "endpoints/negotiation.hpp"
#include "endpoints/verb_options.hpp"

namespace backplane::endpoints {

inline constexpr std::string_view kIgnoreReadError = "ignoreStoreReadErrorWithClusterBreakingPotential";

// `unsafe_deletes`: the gate AllowUnsafeMalformedObjectDeletion. If it is off, ignore_read_error is never set.
Result<DeleteOptions> delete_options_from_query(const Query& query, bool unsafe_deletes);
// Parses the body in the context's arena. The result does not refer to the tree.
Result<DeleteOptions> delete_options_from_body(RequestContext& context, std::string_view body, BodyFormat format, bool unsafe_deletes);

}  // namespace backplane::endpoints
