// The HTTP client of one webhook: its URL or service, its CA bundle, and the credentials that the configuration has for it.
//
// Thread-safety: any executor, any number of calls at once.
// Lifetime:      shared by the calls of a webhook; the host outlives it. Connections are pooled for as long as it lives.
// Errors:        upstream's text, without `failed calling webhook "name": `.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "backplane/core/json.hpp"
#include "backplane/net/webhook.hpp"
#include "backplane/points/tracing.hpp"
#include "webhooks/webhook_configuration.hpp"

namespace backplane::admission::webhooks {

class HookClient {
 public:
  using Clock = std::chrono::steady_clock;
  // A larger response ends the call with an error. A patch that replaces an object of the largest size is half as large.
  static constexpr std::size_t kMostAnswerBytes = std::size_t{8} << 20;
  // The number of concurrent calls of one webhook over HTTP/1.1; further calls wait for a connection until their deadline.
  static constexpr std::size_t kMostConnections = 100;

  // `client`: a WebhookClientConfig. `credentials`: null: anonymous.
  HookClient(Host& host, std::shared_ptr<ServiceResolver> services, const Object& client, const WebhookCredentials* credentials);

  // The reason why the credentials cannot be used; every call must then fail.
  const Status& problem() const noexcept { return problem_; }
  // Precondition: problem() is ok. Ends at `deadline` at the latest. After a response 429 or 5xx with Retry-After, the call is repeated
  // when that time has passed, as in client-go. `request`: the admitted request, for audit; may be null. `span`: the parent of the calls'
  // spans.
  Task<Result<WebhookAnswer>> call(std::string body, Clock::time_point deadline, RequestContext* request, const TraceSpan& span);
  // The namespace of the service; empty for a URL.
  const std::string& service_namespace() const noexcept { return service_namespace_; }

 private:
  Task<Result<WebhookAnswer>> call_once(std::string body, Clock::time_point deadline, RequestContext* request, const TraceSpan& span);

  std::string service_namespace_;
  std::string url_;  // for spans
  Status problem_;
  Headers headers_;
  std::unique_ptr<WebhookClient> client_;
};

}  // namespace backplane::admission::webhooks
