// The client of one webhook: POSTs a JSON document to a URL or to a service of the cluster, as upstream's webhook package does.
//
// A connection to a service uses the egress proxy of the cluster; a connection to a URL uses that of the control plane
// (--egress-selector-config-file). The service default/kubernetes:443 is this server: it is called in process, without a socket.
//
// Thread-safety: post() and post_until() on any executor.
// Lifetime:      shared; the host outlives it.
// Errors:        kServiceUnavailable `Post "URL": …`, worded like errors of Go's net/http. A response with an error code is a result, not
//                an error.
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

// The parts of "https://host:port/path"; all are empty if the text is not a URL.
struct WebhookUrl {
  std::string server;  // "https://host:port"
  std::string path;    // "/path"
  std::string host;    // without the port
};
WebhookUrl split_webhook_url(std::string_view url);

// The target of the calls: WebhookClientConfig of admissionregistration.k8s.io without its CA bundle.
struct WebhookTarget {
  std::string url;  // empty: `service` is used
  struct Service {
    std::string ns, name;
    std::string path;  // a missing leading slash is added
    int port = 443;
  } service;
};

// Pauses between attempts, as in wait.Backoff. The defaults are those of upstream's authentication and authorization webhooks, except for
// the number of attempts.
struct WebhookRetries {
  int attempts = 1;  // number of attempts, including the first; at least 1
  std::chrono::milliseconds first_pause{500};
  double factor = 1.5;  // factor from each pause to the next one
  double jitter = 0.2;  // each pause is longer by a random share of itself, at most this share
};
// Returns the pause after attempt `attempt`, counted from 0, including its random part.
std::chrono::nanoseconds retry_pause(const WebhookRetries& retries, int attempt);

// The response of the webhook, with any HTTP code.
struct WebhookAnswer {
  int code = 0;
  std::string content_type;  // empty: the response has no such header
  std::string body;
  std::string retry_after = {};  // the header; empty: the response has no such header
};

// The settings of the calls.
struct WebhookOptions {
  WebhookOptions();
  // CA bundle, client certificate, token, user agent and limits.  The client sets server, dial and tls_server_name from the target.
  ClientConfig connection;
  std::chrono::milliseconds timeout{30'000};  // the limit of one attempt
  bool send_timeout = true;                   // send the limit as the query "?timeout=30s"
  WebhookRetries retries;
  std::size_t max_answer_bytes = std::size_t{64} << 20;  // a larger response is an error
  // Called after each attempt, for metrics; `code` is 0 if there was no response. Any executor.
  std::function<void(int code, std::chrono::nanoseconds took)> on_attempt;
};

// Construct it once for each webhook and keep it, because it pools its connections.
class WebhookClient {
 public:
  // `services` resolves the address of a service; it may be null only if the target is a URL. `host` outlives the client.
  WebhookClient(Host& host, std::shared_ptr<ServiceResolver> services, WebhookTarget target, WebhookOptions options = {});

  // Sends `body` as application/json, with the additional headers `headers`. An attempt is repeated if the connection was reset or lost, or
  // if the response is 429, 500 or 504 or has a Retry-After header. Returns the response or the error of the last attempt.
  Task<Result<WebhookAnswer>> post(std::string body, Headers headers = {});
  // Like post(), with only one attempt, which ends at `deadline` at the latest. The query "?timeout=" is the remaining time, rounded up to
  // whole seconds. `request`: flaws of the server's certificate are added to the audit events of this request; null: they are not recorded.
  Task<Result<WebhookAnswer>> post_until(std::string body, Headers headers, std::chrono::steady_clock::time_point deadline,
                                         RequestContext* request = nullptr);

 private:
  struct Place {
    std::shared_ptr<HttpClient> client;
    std::string host;    // the Host header; empty: the host of the server
    std::string url;     // the URL in messages
    std::string target;  // the request target
  };
  struct Attempt {
    Result<WebhookAnswer> answer;
    bool may_be_repeated = false;
  };
  bool is_this_server() const;
  // `timeout` is sent as the query. The service must be resolved before `deadline`.
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
