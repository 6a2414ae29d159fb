// Decodes a new object from a request: the common part of POST on a collection and POST on a name.
//
// Thread-safety: one request.
// Errors:        those of each step, in upstream's order.
#pragma once

#include <string>

#include "backplane/core/options.hpp"
#include "endpoints/body.hpp"

namespace backplane::endpoints {

struct SentObject {
  MediaType answer;  // the encoding of the response
  BodyFormat format = BodyFormat::kJson;
  std::string body;
  WriteOptions options;
  Object object;
};

// Negotiates, reads, and decodes.
Task<Result<SentObject>> receive_object(const Resource& resource, RequestContext& context, Exchange& exchange);

}  // namespace backplane::endpoints
