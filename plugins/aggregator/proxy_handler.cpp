#include "proxy_handler.hpp"

#include <algorithm>

#include <backplane/net/certificate_flaws.hpp>
#include <backplane/net/proxy.hpp>
#include <backplane/points/tracing.hpp>

namespace backplane {
namespace {

// Discovery is small and cheap, so a server that has not responded after this time counts as unreachable.
constexpr std::chrono::seconds kDiscoveryTime{5};

// Returns true for a request of "/apis/GROUP/VERSION" itself.
bool is_discovery(const RequestInfo& info) {
  std::string_view path = info.path;
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return !info.is_resource_request && std::count(path.begin(), path.end(), '/') == 2;
}

// Records, for the audit events of one request, the flaws of the certificate of the aggregated server.
class AddressRecordingClient final : public HttpClient {
 public:
  AddressRecordingClient(std::shared_ptr<HttpClient> client, RequestContext& context, std::string host)
      : client_(std::move(client)), context_(context), host_(std::move(host)) {}

  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    auto calling = client_->call(std::move(call));
    auto answer = co_await std::move(calling);
    note_certificate_flaws(context_, host_, answer);
    co_return answer;
  }

 private:
  const std::shared_ptr<HttpClient> client_;
  RequestContext& context_;  // lives until the request has been forwarded
  const std::string host_;
};

std::shared_ptr<HttpClient> noted_client(std::shared_ptr<HttpClient> client, RequestContext& context, const std::string& address) {
  if (context.audit == nullptr) return client;
  return std::make_shared<AddressRecordingClient>(std::move(client), context, address);
}

// Returns the name of the span of the call to the aggregated server. Names of spans must be literals.
const char* client_span_name(std::string_view method) {
  constexpr std::pair<std::string_view, const char*> kNames[] = {
      {"GET", "HTTP GET"},       {"POST", "HTTP POST"}, {"PUT", "HTTP PUT"},         {"PATCH", "HTTP PATCH"},
      {"DELETE", "HTTP DELETE"}, {"HEAD", "HTTP HEAD"}, {"OPTIONS", "HTTP OPTIONS"},
  };
  for (const auto& [known, name] : kNames) {
    if (known == method) return name;
  }
  return "HTTP";
}

void describe_call(TraceSpan& span, const RequestContext& context, const Exchange& exchange, const std::string& address) {
  const std::string url = "https://" + address + context.info.path;
  span.set("http.request.method", exchange.method());
  span.set("url.full", std::string_view(url));
  span.set("server.address", std::string_view(address).substr(0, address.rfind(':')));
}

void describe_end(TraceSpan& span, int code) {
  span.set("http.response.status_code", std::int64_t{code});
  if (code >= 400) span.fail("");
}

}  // namespace

Task<void> ProxyHandler::handle(RequestContext& context, Exchange& exchange) {
  const auto state = state_;
  int code = 503;
  std::string problem = "service unavailable";
  if (context.user->name.empty()) {
    code = 500;
    problem = "missing user";
  } else if (state->available.load(std::memory_order_acquire)) {
    auto resolving = state->backend->resolve();
    Result<std::string> address = co_await std::move(resolving);
    if (address.ok()) {
      auto client = state->backend->counted_client(*address);
      if (client.ok()) {
        ProxyCall call = state->front->call(noted_client(std::move(*client), context, *address), *address, context, exchange);
        call.reject_redirects = state->reject_redirects;
        if (is_discovery(context.info)) call.timeout = kDiscoveryTime;
        TraceSpan span(&context, client_span_name(exchange.method()), SpanKind::kClient);
        if (span.recorded()) describe_call(span, context, exchange, *address);
        span.propagate(call.headers);
        auto passing = proxy(context, exchange, std::move(call));
        co_await std::move(passing);
        if (span.recorded()) describe_end(span, exchange.response_code());
        co_return;
      }
      code = 500;
      problem = client.status().message();
    }
  }
  auto answering = kit::answer_text(exchange, code, std::move(problem));
  co_await std::move(answering);
}

}  // namespace backplane
