#include "net/proxy/headers.hpp"

#include <algorithm>
#include <array>

namespace backplane::proxying {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool begins_with(std::string_view text, std::string_view lower_prefix) {
  return text.size() >= lower_prefix.size() && same_name(text.substr(0, lower_prefix.size()), lower_prefix);
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

template <class Each>
void for_each_token(std::string_view list, Each each) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    const std::string_view token = trim(list.substr(0, comma));
    if (!token.empty()) each(token);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
}

// Headers that apply to one connection, not to the request (RFC 9110, 7.6.1).
bool is_hop_by_hop(std::string_view name) {
  constexpr std::array<std::string_view, 10> kNames = {
      "connection", "proxy-connection",  "keep-alive", "proxy-authenticate", "proxy-authorization", "te",
      "trailer",    "transfer-encoding", "upgrade",    "http2-settings"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view each) { return same_name(name, each); });
}

// Headers that contain the client's credentials or an identity that the client claims.
bool is_credential(std::string_view name) {
  return same_name(name, "authorization") || begins_with(name, "x-remote-") || begins_with(name, "impersonate-");
}

// Headers that the proxy sets.
bool is_own(std::string_view name) {
  return same_name(name, "host") || same_name(name, "content-length") || same_name(name, "expect") || same_name(name, "x-forwarded-for") ||
         same_name(name, "audit-id");
}

bool is_forwarded(std::string_view name) {
  return same_name(name, "x-forwarded-uri") || same_name(name, "x-forwarded-host") || same_name(name, "x-forwarded-proto");
}

bool is_cors(std::string_view name) {
  constexpr std::string_view kAllow = "access-control-allow-";
  if (!begins_with(name, kAllow)) return false;
  name.remove_prefix(kAllow.size());
  return same_name(name, "credentials") || same_name(name, "headers") || same_name(name, "methods") || same_name(name, "origin");
}

bool before(std::string_view left, std::string_view right) {
  return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(),
                                      [](char a, char b) { return lower(a) < lower(b); });
}

// A sorted set of names, because a client may send a hundred thousand headers, and as many names in its Connection header.
class Names {
 public:
  void add(std::string_view name) { names_.push_back(name); }
  // Call it before the first look-up.
  void end() { std::sort(names_.begin(), names_.end(), before); }
  bool has(std::string_view name) const { return std::binary_search(names_.begin(), names_.end(), name, before); }

 private:
  std::vector<std::string_view> names_;  // views into headers that do not change during the lifetime of the set
};

// Returns the names of headers in the Connection headers.
Names named_by_connection(const Headers& headers) {
  Names names;
  for (const auto& [name, value] : headers) {
    if (!same_name(name, "connection")) continue;
    for_each_token(value, [&](std::string_view token) { names.add(token); });
  }
  names.end();
  return names;
}

Names replaced_by(const ProxyCall& call) {
  Names names;
  for (const Header& each : call.headers) names.add(each.first);
  names.end();
  return names;
}

// Removes bearer tokens from a list of WebSocket protocols: WebSocket clients in browsers send their token as a protocol.
std::string without_tokens(std::string_view protocols) {
  std::string out;
  for_each_token(protocols, [&](std::string_view protocol) {
    if (begins_with(protocol, "base64url.bearer.authorization.k8s.io.")) return;
    out.append(out.empty() ? "" : ", ").append(protocol);
  });
  return out;
}

std::string_view without_port(std::string_view address) {
  const auto colon = address.rfind(':');
  std::string_view host = colon == std::string_view::npos ? address : address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host;
}

void add_forwarded_for(Headers& out, const Exchange& exchange) {
  std::string line;
  for (const auto& [name, value] : exchange.headers()) {
    if (same_name(name, "x-forwarded-for")) line.append(line.empty() ? "" : ", ").append(value);
  }
  const std::string_view client = without_port(exchange.remote_address());
  if (!client.empty() && client != "@") line.append(line.empty() ? "" : ", ").append(client);
  if (!line.empty()) out.emplace_back("X-Forwarded-For", std::move(line));
}

