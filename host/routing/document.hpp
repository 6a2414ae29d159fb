// A Document is a handler that responds to GET with a document.
//
// Thread-safety: a handler serves one request, on the executor of the request.
#pragma once

#include <string>

#include "backplane/points/http.hpp"
#include "routing/lazy_document.hpp"

namespace backplane {

// The methods that a document accepts. In upstream, a route of a go-restful service accepts GET only; other handlers accept every method.
enum class Methods : unsigned char { kGet, kAny };

class Document : public HttpHandler {
 public:
  explicit Document(Methods methods = Methods::kGet) : methods_(methods) {}
  Task<void> handle(RequestContext& context, Exchange& exchange) final;

 protected:
  virtual Task<void> get(RequestContext& context, Exchange& exchange) = 0;

 private:
  Methods methods_;
};

// Sends a cached document and its ETag, or 304 if the If-None-Match header of the request equals the ETag.
Task<void> send_kept(Exchange& exchange, LazyDocument::MadeRef made, std::string content_type);

}  // namespace backplane
