// DeleteOptions: from the body if the request has one, else from the query.
//
// Thread-safety: pure functions.
// Errors:        400 for bodies that cannot be read and other kinds, 422 for values that contradict each other.
#pragma once

#include <string_view>

#include "backplane/core/json.hpp"
#include "endpoints/negotiation.hpp"
#include "endpoints/verb_options.hpp"

namespace backplane::endpoints {

inline constexpr std::string_view kIgnoreReadError = "ignoreStoreReadErrorWithClusterBreakingPotential";

// `unsafe_deletes`: the gate AllowUnsafeMalformedObjectDeletion; without it ignore_read_error is never set.
Result<DeleteOptions> delete_options_from_query(const Query& query, bool unsafe_deletes);
// The tree is made in `storage` and not kept.
Result<DeleteOptions> delete_options_from_body(RequestContext& context, std::string_view body, BodyFormat format, bool unsafe_deletes);

}  // namespace backplane::endpoints