void add_forwarded(Headers& out, const ProxyCall& call) {
  if (!call.forwards_uri) return;
  out.emplace_back("X-Forwarded-Uri", call.path_prefix + call.target.substr(0, call.target.find('?')));
  if (!call.forwarded_host.empty()) out.emplace_back("X-Forwarded-Host", call.forwarded_host);
  if (!call.forwarded_proto.empty()) out.emplace_back("X-Forwarded-Proto", call.forwarded_proto);
}

// Rewrites a Location at the backend's host to a path of the proxy. Returns any other Location unchanged (proxy.Transport.rewriteURL).
std::string rewritten(std::string_view location, const ProxyCall& call, std::string_view client_host) {
  std::string_view rest = location;
  std::string_view host;
  const auto scheme = rest.find("://");
  const bool absolute = scheme != std::string_view::npos && scheme < rest.find_first_of("/?#");
  if (absolute || rest.starts_with("//")) {
    rest.remove_prefix(absolute ? scheme + 3 : 2);
    host = rest.substr(0, rest.find_first_of("/?#"));
    rest.remove_prefix(host.size());
  }
  const std::string_view backend = call.forwarded_host.empty() ? std::string_view(call.host) : std::string_view(call.forwarded_host);
  const bool other_host = !host.empty() && host != backend && host != client_host;
  if (other_host || (!rest.starts_with('/') && host.empty())) return std::string(location);
  std::string out;
  if (!call.forwarded_host.empty()) out = call.forwarded_proto + "://" + call.forwarded_host;
  if (!rest.starts_with(call.path_prefix)) out += call.path_prefix;
  return out.append(rest);
}

}  // namespace

bool same_name(std::string_view left, std::string_view right) noexcept {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](char a, char b) { return lower(a) == lower(b); });
}

std::string_view first_of(const Headers& headers, std::string_view name) noexcept {
  for (const auto& [each, value] : headers) {
    if (same_name(each, name)) return value;
  }
  return {};
}

bool names_upgrade_to(const Headers& headers, std::string_view protocol) {
  bool found = false;
  for (const auto& [name, value] : headers) {
    if (same_name(name, "upgrade")) for_each_token(value, [&](std::string_view token) { found = found || same_name(token, protocol); });
  }
  return found;
}

Headers request_headers(const RequestContext& context, const Exchange& exchange, ProxyCall& call, bool upgrade) {
  Headers out;
  out.reserve(exchange.headers().size() + call.headers.size() + 6);
  const Names dropped = named_by_connection(exchange.headers());
  const Names replaced = replaced_by(call);
  for (const auto& [name, value] : exchange.headers()) {
    if (is_own(name) || is_credential(name) || replaced.has(name) || (call.forwards_uri && is_forwarded(name))) continue;
    if (is_hop_by_hop(name) || dropped.has(name)) continue;
    std::string kept = same_name(name, "sec-websocket-protocol") ? without_tokens(value) : value;
    if (!kept.empty() || value.empty()) out.emplace_back(name, std::move(kept));
  }
  for (auto& header : call.headers) {
    if (!header.second.empty()) out.push_back(std::move(header));
  }
  if (!call.host.empty()) out.emplace_back("Host", call.host);
  if (!context.audit_id.empty()) out.emplace_back("Audit-Id", context.audit_id);
  if (upgrade) {
    out.emplace_back("Connection", "Upgrade");
    out.emplace_back("Upgrade", exchange.header("upgrade"));
  } else {
    add_forwarded(out, call);
  }
  add_forwarded_for(out, exchange);
  return out;
}

Headers answer_headers(const Headers& headers, const ProxyCall& call, std::string_view client_host) {
  Headers out;
  out.reserve(headers.size());
  const Names dropped = named_by_connection(headers);
  for (const auto& [name, value] : headers) {
    if (is_hop_by_hop(name) || is_cors(name) || dropped.has(name)) continue;
    if (same_name(name, "content-length") || same_name(name, "content-type") || same_name(name, "date")) continue;
    const bool location = call.forwards_uri && same_name(name, "location") && !value.empty();
    out.emplace_back(name, location ? rewritten(value, call, client_host) : value);
  }
  return out;
}

}  // namespace backplane::proxying
