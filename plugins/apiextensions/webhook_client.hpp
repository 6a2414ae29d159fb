// Calls of one definition's conversion webhook.
//
// A service is dialled through the egress proxy of the cluster, a URL through that of the control plane (--egress-selector-config-file).
// Calls and their connections are few at once (the rest wait, no longer than their time), a call's objects and its answer are bounded.
// Thread-safety: any executor.
// Lifetime:      shared by the converters of a definition; the host outlives it.
// Errors:        code 500 without a reason, worded as upstream words them; what is wrong with the configuration is told by every call.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/net/client.hpp"
#include "conversion_review.hpp"
#include "webhook_config.hpp"

namespace backplane::apiextensions {

// Where a service is reached: "host:port".
using FindService = std::function<Task<Result<std::string>>(std::string ns, std::string name, int port)>;

class WebhookClient : public std::enable_shared_from_this<WebhookClient> {
 public:
  WebhookClient(Host& host, FindService find_service, WebhookConfig config);

  // The objects, all of type `from`, as they are in version `desired`: as many and in their order.
  Task<Result<std::vector<Object>>> convert(GroupVersionKind from, std::string desired, std::vector<Object> objects);

 private:
  struct Place {
    std::shared_ptr<HttpClient> client;
    std::string host;  // the Host header; empty: the server's own
    std::string url;   // as messages name it
    std::string target;
  };
  // Upstream calls the service `kubernetes` over the loopback connection, whatever it resolves to.
  bool is_this_server() const;
  Task<Result<Place>> find_place();
  // `tls_name` is empty for a URL.
  Result<std::shared_ptr<HttpClient>> client_of(const std::string& server, const std::string& tls_name, bool http2);
  // The body of an answer with code 200.
  Task<Result<WebhookAnswer>> call(std::string body);
  Task<ReviewAnswer> convert_part(std::shared_ptr<const ReviewQuestion> question, std::span<const Object> part);

  Host& host_;
  const FindService find_service_;
  const WebhookConfig config_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<HttpClient>> clients_;  // by server
};

}  // namespace backplane::apiextensions
