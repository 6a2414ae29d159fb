#include "tracing/tracer.hpp"

#include <charconv>

#include "tracing/request_fields.hpp"

namespace backplane::tracing {
namespace {

constexpr int kServerError = 500;

std::int64_t received_at(const RequestContext& context) {
  const auto age = std::chrono::steady_clock::now() - context.received;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return (std::chrono::duration_cast<std::chrono::nanoseconds>(now) - age).count();
}

// The port of "host:port"; 0 if there is none.
std::int64_t port_of(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  std::int64_t port = 0;
  if (colon != std::string_view::npos && address.find(']', colon) == std::string_view::npos) {
    std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  }
  return port;
}

// The first address in X-Forwarded-For; without that header, the address of the peer.
std::string_view client_of(const Exchange& exchange) {
  const std::string_view forwarded = exchange.header("x-forwarded-for");
  if (forwarded.empty()) return host_of_address(exchange.remote_address());
  return forwarded.substr(0, std::min(forwarded.find(','), forwarded.size()));
}

bool has_port(std::string_view address) { return port_of(address) != 0; }

// The attributes that otelhttp sets, in the same order, followed by those of kube-apiserver.
Attributes request_attributes(const RequestContext& context, const Exchange& exchange) {
  Attributes out;
  const auto add = [&out](std::string_view key, AttributeValue value) { out.emplace_back(key, std::move(value)); };
  const std::string_view host = exchange.header("host"), peer = exchange.remote_address();
  add("server.address", std::string(has_port(host) ? host_of_address(host) : host));
  add("http.request.method", std::string(exchange.method()));
  add("url.scheme", "https");
  if (has_port(host)) add("server.port", port_of(host));
  if (!peer.empty()) add("network.peer.address", std::string(host_of_address(peer)));
  if (has_port(peer)) add("network.peer.port", port_of(peer));
  if (!context.user_agent.empty()) add("user_agent.original", context.user_agent);
  if (const auto client = client_of(exchange); !client.empty()) add("client.address", std::string(client));
  if (!context.info.path.empty()) add("url.path", context.info.path);
  add("network.protocol.version", exchange.http_major() == 2 ? "2.0" : "1.1");
  add("http.target", std::string(exchange.target()));
  add("audit-id", std::string(shown_audit_id(context)));
  return out;
}

bool is_trusted(const UserInfo& user) { return user.in_group("system:masters") || user.in_group("system:monitoring"); }

}  // namespace

std::string server_span_name(const RequestInfo& info, std::string_view method) {
  std::string out(method);
  if (!info.is_resource_request) return out;
  out.append(" /").append(info.api_prefix);
  if (!info.api_group.empty()) out.append("/").append(info.api_group);
  out.append("/").append(info.api_version);
  if (!info.ns.empty()) out.append("/namespaces/{:namespace}");
  out.append("/").append(info.resource);
  if (!info.name.empty()) out.append("/{:name}");
  if (!info.subresource.empty()) out.append("/").append(info.subresource);
  return out;
}

void Tracer::begin(const RequestContext& context, const Exchange& exchange, RequestMarks& marks) const {
  SpanData server;
  const auto named = parse_trace_headers(exchange.header("traceparent"), exchange.header("tracestate"));
  if (named && is_trusted(*context.user)) {
    server.self = *named;
    server.parent = named->span;
    server.remote_parent = true;
  } else {
    server.self.trace = new_trace_id();
    server.self.sampled = sampler_.samples(server.self.trace);
    server.link = named;
  }
  server.self.span = new_span_key();
  if (!server.self.sampled) {
    marks.join(std::move(server.self));
    return;
  }
  server.name = server_span_name(context.info, exchange.method());
  server.kind = SpanKind::kServer;
  server.begin = received_at(context);
  server.attributes = request_attributes(context, exchange);
  marks.record(std::move(server));
}

void Tracer::end(RequestMarks& marks, int code) const {
  std::vector<SpanData> spans = marks.take_spans();
  if (spans.empty()) return;
  SpanData& server = spans.front();
  if (code != 0) server.attributes.emplace_back("http.response.status_code", std::int64_t{code});
  server.failed = code >= kServerError;
  sink_(std::move(spans));
}

}  // namespace backplane::tracing
