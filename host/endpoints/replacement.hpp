// Decodes the body of a PUT.  It nearly always contains metadata.managedFields as the client has received them.
//
// Thread-safety: a pure function; the tree belongs to the request.
#pragma once

#include "endpoints/body.hpp"

namespace backplane::endpoints {

// decode_object() with fieldsV1 as raw values (registry/fields/raw_managers.hpp), which are not parsed.  Unless they equal those of the
// stored object, the body must be decoded again.
Result<Object> decode_replacement(const Resource& resource, RequestContext& context, std::string_view body, BodyFormat format,
                                  FieldValidation validation);

}  // namespace backplane::endpoints
