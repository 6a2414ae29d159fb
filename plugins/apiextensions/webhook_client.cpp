#include "webhook_client.hpp"

#include <strings.h>

#include <algorithm>

#include "backplane/core/metrics.hpp"
#include "backplane/net/certificate_flaws.hpp"
#include "backplane/net/egress.hpp"
#include "definition.hpp"
#include "review_decoding.hpp"

namespace backplane::apiextensions {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTimeout{30};
constexpr std::string_view kTimeoutQuery = "?timeout=30s";
constexpr std::size_t kConnections = 8;
constexpr std::size_t kMostClients = 16;  // addresses of one service
// What one call holds: so many objects, as long as they are no larger than this together.
constexpr std::size_t kObjectsPerCall = 500;
constexpr std::size_t kBytesPerCall = std::size_t{8} << 20;
constexpr std::size_t kAnswerBytes = std::size_t{64} << 20;

// A webhook's own words may be anything.
constexpr std::size_t kMessageBytes = std::size_t{16} << 10;

Status refused(std::string message) {
  if (message.size() > kMessageBytes) message.resize(kMessageBytes);
  return Status(500, Reason::kNone, std::move(message));
}

bool is_this_machine(std::string_view host) { return host == "localhost" || host.starts_with("127.") || host == "[::1]"; }

HttpCall post_of(const std::string& target, const std::string& host, std::string body) {
  HttpCall call;
  call.method = "POST";
  call.target = target;
  call.headers.push_back({"Content-Type", "application/json"});
  call.headers.push_back({"Accept", "application/json, */*"});
  if (!host.empty()) call.headers.push_back({"Host", host});
  call.body = std::move(body);
  call.deadline = Clock::now() + kTimeout;
  return call;
}

std::string_view content_type_of(const HttpAnswer& answer) {
  for (const auto& [name, value] : answer.headers()) {
    if (strcasecmp(name.c_str(), "content-type") == 0) return value;
  }
  return {};
}

Status call_problem(const std::string& url, const Status& why) { return refused("Post \"" + url + "\": " + why.message()); }

void count(ReviewFault fault, Clock::time_point since) {
  static Metric& requests =
      Metric::counter("apiserver_conversion_webhook_request_total",
                      "[ALPHA] Calls of conversion webhooks by result, and by what was wrong with them.", {"result", "failure_type"});
  static Metric& durations =
      Metric::histogram("apiserver_conversion_webhook_duration_seconds", "[ALPHA] How long calls of conversion webhooks took.",
                        {"result", "failure_type"}, {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60});
  const std::string_view result = fault == ReviewFault::kNone ? "success" : "failure";
  requests.add({result, fault_name(fault)});
  durations.observe({result, fault_name(fault)}, std::chrono::duration<double>(Clock::now() - since).count());
}

void count_conversion(const WebhookConfig& config, const GroupVersionKind& from, const std::string& desired, bool succeeded,
                      Clock::time_point since) {
  static Metric& durations =
      Metric::histogram("apiserver_crd_conversion_webhook_duration_seconds", "[ALPHA] How long conversions by a definition's webhook took.",
                        {"crd_name", "from_version", "to_version", "succeeded"}, exponential_bounds(0.001, 2, 15));
  durations.observe({config.definition, from.version, GroupVersion::parse(desired).version, succeeded ? "true" : "false"},
                    std::chrono::duration<double>(Clock::now() - since).count());
}

// How many of the objects go into the next call; one at least.
std::size_t part_size(std::span<const Object> left) {
  std::size_t bytes = 0, size = 0;
  std::string text;
  for (const Object& object : left) {
    text.clear();
    append_json(text, object);
    bytes += text.size();
    if (size > 0 && (bytes > kBytesPerCall || size == kObjectsPerCall)) break;
    ++size;
  }
  return size;
}

}  // namespace

WebhookClient::WebhookClient(Host& host, FindService find_service, WebhookConfig config)
    : host_(host), find_service_(std::move(find_service)), config_(std::move(config)) {}

Result<std::shared_ptr<HttpClient>> WebhookClient::client_of(const std::string& server, const std::string& tls_name, bool http2) {
  const std::lock_guard lock(mutex_);
  const auto found = clients_.find(server);
  if (found != clients_.end()) return found->second;
  auto egress = EgressSelector::of(host_);
  if (!egress.ok()) return std::move(egress).status();
  ClientConfig config;
  config.server = server;
  config.dial = (*egress)->dialer(tls_name.empty() ? EgressType::kControlPlane : EgressType::kCluster);
  config.certificate_authority = config_.authorities;
  config.tls_server_name = tls_name;
  // Over one connection of HTTP/2 all calls would meet one of several servers behind an address.
  config.http2 = http2;
  config.user_agent = "kube-apiserver-admission";
  config.max_connections = kConnections;
  config.connect_timeout = kTimeout;
  config.call_timeout = kTimeout;
  auto made = host_.make_client(std::move(config));
  if (!made.ok()) return std::move(made.status());
  if (clients_.size() >= kMostClients) clients_.erase(clients_.begin());
  return clients_.emplace(server, count_certificate_flaws(std::move(*made), "apiserver_webhooks")).first->second;
}

