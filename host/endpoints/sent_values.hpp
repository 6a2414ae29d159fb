// In validation errors, replaces `null` by the empty list or map that the client has sent.
//
// Decoding omits empty lists and maps, so validators print the value of such a field as null. Upstream keeps empty lists and maps, and
// prints `{}` or `[]`.
//
// Thread-safety: a pure function.
#pragma once

#include <string_view>

#include "backplane/core/status.hpp"
#include "endpoints/body.hpp"

namespace backplane::endpoints {

// If `refused` has field errors, replaces null as the printed value of fields that are empty lists or maps in `body`. The body is parsed
// again, because such errors are rare. `schema`: the type of the object; null: not known.
void quote_sent_values(Status& refused, std::string_view body, BodyFormat format, const Schema* schema);

}  // namespace backplane::endpoints
