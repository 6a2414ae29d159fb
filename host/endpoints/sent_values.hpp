// Replaces `null` in validation errors by the empty list or map that the client has sent.
//
// Decoding omits empty lists and maps, so a validator quotes the value of such a field as null. Upstream retains what was sent, and quotes
// `{}` or `[]`.
//
// Thread-safety: pure function.
#pragma once

#include <string_view>

#include "backplane/core/status.hpp"
#include "endpoints/body.hpp"

namespace backplane::endpoints {

// If `refused` has errors of fields, replaces the quoted null of fields that are empty lists or maps in `body`. Parses the body again:
// refusals are rare. `schema`: of the object; null: not known.
void quote_sent_values(Status& refused, std::string_view body, BodyFormat format, const Schema* schema);

}  // namespace backplane::endpoints
