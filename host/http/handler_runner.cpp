#include "http/handler_runner.hpp"

#include "backplane/core/request.hpp"
#include "base/caught.hpp"
#include "http/log.hpp"

namespace backplane {

void HandlerRunner::run(std::shared_ptr<HttpExchange> exchange) {
  ++running_;
  auto task = serve(std::move(exchange));
  spawn_detached(executor_, std::move(task), [this] { ended(); });
}

void HandlerRunner::ended() {
  if (--running_ == 0 && on_idle_) on_idle_();
}

Task<void> HandlerRunner::serve(std::shared_ptr<HttpExchange> exchange) {
  std::string failure;
  {
    RequestContext context;
    context.exchange = exchange.get();
    try {
      co_await root_.handle(context, *exchange);
    } catch (...) {
      const Caught bug = caught();
      failure = bug.what + bug.stack;
    }
  }
  // The handler may end on another thread, where the session must not be used.
  co_await resume_on(executor_);
  if (failure.empty() && !exchange->output_ended() && !exchange->closed()) failure = "the handler ended before the response";
  if (!failure.empty()) {
    http_log().error("a request was aborted method={} target={} error={}", exchange->method(), exchange->target(), failure);
  }
  if (!exchange->output_ended()) exchange->abort();
  exchange->drop_close_callbacks();
  exchange->handler_ended();
}

}  // namespace backplane
