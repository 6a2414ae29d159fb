// The body of a PUT, which nearly always says who manages which fields, in the words in which it was told.
//
// Thread-safety: a pure function; the tree belongs to the request.
#pragma once

#include "endpoints/body.hpp"

namespace backplane::endpoints {

// decode_object(), where the fields of managers may be raw values (registry/fields/raw_managers.hpp) that nobody has looked into: unless
// they are what the object has already, the body is to be decoded again.
Result<Object> decode_replacement(const Resource& resource, RequestContext& context, std::string_view body, BodyFormat format,
                                  FieldValidation validation);

}  // namespace backplane::endpoints
