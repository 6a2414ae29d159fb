#include "backplane/kit/front_proxy.hpp"

#include <algorithm>

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

constexpr std::size_t kMaxConnections = 64, kMaxLasting = 8192;

// Sends a 503 for every error: any error means that the backend was not available.
Task<void> answer_unavailable(RequestContext&, Exchange& exchange, Status status) {
  auto answering = answer_text(exchange, 503, status.message());
  co_await std::move(answering);
}

std::string small(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

void add_words(Host& host, std::string_view flag, std::vector<std::string>& out) {
  const std::string text = host.flag(flag).value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    if (comma > at) out.push_back(small(std::string_view(text).substr(at, comma - at)));
    at = comma + 1;
  }
}

}  // namespace

ClientConfig front_proxy_client(Host& host) {
  ClientConfig out;
  out.client_certificate_file = host.flag("proxy-client-cert-file").value_or("");
  out.client_key_file = host.flag("proxy-client-key-file").value_or("");
  out.user_agent = "kube-apiserver/backplane";
  out.max_connections = kMaxConnections;
  out.max_lasting_connections = kMaxLasting;
  out.call_timeout = std::chrono::milliseconds(0);
  return out;
}

FrontProxy::FrontProxy(Host& host) {
  for (const std::string_view flag : {"requestheader-username-headers", "requestheader-uid-headers", "requestheader-group-headers"}) {
    add_words(host, flag, names_);
  }
  add_words(host, "requestheader-extra-headers-prefix", prefixes_);
}

bool FrontProxy::claims(std::string_view header) const {
  if (names_.empty() && prefixes_.empty()) return false;
  const std::string plain = small(header);
  return std::find(names_.begin(), names_.end(), plain) != names_.end() ||
         std::any_of(prefixes_.begin(), prefixes_.end(), [&](const std::string& prefix) { return plain.starts_with(prefix); });
}

ProxyCall FrontProxy::call(std::shared_ptr<HttpClient> backend, const std::string& address, const RequestContext& context,
                           const Exchange& exchange) const {
  ProxyCall call;
  call.backend = std::move(backend);
  call.target = exchange.target();
  call.headers = identity_headers(context.user);
  for (const auto& [name, value] : exchange.headers()) {
    if (claims(name)) call.headers.emplace_back(name, "");
  }
  call.forwarded_host = address;
  call.forwarded_proto = "https";
  call.answer_error = answer_unavailable;
  return call;
}

Task<void> answer_text(Exchange& exchange, int code, std::string text) {
  exchange.set_response_header("X-Content-Type-Options", "nosniff");
  std::vector<SharedBytes> body;
  body.emplace_back(text + "\n");
  auto responding = exchange.respond(code, "text/plain; charset=utf-8", std::move(body));
  co_await std::move(responding);
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
