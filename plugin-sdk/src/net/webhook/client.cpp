#include <strings.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "backplane/core/task_set.hpp"
#include "backplane/host.hpp"
#include "backplane/net/certificate_flaws.hpp"
#include "backplane/net/egress.hpp"
#include "backplane/net/webhook.hpp"

namespace backplane BACKPLANE_API {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kConnections = 8;
constexpr std::size_t kMostClients = 16;  // maximum number of clients: addresses of one service

bool is_this_machine(std::string_view host) { return host == "localhost" || host.starts_with("127.") || host == "[::1]"; }

// Returns the text with which Go prints a duration of whole seconds, or of milliseconds.
std::string duration_text(std::chrono::milliseconds time) {
  const auto count = time.count();
  if (count % 1000 != 0) return std::to_string(count) + "ms";
  const auto seconds = count / 1000;
  std::string out;
  if (seconds >= 3600) out += std::to_string(seconds / 3600) + "h";
  if (seconds >= 60) out += std::to_string(seconds / 60 % 60) + "m";
  return out + std::to_string(seconds % 60) + "s";
}

std::string_view header_of(const HttpAnswer& answer, const char* name) {
  for (const auto& [key, value] : answer.headers()) {
    if (strcasecmp(key.c_str(), name) == 0) return value;
  }
  return {};
}

// Returns the path that client-go requests for the path of a configuration: path.Join("/", …), which removes empty, "." and ".." segments
// and a slash at the end.
std::string requested_path(std::string_view path) {
  std::string out = std::filesystem::path("/" + std::string(path)).lexically_normal().string();
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

Status call_problem(const std::string& url, const Status& why) { return service_unavailable("Post \"" + url + "\": " + why.message()); }

// Returns the error of client-go for a response whose body ends early.
Status read_problem(const Status& why) {
  return service_unavailable("unexpected error when reading response body. Please retry. Original error: " + why.message());
}

// Owns its arguments, because resolving may wait for the first sync of an informer, longer than the call exists.
Task<Result<std::string>> resolve_service(std::shared_ptr<ServiceResolver> services, WebhookTarget::Service service) {
  auto resolving = services->resolve(service.ns, service.name, service.port);
  auto address = co_await std::move(resolving);
  co_return address;
}

// True for the errors of utilnet.IsConnectionReset and IsHTTP2ConnectionLost.
bool was_lost(const Status& why) {
  const std::string& text = why.message();
  return text.find("connection reset by peer") != std::string::npos || text.find("http2: client connection lost") != std::string::npos;
}

// True if the attempt is to be repeated (webhook.DefaultShouldRetry).
bool is_retriable(const HttpAnswer& answer) {
  const int code = answer.code();
  return code == 429 || code == 500 || code == 504 || (code > 500 && !header_of(answer, "retry-after").empty());
}

}  // namespace

std::chrono::nanoseconds retry_pause(const WebhookRetries& retries, int attempt) {
  thread_local std::minstd_rand random{std::random_device{}()};
  const double factor = std::pow(retries.factor, attempt) * (1.0 + retries.jitter * std::uniform_real_distribution(0.0, 1.0)(random));
  const std::chrono::duration<double, std::milli> pause = retries.first_pause * factor;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(pause);
}

WebhookOptions::WebhookOptions() {
  connection.user_agent = "kube-apiserver-admission";
  connection.max_connections = kConnections;
}

WebhookClient::WebhookClient(Host& host, std::shared_ptr<ServiceResolver> services, WebhookTarget target, WebhookOptions options)
    : host_(host), services_(std::move(services)), target_(std::move(target)), options_(std::move(options)) {}

Result<std::shared_ptr<HttpClient>> WebhookClient::client_of(const std::string& server, const std::string& tls_name, bool http2) {
  const std::lock_guard lock(mutex_);
  const auto found = clients_.find(server);
  if (found != clients_.end()) return found->second;
  auto egress = EgressSelector::of(host_);
  if (!egress.ok()) return std::move(egress).status();
  ClientConfig config = options_.connection;
  config.server = server;
  config.dial = (*egress)->dialer(tls_name.empty() ? EgressType::kControlPlane : EgressType::kCluster);
  config.tls_server_name = tls_name;
  // With HTTP/2, all calls would use one connection, and so would reach only one of several servers at an address.
  config.http2 = http2;
  config.connect_timeout = std::chrono::ceil<std::chrono::seconds>(options_.timeout);
  config.call_timeout = options_.timeout;
  auto made = host_.make_client(std::move(config));
  if (!made.ok()) return std::move(made.status());
  if (clients_.size() >= kMostClients) clients_.erase(clients_.begin());
  return clients_.emplace(server, count_certificate_flaws(std::move(*made), "apiserver_webhooks")).first->second;
}

bool WebhookClient::is_this_server() const {
  if (target_.url.empty()) return target_.service.ns == "default" && target_.service.name == "kubernetes" && target_.service.port == 443;
  const WebhookUrl url = split_webhook_url(target_.url);
  return url.server == "https://kubernetes.default.svc" || url.server == "https://kubernetes.default.svc:443";
}

Task<Result<WebhookClient::Place>> WebhookClient::find_place(std::chrono::milliseconds timeout, Clock::time_point deadline) {
  const std::string query = options_.send_timeout ? "?timeout=" + duration_text(timeout) : std::string();
  Place place;
  std::string server, tls_name;
  bool http2 = false;
  if (target_.url.empty()) {
    const WebhookTarget::Service& service = target_.service;
    tls_name = service_server_name(service.ns, service.name);
    place.host = tls_name + ":" + std::to_string(service.port);
    place.target = requested_path(service.path) + query;
    place.url = "https://" + place.host + place.target;
    auto finding = within(deadline - Clock::now(), resolve_service(services_, service));
    auto found = co_await std::move(finding);
    Result<std::string> address = Status(Reason::kTimeout, "context deadline exceeded");
    if (found) address = std::move(*found);
    if (!address.ok() && !is_this_server()) co_return call_problem(place.url, address.status());
    if (address.ok()) server = "https://" + *address;
  } else {
    const WebhookUrl url = split_webhook_url(target_.url);
    server = url.server;
    http2 = is_this_machine(url.host);
    place.target = requested_path(url.path) + query;
    place.url = url.server + place.target;
  }
  if (is_this_server()) {
    place.client = host_.client();
    co_return place;
  }
  auto client = client_of(server, tls_name, http2);
  if (!client.ok()) co_return call_problem(place.url, client.status());
  place.client = std::move(*client);
  co_return place;
}

Task<WebhookClient::Attempt> WebhookClient::attempt(std::string body, Headers headers, Clock::time_point deadline,
                                                    std::chrono::milliseconds timeout, RequestContext* request) {
  Attempt out;
  auto finding = find_place(timeout, deadline);
  auto place = co_await std::move(finding);
  if (!place.ok()) {
    out.answer = std::move(place.status());
    co_return out;
  }
  HttpCall call;
  call.method = "POST";
  call.target = place->target;
  call.headers = std::move(headers);
  call.headers.emplace_back("Content-Type", "application/json");
  call.headers.emplace_back("Accept", "application/json, */*");
  if (!place->host.empty()) call.headers.emplace_back("Host", place->host);
  call.body = std::move(body);
  call.deadline = deadline;
  auto calling = place->client->call(std::move(call));
  auto head = co_await std::move(calling);
  if (request != nullptr) note_certificate_flaws(*request, target_.url.empty() ? place->host : split_webhook_url(target_.url).host, head);
  if (!head.ok()) {
    out.may_be_repeated = was_lost(head.status());
    out.answer = call_problem(place->url, head.status());
    co_return out;
  }
  const std::unique_ptr<HttpAnswer> answer = std::move(*head);
  auto reading = read_all(*answer, options_.max_answer_bytes);
  auto text = co_await std::move(reading);
  if (!text.ok()) {
    out.may_be_repeated = was_lost(text.status());
    out.answer = read_problem(text.status());
    co_return out;
  }
  out.may_be_repeated = is_retriable(*answer);
  out.answer = WebhookAnswer{answer->code(), std::string(header_of(*answer, "content-type")), std::move(*text),
                             std::string(header_of(*answer, "retry-after"))};
  co_return out;
}

Task<Result<WebhookAnswer>> WebhookClient::post(std::string body, Headers headers) {
  for (int tries = 1;; ++tries) {
    const auto began = Clock::now();
    auto trying = attempt(body, headers, began + options_.timeout, options_.timeout, nullptr);
    Attempt made = co_await std::move(trying);
    if (options_.on_attempt) options_.on_attempt(made.answer.ok() ? made.answer->code : 0, Clock::now() - began);
    if (!made.may_be_repeated || tries >= options_.retries.attempts) co_return std::move(made.answer);
    auto pausing = sleep_for(retry_pause(options_.retries, tries - 1));
    co_await std::move(pausing);
  }
}

Task<Result<WebhookAnswer>> WebhookClient::post_until(std::string body, Headers headers, Clock::time_point deadline,
                                                      RequestContext* request) {
  const auto began = Clock::now();
  const auto left = std::chrono::ceil<std::chrono::seconds>(std::max(deadline - began, Clock::duration::zero()));
  auto trying = attempt(std::move(body), std::move(headers), deadline, left, request);
  Attempt made = co_await std::move(trying);
  if (options_.on_attempt) options_.on_attempt(made.answer.ok() ? made.answer->code : 0, Clock::now() - began);
  co_return std::move(made.answer);
}

}  // namespace BACKPLANE_API
