#include "connections/log.hpp"

#include "backplane/core/metrics.hpp"
#include "backplane/net/client.hpp"
#include "backplane/types/schema.hpp"
#include "connections/options.hpp"
#include "connections/pods.hpp"
#include "streams/text_socket.hpp"
#include "streams/websocket_server.hpp"

namespace backplane::core {
namespace {

// The number of bytes that are read of a kubelet's error response.
constexpr std::size_t kMostBytes = 50'000;

// Reads up to kMostBytes of the response body.
Task<std::string> beginning_of(HttpAnswer& answer) {
  std::string out;
  while (out.size() < kMostBytes) {
    auto some = co_await answer.read();
    if (!some.ok() || some->empty()) break;
    out.append(*some);
  }
  if (out.size() > kMostBytes) out.resize(kMostBytes);
  co_return out;
}

struct Outcome {
  int code;
  Reason reason;
  std::string_view words;  // empty: the kubelet's message
};
// Upstream's reasons and messages for error codes of the kubelet.
constexpr Outcome kOutcomes[] = {
    {401, Reason::kUnauthorized, "the server has asked for the client to provide credentials"},
    {403, Reason::kForbidden, ""},
    {404, Reason::kNotFound, "the server could not find the requested resource"},
    {405, Reason::kMethodNotAllowed, "the server does not allow this method on the requested resource"},
    {406, Reason::kNotAcceptable, ""},
    {409, Reason::kConflict, "the server reported a conflict"},
    {415, Reason::kUnsupportedMediaType, ""},
    {422, Reason::kInvalid, "the server rejected our request due to an error in our request"},
    {429, Reason::kTooManyRequests, "the server has received too many requests and has asked us to try again later"},
    {503, Reason::kServiceUnavailable, "the server is currently unable to handle the request"},
    {504, Reason::kTimeout, "the server was unable to return a response in the time allotted, but may still be processing the request"},
};

// errors.NewGenericServerResponse for pods/log.
Status kubelet_error(int code, const std::string& name, std::string text) {
  if (code == 500) return internal_error(text);
  if (code == 400) return bad_request(std::move(text));
  Reason reason = code >= 500 ? Reason::kInternalError : Reason::kNone;
  std::string words = code >= 500
                          ? "an error on the server (" + quoted(text) + ") has prevented the request from succeeding"
                          : "the server responded with the status code " + std::to_string(code) + " but did not return more information";
  for (const Outcome& each : kOutcomes) {
    if (each.code != code) continue;
    reason = each.reason;
    words = each.words.empty() ? text : std::string(each.words);
  }
  StatusDetails details;
  details.name = name;
  details.kind = "pods/log";
  return Status(code, reason, words + " ( pods/log " + name + ")").with_details(std::move(details));
}

void count_trust(bool skips) {
  static Metric& requests = Metric::counter("kube_apiserver_pod_logs_insecure_backend_total",
                                            "Requests of logs, by whether the kubelet's certificate had to be good.", {"usage"});
  requests.add({skips ? "skip_tls_allowed" : "enforce_tls"});
}

void count_distrust(std::string_view error) {
  static Metric& failures = Metric::counter("kube_apiserver_pod_logs_backend_tls_failure_total",
                                            "Log requests that failed because the kubelet's certificate could not be verified.", {});
  if (error.find("x509:") != std::string_view::npos) failures.add({});
}

// Cancels the call when the client disconnects.
class WhileListening {
 public:
  WhileListening(Exchange& exchange, std::shared_ptr<CallBreaker> breaker)
      : closed_(exchange.on_close([breaker = std::move(breaker)] { breaker->break_off(timeout("the client has disconnected", 0)); })) {}

 private:
  CloseSubscription closed_;
};

class PodLog final : public RestStorage, public StreamGetter {
 public:
  PodLog(std::shared_ptr<StandardStorage> pods, std::shared_ptr<const Kubelets> kubelets, bool streams)
      : pods_(std::move(pods)), kubelets_(std::move(kubelets)), streams_(streams) {}

  GroupVersionKind kind() const override { return pods_->kind(); }
  const Schema* schema() const override { return pods_->schema(); }
  std::vector<std::string> media_types() const override { return {"text/plain"}; }
  std::vector<ConnectParameter> parameters() const override { return log_parameters(); }

