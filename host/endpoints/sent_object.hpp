// The way of a new object from the request into a tree: what is common to POST on a collection and POST on a name.
//
// Thread-safety: one request.
// Errors:        of each step, in the order in which upstream takes them.
#pragma once

#include <string>

#include "backplane/core/options.hpp"
#include "endpoints/body.hpp"

namespace backplane::endpoints {

struct SentObject {
  MediaType answer;  // what the client wants back
  BodyFormat format = BodyFormat::kJson;
  std::string body;
  WriteOptions options;
  Object object;
};

// Negotiates, reads, and decodes.
Task<Result<SentObject>> receive_object(const Resource& resource, RequestContext& context, Exchange& exchange);

}  // namespace backplane::endpoints
