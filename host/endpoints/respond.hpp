// Sends objects in the negotiated encoding and shape (object, Table or PartialObjectMetadata).
//
// Thread-safety: the executor of the exchange.
#pragma once

#include <string>
#include <string_view>

#include "endpoints/negotiation.hpp"
#include "endpoints/resource.hpp"

namespace backplane::endpoints {

// Sends one object. If the encoding is compact JSON, the object's bytes are shared. Errors: 406 and 400 if the object cannot have the
// requested shape; nothing has been sent then.
Task<Status> send_object(const Resource& resource, RequestContext& context, Exchange& exchange, MediaType media, int code,
                         ObjectRef object);
// Sends `document`, which must be compact JSON without a newline at the end. `schema`: the type of the document; may be null if `media` is
// a text encoding.
Task<void> send_document(RequestContext& context, Exchange& exchange, MediaType media, int code, std::string document,
                         const Schema* schema);
// Returns the type of metav1.Status.
const Schema* status_schema();

// Converts compact JSON that this server has written to YAML.
std::string yaml_of(std::string_view json);

}  // namespace backplane::endpoints
