#include "proxy_handler.hpp"

#include <algorithm>

#include <backplane/proxy.hpp>

namespace backplane {
namespace {

// Discovery is small and cheap: who does not answer by then is not worth waiting for.
constexpr std::chrono::seconds kDiscoveryTime{5};

Task<void> answer_text(Exchange& exchange, int code, std::string text) {
  exchange.set_response_header("X-Content-Type-Options", "nosniff");
  std::vector<SharedBytes> body;
  body.emplace_back(text + "\n");
  auto responding = exchange.respond(code, "text/plain; charset=utf-8", std::move(body));
  co_await std::move(responding);
}

// Whatever it was: the server behind could not be used.
Task<void> answer_unavailable(RequestContext&, Exchange& exchange, Status status) {
  auto answering = answer_text(exchange, 503, status.message());
  co_await std::move(answering);
}

// "/apis/group/version" itself.
bool is_discovery(const RequestInfo& info) {
  std::string_view path = info.path;
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return !info.is_resource_request && std::count(path.begin(), path.end(), '/') == 2;
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

ProxyCall call_to(std::shared_ptr<HttpClient> client, const std::string& address, const RequestContext& context, const Exchange& exchange) {
  ProxyCall call;
  call.backend = std::move(client);
  call.target = exchange.target();
  call.headers = identity_headers(context.user);
  call.forwarded_host = address;
  call.forwarded_proto = "https";
  if (is_discovery(context.info)) call.timeout = kDiscoveryTime;
  call.answer_error = answer_unavailable;
  return call;
}

void take_out_claims(const IdentityNames& identity, const Exchange& exchange, ProxyCall& call) {
  for (const auto& [name, value] : exchange.headers()) {
    if (identity.claims(name)) call.headers.emplace_back(name, "");
  }
}

}  // namespace

IdentityNames::IdentityNames(Host& host) {
  for (const std::string_view flag : {"requestheader-username-headers", "requestheader-uid-headers", "requestheader-group-headers"}) {
    add_words(host, flag, names);
  }
  add_words(host, "requestheader-extra-headers-prefix", prefixes);
}

bool IdentityNames::claims(std::string_view header) const {
  if (names.empty() && prefixes.empty()) return false;
  const std::string plain = small(header);
  return std::find(names.begin(), names.end(), plain) != names.end() ||
         std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& prefix) { return plain.starts_with(prefix); });
}

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
        ProxyCall call = call_to(std::move(*client), *address, context, exchange);
        call.reject_redirects = state->reject_redirects;
        take_out_claims(*state->identity, exchange, call);
        auto passing = proxy(context, exchange, std::move(call));
        co_await std::move(passing);
        co_return;
      }
      code = 500;
      problem = client.status().message();
    }
  }
  auto answering = answer_text(exchange, code, std::move(problem));
  co_await std::move(answering);
}

}  // namespace backplane