bool WebhookClient::is_this_server() const {
  if (config_.url.empty()) return config_.service.ns == "default" && config_.service.name == "kubernetes" && config_.service.port == 443;
  const WebhookUrl url = split_url(config_.url);
  return url.server == "https://kubernetes.default.svc" || url.server == "https://kubernetes.default.svc:443";
}

Task<Result<WebhookClient::Place>> WebhookClient::find_place() {
  Place place;
  std::string server, tls_name;
  bool http2 = false;
  if (config_.url.empty()) {
    const WebhookConfig::Service& service = config_.service;
    tls_name = service.name + "." + service.ns + ".svc";
    place.host = tls_name + ":" + std::to_string(service.port);
    place.target = (service.path.starts_with('/') ? "" : "/") + service.path;
    place.url = "https://" + place.host + place.target;
    auto finding = find_service_(service.ns, service.name, service.port);
    auto address = co_await std::move(finding);
    if (!address.ok() && !is_this_server()) {
      place.url += kTimeoutQuery;
      co_return call_problem(place.url, address.status());
    }
    if (address.ok()) server = "https://" + *address;
  } else {
    const WebhookUrl url = split_url(config_.url);
    server = url.server;
    http2 = is_this_machine(url.host);
    place.target = url.path.empty() ? "/" : url.path;
    place.url = url.server + url.path;
  }
  place.target += kTimeoutQuery;
  place.url += kTimeoutQuery;
  if (is_this_server()) {
    place.client = host_.client();
    co_return place;
  }
  auto client = client_of(server, tls_name, http2);
  if (!client.ok()) co_return call_problem(place.url, client.status());
  place.client = std::move(*client);
  co_return place;
}

Task<Result<WebhookAnswer>> WebhookClient::call(std::string body) {
  auto finding = find_place();
  auto place = co_await std::move(finding);
  if (!place.ok()) co_return std::move(place.status());
  HttpCall post = post_of(place->target, place->host, std::move(body));
  auto calling = place->client->call(std::move(post));
  auto answer = co_await std::move(calling);
  if (!answer.ok()) co_return call_problem(place->url, answer.status());
  const std::unique_ptr<HttpAnswer> head = std::move(*answer);
  auto reading = read_all(*head, kAnswerBytes);
  auto text = co_await std::move(reading);
  if (!text.ok()) co_return call_problem(place->url, text.status());
  const int code = head->code();
  const std::string content_type(content_type_of(*head));
  if (code < 200 || code > 206) co_return refused(error_answer_message(code, content_type, *text));
  WebhookAnswer out;
  out.code = code;
  if (!content_type.empty()) out.content_type = content_type;
  out.body = std::move(*text);
  co_return out;
}

Task<ReviewAnswer> WebhookClient::convert_part(std::shared_ptr<const ReviewQuestion> question, std::span<const Object> part) {
  const Clock::time_point began = Clock::now();
  std::string body = ask(*question, part);
  auto calling = call(std::move(body));
  auto got = co_await std::move(calling);
  ReviewAnswer answer;
  if (got.ok()) {
    answer = read_answer(*question, part, *got);
  } else {
    answer.fault = ReviewFault::kCall;
    answer.problem = "conversion webhook for " + question->from_kind + " failed: " + got.status().message();
  }
  count(answer.fault, began);
  co_return answer;
}

Task<Result<std::vector<Object>>> WebhookClient::convert(GroupVersionKind from, std::string desired, std::vector<Object> objects) {
  const auto self = shared_from_this();
  const std::string review = choose_review(config_.review_versions);
  if (review.empty()) co_return refused("no supported conversion review versions");
  const Clock::time_point began = Clock::now();
  std::vector<Object> converted;
  converted.reserve(objects.size());
  Status problem;
  while (problem.ok() && converted.size() < objects.size()) {
    const std::span<const Object> left = std::span<const Object>(objects).subspan(converted.size());
    auto question = std::make_shared<ReviewQuestion>();
    question->version = review;
    question->uid = new_uid();
    question->from_kind = kind_words(from);
    question->desired = desired;
    auto asking = convert_part(std::move(question), left.first(part_size(left)));
    ReviewAnswer answer = co_await std::move(asking);
    if (answer.fault != ReviewFault::kNone) problem = refused(std::move(answer.problem));
    std::move(answer.objects.begin(), answer.objects.end(), std::back_inserter(converted));
  }
  count_conversion(config_, from, desired, problem.ok(), began);
  if (!problem.ok()) co_return problem;
  co_return converted;
}

}  // namespace backplane::apiextensions
