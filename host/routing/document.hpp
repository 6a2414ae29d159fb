// Documents that are read with GET.
//
// Thread-safety: a handler is for one request, on its executor.
#pragma once

#include <string>

#include "backplane/points/http.hpp"
#include "routing/lazy_document.hpp"

namespace backplane {

// The methods of a document: upstream's go-restful services have a route for GET only, its other handlers accept every method.
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

// Sends a cached document with its ETag, or 304 if the client has that version.
Task<void> send_kept(Exchange& exchange, LazyDocument::MadeRef made, std::string content_type);

}  // namespace backplane
