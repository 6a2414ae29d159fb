// The client of one webhook: POSTs a JSON document to a URL or to a service of the cluster, as upstream's webhook package does.
//
// A service is dialled through the egress proxy of the cluster, a URL through that of the control plane (--egress-selector-config-file).
// The service default/kubernetes:443 is this server: it is called in process, without a socket.
// Thread-safety: post() on any executor.
// Lifetime:      shared; the host outlives it.
// Errors:        kServiceUnavailable `Post "URL": …`, worded like Go's net/http. A response with an error code is a result, not an error.
// Source:        k8s.io/apiserver/pkg/util/webhook.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/net/client.hpp"
#include "backplane/net/service_resolver.hpp"

namespace backplane BACKPLANE_API {

class Host;
class RequestContext;

// The parts of "https://host:port/path"; empty if the text is no URL.
struct WebhookUrl {
  std::string server;  // "https://host:port"
  std::string path;    // "/path"
  std::string host;    // without the port
};
WebhookUrl split_webhook_url(std::string_view url);

// The target of the calls: WebhookClientConfig of admissionregistration.k8s.io, without its CA bundle.
struct WebhookTarget {
  std::string url;  // empty: `service` is used
  struct Service {
    std::string ns, name;
    std::string path;  // a missing leading slash is added
    int port = 443;
  } service;
};

// Pauses between attempts, as wait.Backoff has them; the defaults are those of upstream's authentication and authorization webhooks, except
// for the number of attempts.
struct WebhookRetries {
  int attempts = 1;  // in total, at least 1
  std::chrono::milliseconds first_pause{500};
  double factor = 1.5;  // factor from each pause to the next one
  double jitter = 0.2;  // a pause is up to this share longer, at random
};
// The pause after attempt `attempt`, counted from 0, with its random part.
std::chrono::nanoseconds retry_pause(const WebhookRetries& retries, int attempt);

// The response of the webhook, with any HTTP code.
struct WebhookAnswer {
  int code = 0;
  std::string content_type;  // empty: the answer has none
  std::string body;
  std::string retry_after = {};  // the header; empty: the answer has none
};

// The settings of the calls.
struct WebhookOptions {
  WebhookOptions();
  // CA bundle, client certificate, token, user agent and limits.  server, dial and tls_server_name are set from the target.
  ClientConfig connection;
  std::chrono::milliseconds timeout{30'000};  // of one attempt
  bool send_timeout = true;                   // as the query "?timeout=30s"
  WebhookRetries retries;
  std::size_t max_answer_bytes = std::size_t{64} << 20;  // a larger response is an error
  // Called after each attempt, for metrics; `code` is 0 if there was no response. Any executor.
  std::function<void(int code, std::chrono::nanoseconds took)> on_attempt;
};

// Construct it once for each webhook and keep it: its connections are pooled.
class WebhookClient {
 public:
  // `services` finds the address of a service; null only if the target is a URL. `host` outlives the client.
  WebhookClient(Host& host, std::shared_ptr<ServiceResolver> services, WebhookTarget target, WebhookOptions options = {});

  // Sends `body` as application/json, with `headers` added. An attempt is repeated if the connection was reset or lost, or if the response
  // is 429, 500 or 504 or has a Retry-After. The last attempt's response or error is returned.
  Task<Result<WebhookAnswer>> post(std::string body, Headers headers = {});
  // The same in one attempt that ends at `deadline` at the latest. "?timeout=" is the remaining time, rounded up to whole seconds.
  // `request`: flaws of the server's certificate are added to its audit events; null: not added.
  Task<Result<WebhookAnswer>> post_until(std::string body, Headers headers, std::chrono::steady_clock::time_point deadline,
                                         RequestContext* request = nullptr);

 private:
  struct Place {
    std::shared_ptr<HttpClient> client;
    std::string host;    // the Host header; empty: that of the server
    std::string url;     // as messages name it
    std::string target;  // of the request
  };
  struct Attempt {
    Result<WebhookAnswer> answer;
    bool may_be_repeated = false;
  };
  bool is_this_server() const;
  // `timeout`: sent as the query. Looking up the service ends at `deadline`.
  Task<Result<Place>> find_place(std::chrono::milliseconds timeout, std::chrono::steady_clock::time_point deadline);
  // `tls_name` is empty for a URL.
  Result<std::shared_ptr<HttpClient>> client_of(const std::string& server, const std::string& tls_name, bool http2);
  Task<Attempt> attempt(std::string body, Headers headers, std::chrono::steady_clock::time_point deadline,
                        std::chrono::milliseconds timeout, RequestContext* request);

  Host& host_;
  const std::shared_ptr<ServiceResolver> services_;
  const WebhookTarget target_;
  const WebhookOptions options_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<HttpClient>> clients_;  // by server
};

}  // namespace BACKPLANE_API
