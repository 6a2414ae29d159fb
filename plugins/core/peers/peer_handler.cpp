#include "peers/peer_handler.hpp"

#include <random>

#include "backplane/core/metrics.hpp"
#include "peers/peer_proxy.hpp"

namespace backplane::core {
namespace {

void count_error(std::string_view type, const GroupVersionResource& resource) {
  static Metric& errors =
      Metric::counter("apiserver_peer_proxy_errors_total", "Requests that could not be forwarded to a peer, by the step that failed.",
                      {"type", "group", "version", "resource"});
  errors.add({type, resource.group, resource.version, resource.resource});
}

const std::string& any_of(const std::vector<std::string>& addresses) {
  thread_local std::minstd_rand random{std::random_device{}()};
  return addresses[random() % addresses.size()];
}

}  // namespace

void count_rerouted(int code, const GroupVersionResource& resource) {
  static Metric& requests =
      Metric::counter("apiserver_rerouted_request_total",
                      "Requests forwarded to a peer because this server does not serve the resource; the label is empty for discovery.",
                      {"code", "group", "version", "resource"});
  requests.add({std::to_string(code), resource.group, resource.version, resource.resource});
}

Task<std::vector<std::string>> PeerHandler::addresses() const {
  std::vector<std::string> out;
  for (const std::string& server : servers_) {
    auto resolving = proxy_->address_of(server);
    auto address = co_await std::move(resolving);
    if (address.ok()) out.push_back(std::move(*address));
  }
  co_return out;
}

Task<void> PeerHandler::handle(RequestContext& context, Exchange& exchange) {
  auto resolving = addresses();
  const std::vector<std::string> found = co_await std::move(resolving);
  if (found.empty()) {
    count_error("endpoint_resolution", resource_);
    auto refusing =
        answer_with_status(context, exchange, service_unavailable("Error getting ip and port info of the remote server while proxying"));
    co_await std::move(refusing);
    co_return;
  }
  const std::string& address = any_of(found);
  auto client = proxy_->client_at(address);
  if (!client.ok()) {
    count_error("proxy_transport", resource_);
    auto refusing = kit::answer_text(exchange, 503, client.status().message());
    co_await std::move(refusing);
    co_return;
  }
  ProxyCall call = proxy_->front().call(std::move(*client), address, context, exchange);
  call.headers.emplace_back(kPeerProxiedHeader, "true");
  auto passing = proxy(context, exchange, std::move(call));
  co_await std::move(passing);
  count_rerouted(exchange.response_code(), resource_);
}

}  // namespace backplane::core
