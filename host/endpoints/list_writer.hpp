// Lists, item by item: plain, as a table, or metadata only; in JSON, indented JSON or YAML. Memory per response: one chunk.
//
// Thread-safety: none; on the executor of the exchange.
// Errors:        406, 400 and those of the list.  After the head has been sent, the caller's write_status() aborts the exchange, so
//                that the client does not take a partial list for a complete one.  A disconnected client ends the response silently.
#pragma once

#include "endpoints/negotiation.hpp"
#include "endpoints/resource.hpp"

namespace backplane::endpoints {

// Sends `list` with code 200.
Task<Status> send_list(const Resource& resource, RequestContext& context, Exchange& exchange, MediaType media, ListResult list);

}  // namespace backplane::endpoints
