// Documents that are answered with GET.
//
// Thread-safety: a handler is for one request, on its executor.
#pragma once

#include <string>

#include "backplane/points/http.hpp"
#include "routing/lazy_document.hpp"

namespace backplane {

// Which methods a document answers: upstream's go-restful services have a route for GET, its other handlers do not look.
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

// Sends a kept document with its ETag, or 304 when the client has it.
Task<void> send_kept(Exchange& exchange, LazyDocument::MadeRef made, std::string content_type);

}  // namespace backplane
