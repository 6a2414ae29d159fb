#include "app/loopback_client.hpp"

#include "http/local_exchange.hpp"

namespace backplane {

Task<LoopbackClient::Response> ChainLoopbackClient::request(std::string method, std::string target, Headers headers, std::string body) {
  LocalRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.headers = std::move(headers);
  request.body = std::move(body);
  // This user agent is served to the last while the server drains: hooks must be able to clean up.
  request.headers.emplace_back("User-Agent", "kube-apiserver/backplane");
  Response response = co_await run_local_request(chain_, std::move(request));
  co_return response;
}

}  // namespace backplane