  Task<Status> get_stream(RequestContext& context, std::string name, Exchange& exchange) override {
    Executor& home = *current_executor();
    auto options = read_log_options(context.info.query);
    if (!options.ok()) co_return std::move(options).status();
    count_trust(options->skip_tls_verify);
    Status allowed = check_log_options(*options, name, streams_);
    if (!allowed.ok()) co_return allowed;
    auto pod = co_await pods_->get(context, name, GetOptions());
    co_await resume_on(home);
    if (!pod.ok()) co_return std::move(pod).status();
    const Object tree = decode(**pod, context.arena());
    auto container = choose_container(tree, options->container);
    if (!container.ok()) co_return std::move(container).status();
    if (node_of(tree).empty()) {
      // The pod has no node yet, so it has no log.
      co_await exchange.respond(204, "", {});
      co_return Status();
    }
    auto kubelet = co_await kubelets_->find(context, std::string(node_of(tree)));
    co_await resume_on(home);
    if (!kubelet.ok()) co_return std::move(kubelet).status();
    auto client = kubelets_->client(*kubelet, !options->skip_tls_verify);
    if (!client.ok()) co_return std::move(client).status();
    const std::string target = target_of(context.info.ns, name, *container, *options);
    const std::string url = kubelet->server() + target;
    Status done = co_await forward_log(exchange, *client, target, url, name);
    co_return done;
  }

 private:
  std::string target_of(const std::string& ns, const std::string& name, const std::string& container, const LogOptions& options) const {
    std::string out = escape_path("/containerLogs/" + ns + "/" + name + "/" + container);
    const std::string query = kubelet_query(options, streams_);
    if (!query.empty()) out.append("?").append(query);
    return out;
  }

  static Task<Status> forward_log(Exchange& exchange, std::shared_ptr<HttpClient> client, std::string target, std::string url,
                                  std::string name) {
    Executor& home = *current_executor();
    HttpCall call;
    call.target = target;
    call.lasting = true;
    call.breaker = std::make_shared<CallBreaker>();
    const WhileListening listening(exchange, call.breaker);
    auto answer = co_await client->call(std::move(call));
    co_await resume_on(home);
    if (!answer.ok()) count_distrust(answer.status().message());
    if (!answer.ok()) co_return Status(500, Reason::kNone, "Get " + quoted(url) + ": " + answer.status().message());
    const int code = (*answer)->code();
    if (code >= 300 && code < 400) co_return Status(500, Reason::kNone, "Get " + quoted(location_of(**answer)) + ": redirects forbidden");
    if (code < 200 || code > 206) {
      std::string text = co_await beginning_of(**answer);
      co_await resume_on(home);
      co_return kubelet_error(code, name, std::move(text));
    }
    if (is_websocket_request(exchange)) {
      Status streamed = co_await stream_to_websocket(exchange, std::move(*answer));
      co_return streamed;
    }
    Status sent = co_await copy(exchange, **answer);
    co_return sent;
  }

  static std::string location_of(const HttpAnswer& answer) {
    for (const auto& [name, value] : answer.headers()) {
      if (name == "Location" || name == "location") return value;
    }
    return {};
  }

  // Forwards each piece immediately, because a client that follows a log must not wait until the next piece arrives.
  static Task<Status> copy(Exchange& exchange, HttpAnswer& answer) {
    exchange.set_compressible(false);
    Status status = co_await exchange.start(200, "text/plain");
    while (status.ok()) {
      auto some = co_await answer.read();
      if (!some.ok()) {
        // A partial log must not look complete.
        exchange.abort();
        co_return Status();
      }
      if (some->empty()) break;
      std::vector<SharedBytes> pieces;
      pieces.emplace_back(std::move(*some));
      status = co_await exchange.write(std::move(pieces));
    }
    co_await exchange.finish();
    co_return Status();
  }

  const std::shared_ptr<StandardStorage> pods_;
  const std::shared_ptr<const Kubelets> kubelets_;
  const bool streams_;
};

}  // namespace

std::shared_ptr<RestStorage> make_pod_log(std::shared_ptr<StandardStorage> pods, std::shared_ptr<const Kubelets> kubelets, bool streams) {
  return std::make_shared<PodLog>(std::move(pods), std::move(kubelets), streams);
}

}  // namespace backplane::core
