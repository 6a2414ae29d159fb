// What a refusal quotes where a validator found nothing.
//
// Decoding leaves empty lists and maps out, so that a validator that quotes the value of a field has no other word than null.  Upstream
// still has what was sent, and quotes `{}` or `[]`.
//
// Thread-safety: pure function.
#pragma once

#include <string_view>

#include "backplane/core/status.hpp"
#include "endpoints/body.hpp"

namespace backplane::endpoints {

// Puts the empty values that `body` has into the words of `refused`, if it is about fields.  Reads the body again: refusals are rare.
// `schema`: of the object; null: not known.
void quote_sent_values(Status& refused, std::string_view body, BodyFormat format, const Schema* schema);

}  // namespace backplane::endpoints
