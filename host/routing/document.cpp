#include "routing/document.hpp"

#include "endpoints/resource_handler.hpp"

namespace backplane {
namespace {

Status method_not_allowed_here() {
  Status status(Reason::kMethodNotAllowed, "the server does not allow this method on the requested resource");
  status.with_details({});
  return status;
}

}  // namespace

Task<void> Document::handle(RequestContext& context, Exchange& exchange) {
  if (methods_ == Methods::kGet && exchange.method() != "GET") {
    co_await write_status(context, exchange, method_not_allowed_here());
    co_return;
  }
  co_await get(context, exchange);
}

Task<void> send_kept(Exchange& exchange, LazyDocument::MadeRef made, std::string content_type) {
  const std::string etag = "\"" + made->hash + "\"";
  exchange.set_response_header("ETag", etag);
  exchange.add_response_header("Vary", "Accept");
  if (exchange.header("if-none-match") == etag) {
    co_await exchange.respond(304, "", {});
    co_return;
  }
  std::vector<SharedBytes> body;
  body.push_back(made->bytes);
  co_await exchange.respond(200, content_type, std::move(body));
}

}  // namespace backplane
