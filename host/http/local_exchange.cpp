#include "http/local_exchange.hpp"

#include "backplane/request.hpp"
#include "http/header_text.hpp"
#include "http/log.hpp"

namespace backplane {
namespace {

const HttpLimits& local_limits() {
  static const HttpLimits limits = [] {
    HttpLimits plain;
    plain.gzip = false;  // Nothing travels.
    return plain;
  }();
  return limits;
}

// Takes output as soon as it is there, so a writer never waits.
class CollectingPort final : public StreamPort {
 public:
  LoopbackClient::Response response;
  bool broken = false;

  void head_ready(HttpExchange& exchange) override {
    response.code = exchange.response_head().code;
    response.headers = exchange.response_head().headers;
  }
  void output_ready(HttpExchange& exchange) override { exchange.take(response.body, exchange.output_size()); }
  void body_wanted(HttpExchange&) override {}
  void body_consumed(HttpExchange&, std::size_t) override {}
  void break_off(HttpExchange& exchange) override {
    broken = true;
    exchange.lost();
  }
  void close_after(HttpExchange&) override {}
  void handler_ended(HttpExchange&) override {}
};

}  // namespace

Task<LoopbackClient::Response> run_local_request(HttpHandler& root, LocalRequest request) {
  auto port = std::make_shared<CollectingPort>();
  RequestHead head;
  head.method = std::move(request.method);
  head.target = std::move(request.target);
  head.headers = std::move(request.headers);
  head.content_length = request.body.size();
  auto exchange = std::make_shared<HttpExchange>(std::move(head), std::move(request.peer), local_limits(), *port);
  if (!request.body.empty()) exchange->body_arrived(request.body);
  exchange->body_ended();
  bool failed = false;
  {
    RequestContext context;
    context.exchange = exchange.get();
    try {
      co_await root.handle(context, *exchange);
    } catch (const std::exception& error) {
      http_log().error("a local request failed target={} error={}", exchange->target(), error.what());
      failed = true;
    }
  }
  if (failed || port->broken || !exchange->output_ended()) port->response.code = 500;
  exchange->detach();
  co_return std::move(port->response);
}

}  // namespace backplane
