// Sends objects in the negotiated encoding and shape (object, Table, PartialObjectMetadata).
//
// Thread-safety: on the executor of the exchange.
#pragma once

#include <string>
#include <string_view>

#include "endpoints/negotiation.hpp"
#include "endpoints/resource.hpp"

namespace backplane::endpoints {

// Sends one object. Plain JSON is sent from the shared bytes of the object. Errors: 406 and 400 for a shape that the object cannot have,
// before anything is sent.
Task<Status> send_object(const Resource& resource, RequestContext& context, Exchange& exchange, MediaType media, int code,
                         ObjectRef object);
// Sends a document made by the handler from compact JSON without a newline, of type `schema`; only texts need none.
Task<void> send_document(RequestContext& context, Exchange& exchange, MediaType media, int code, std::string document,
                         const Schema* schema);
// The type of metav1.Status.
const Schema* status_schema();

// The YAML of a compact JSON text that this server wrote.
std::string yaml_of(std::string_view json);

}  // namespace backplane::endpoints
