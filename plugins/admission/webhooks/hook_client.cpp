#include "webhooks/hook_client.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "backplane/core/json_access.hpp"
#include "backplane/types/base64.hpp"

namespace backplane::admission::webhooks {
namespace {

constexpr int kMostRepetitions = 10;  // client-go's maxRetries
constexpr std::int64_t kHttpsPort = 443;

WebhookTarget read_target(const Object& client) {
  WebhookTarget out;
  out.url = get_string(client, "url");
  const Object* service = get_object(client, "service");
  if (service == nullptr) return out;
  out.url.clear();
  out.service.ns = get_string(*service, "namespace");
  out.service.name = get_string(*service, "name");
  out.service.path = get_string(*service, "path");
  out.service.port = static_cast<int>(get_int(*service, "port").value_or(kHttpsPort));
  return out;
}

// "host:port", by which the kubeconfig names the users for webhooks.
std::string address_of(const WebhookTarget& target) {
  if (target.url.empty()) return service_server_name(target.service.ns, target.service.name) + ":" + std::to_string(target.service.port);
  const WebhookUrl url = split_webhook_url(target.url);
  const std::string authority = url.server.substr(std::min(url.server.find("://") + 3, url.server.size()));
  return authority == url.host ? authority + ":443" : authority;
}

std::string url_of(const WebhookTarget& target) {
  if (!target.url.empty()) return target.url;
  const std::string slash = target.service.path.starts_with('/') ? "" : "/";
  return "https://" + address_of(target) + slash + target.service.path;
}

std::string bundle_of(const Object& client) {
  std::string pem = from_base64(get_string(client, "caBundle")).value_or("");
  return pem.find_first_not_of(" \t\r\n") == std::string::npos ? std::string() : pem;
}

// Like client-go's checkWait.
std::optional<std::chrono::seconds> wait_before_repetition(const WebhookAnswer& answer) {
  if (answer.code != 429 && answer.code < 500) return std::nullopt;
  const std::string& text = answer.retry_after;
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || seconds < 0) return std::nullopt;
  return std::chrono::seconds(seconds);
}

void describe_call(TraceSpan& span, const std::string& url) {
  const WebhookUrl parts = split_webhook_url(url);
  span.set("http.request.method", std::string_view("POST"));
  span.set("url.full", std::string_view(url));
  span.set("server.address", std::string_view(parts.host));
}

void describe_end(TraceSpan& span, const Result<WebhookAnswer>& answer) {
  if (!answer.ok()) {
    span.fail(answer.status().message());
    return;
  }
  span.set("http.response.status_code", std::int64_t{answer->code});
  if (answer->code < 400) return;
  const std::string type = std::to_string(answer->code);
  span.set("error.type", std::string_view(type));
  span.fail("");
}

}  // namespace

HookClient::HookClient(Host& host, std::shared_ptr<ServiceResolver> services, const Object& client, const WebhookCredentials* credentials) {
  const WebhookTarget target = read_target(client);
  if (target.url.empty()) service_namespace_ = target.service.ns;
  url_ = url_of(target);
  WebhookOptions options;
  if (credentials != nullptr) {
    auto user = credentials->for_address(address_of(target));
    if (user.ok()) {
      options.connection = std::move(user->client);
      options.connection.user_agent = "kube-apiserver-admission";
      headers_ = std::move(user->headers);
    } else {
      problem_ = std::move(user.status());
    }
  }
  options.connection.certificate_authority = bundle_of(client);
  options.connection.max_connections = kMostConnections;
  options.max_answer_bytes = kMostAnswerBytes;
  client_ = std::make_unique<WebhookClient>(host, std::move(services), target, std::move(options));
}

Task<Result<WebhookAnswer>> HookClient::call_once(std::string body, Clock::time_point deadline, RequestContext* request,
                                                  const TraceSpan& span) {
  TraceSpan call(span, "HTTP POST", SpanKind::kClient);
  if (call.recorded()) describe_call(call, url_);
  Headers headers = headers_;
  call.propagate(headers);
  auto posting = client_->post_until(std::move(body), std::move(headers), deadline, request);
  auto answer = co_await std::move(posting);
  if (call.recorded()) describe_end(call, answer);
  co_return answer;
}

Task<Result<WebhookAnswer>> HookClient::call(std::string body, Clock::time_point deadline, RequestContext* request, const TraceSpan& span) {
  for (int repetition = 0;; ++repetition) {
    auto posting = call_once(body, deadline, request, span);
    auto answer = co_await std::move(posting);
    const auto wait = answer.ok() && repetition < kMostRepetitions ? wait_before_repetition(*answer) : std::nullopt;
    if (!wait || Clock::now() + *wait >= deadline) co_return answer;
    auto waiting = sleep_for(*wait);
    co_await std::move(waiting);
  }
}

}  // namespace backplane::admission::webhooks
