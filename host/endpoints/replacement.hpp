// Decodes the body of a PUT request, which nearly always contains metadata.managedFields as the client has received them.
//
// Thread-safety: a pure function. The tree belongs to the request.
#pragma once

#include "endpoints/body.hpp"

namespace backplane::endpoints {

// Like decode_object(), but fieldsV1 are raw values (registry/fields/raw_managers.hpp), which are not parsed. If they differ from those of
// the stored object, the caller must decode the body with decode_object().
Result<Object> decode_replacement(const Resource& resource, RequestContext& context, std::string_view body, BodyFormat format,
                                  FieldValidation validation);

}  // namespace backplane::endpoints
