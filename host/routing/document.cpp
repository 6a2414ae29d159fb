#include "routing/document.hpp"

#include "endpoints/errors.hpp"
#include "endpoints/negotiation.hpp"
#include "endpoints/resource_handler.hpp"

namespace backplane {
namespace {

// Returns the error of a route that accepts GET only; ok if the route accepts the request.
Status check_route(const RequestContext& context, const Exchange& exchange) {
  return exchange.method() == "GET" ? endpoints::check_route_accept(context, exchange, false) : endpoints::method_not_routed();
}

}  // namespace

Task<void> Document::handle(RequestContext& context, Exchange& exchange) {
  if (methods_ == Methods::kGet) {
    Status fits = check_route(context, exchange);
    if (!fits.ok()) {
      co_await write_status(context, exchange, fits);
      co_return;
    }
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
