// The errors that the handlers themselves make, worded as apiserver and go-restful word them.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/status.hpp"

namespace backplane::endpoints {

// The media types of objects and of watches, as upstream lists them: not all resources can be encoded in all of them.  `cbor`: the server
// offers CBOR.
std::string_view served_types(bool cbor);
std::string_view stream_types(bool cbor);

// 405 of a path that has no route for the method.
Status method_not_routed();
// 404 of a path without a route.
Status not_routed();
// 406: no clause of Accept matches; `types`: the media types that are supported.
Status not_acceptable_types(std::string_view types);
// 406 with another reason.
Status not_acceptable(std::string message);
// 406 and 415 of the router, with the types that a path produces.
Status route_not_acceptable(std::string_view types);
Status route_unsupported(std::string_view types);  // a body-less POST, PUT or PATCH whose Accept does not fit
Status route_unsupported_media_type();
// 415: the format of the body is not in `types`.
Status unsupported_media_type(std::string_view types);
// 500 of a handler that threw (go-restful's recover handler).
Status recovered();
// 413.
Status entity_too_large(std::string_view why);
// 422 without details: a JSON patch cannot be applied.
Status patch_does_not_apply();
// 422 about the field "patch", without a kind: the patched object cannot be decoded.
Status invalid_patch(std::string_view patched, std::string_view why);

}  // namespace backplane::endpoints
