// Writes a list item by item: as objects, as a table, or as metadata only. Text may be JSON, indented JSON or YAML. Each response needs
// memory for one chunk.
//
// Thread-safety: the executor of the exchange.
// Errors:        406, 400 and errors of the list. If an error occurs after the head has been sent, the caller's write_status() aborts the
//                exchange, so that the client does not take a partial list for a complete one. If the client has disconnected, the result
//                is ok.
#pragma once

#include "endpoints/negotiation.hpp"
#include "endpoints/resource.hpp"

namespace backplane::endpoints {

// Sends `list` with code 200.
Task<Status> send_list(const Resource& resource, RequestContext& context, Exchange& exchange, MediaType media, ListResult list);

}  // namespace backplane::endpoints
