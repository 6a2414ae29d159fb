#include "proxy_handler.hpp"

#include <algorithm>

#include <backplane/net/proxy.hpp>

namespace backplane {
namespace {

// Discovery is small and cheap: who does not answer by then is not worth waiting for.
constexpr std::chrono::seconds kDiscoveryTime{5};

// "/apis/group/version" itself.
bool is_discovery(const RequestInfo& info) {
  std::string_view path = info.path;
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return !info.is_resource_request && std::count(path.begin(), path.end(), '/') == 2;
}

}  // namespace

Task<void> ProxyHandler::handle(RequestContext& context, Exchange& exchange) {
  const auto state = state_;
  int code = 503;
  std::string problem = "service unavailable";
  if (context.user->name.empty()) {
    code = 500;
    problem = "missing user";
  } else if (state->available.load(std::memory_order_acquire)) {
    auto resolving = state->backend->resolve();
    Result<std::string> address = co_await std::move(resolving);
    if (address.ok()) {
      auto client = state->backend->counted_client(*address);
      if (client.ok()) {
        ProxyCall call = state->front->call(std::move(*client), *address, context, exchange);
        call.reject_redirects = state->reject_redirects;
        if (is_discovery(context.info)) call.timeout = kDiscoveryTime;
        auto passing = proxy(context, exchange, std::move(call));
        co_await std::move(passing);
        co_return;
      }
      code = 500;
      problem = client.status().message();
    }
  }
  auto answering = kit::answer_text(exchange, code, std::move(problem));
  co_await std::move(answering);
}

}  // namespace backplane
