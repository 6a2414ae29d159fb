// Receives a new object: the common part of POST on a collection and POST on a subresource.
//
// Thread-safety: one request.
// Errors:        those of each step, in the order in which upstream checks them.
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

// Negotiates the encodings, reads the body and the options, and decodes the object.
Task<Result<SentObject>> receive_object(const Resource& resource, RequestContext& context, Exchange& exchange);

}  // namespace backplane::endpoints
