// The errors that handlers return themselves, with the messages of apiserver and go-restful.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/status.hpp"

namespace backplane::endpoints {

// Return the media types of objects and of watches, as upstream lists them; not every resource can be encoded in all of them. `cbor`: the
// server offers CBOR.
std::string_view served_types(bool cbor);
std::string_view stream_types(bool cbor);

// 405: the path has no route for the method.
Status method_not_routed();
// 404: there is no route for the path.
Status not_routed();
// 406: no clause of the Accept header matches. `types`: the supported media types.
Status not_acceptable_types(std::string_view types);
// 406 for another reason.
Status not_acceptable(std::string message);
// 406 and 415 of upstream's router. `types`: the media types of the path.
Status route_not_acceptable(std::string_view types);
Status route_unsupported(std::string_view types);  // a POST, PUT or PATCH without body whose Accept header matches no type
Status route_unsupported_media_type();
// 415: the media type of the body is not in `types`.
Status unsupported_media_type(std::string_view types);
// 500: the handler has thrown an exception (upstream: go-restful's recover handler).
Status recovered();
// 413: the body is too large.
Status entity_too_large(std::string_view why);
// 422 with empty details: a JSON patch cannot be applied.
Status patch_does_not_apply();
// 422 about the field "patch", without a kind: the patched object cannot be decoded.
Status invalid_patch(std::string_view patched, std::string_view why);

}  // namespace backplane::endpoints
