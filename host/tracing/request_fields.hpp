// The fields that identify a request in its spans and in the log of slow requests (upstream: handlers.traceFields).
//
// Thread-safety: on the executor of the request.
#pragma once

#include <algorithm>
#include <string_view>

#include "backplane/core/request.hpp"
#include "backplane/points/http.hpp"

namespace backplane::tracing {

// The audit ID, cut to 64 bytes (upstream: GetAuditIDTruncated).
inline std::string_view shown_audit_id(const RequestContext& context) { return std::string_view(context.audit_id).substr(0, 64); }

// The host of "host:port"; an IPv6 address without its brackets.
inline std::string_view host_of_address(std::string_view address) {
  const std::string_view host = address.substr(0, std::min(address.rfind(':'), address.size()));
  return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

inline std::string_view protocol_of(const Exchange& exchange) { return exchange.http_major() == 2 ? "HTTP/2.0" : "HTTP/1.1"; }

// The scope of a request as in metrics (upstream: metrics.CleanScope).
inline std::string_view clean_scope(const RequestInfo& info) {
  if (!info.name.empty() || info.verb == "create") return "resource";
  if (!info.ns.empty()) return "namespace";
  return info.is_resource_request ? "cluster" : "";
}

// Calls `each(key, value)` for every field; `context` has an exchange.
template <class Each>
void for_each_request_field(const RequestContext& context, Each each) {
  const RequestInfo& info = context.info;
  const Exchange& exchange = *context.exchange;
  each("accept", exchange.header("accept"));
  each("audit-id", shown_audit_id(context));
  each("client", host_of_address(exchange.remote_address()));
  each("api-group", std::string_view(info.api_group));
  each("api-version", std::string_view(info.api_version));
  each("name", std::string_view(info.name));
  each("subresource", std::string_view(info.subresource));
  each("namespace", std::string_view(info.ns));
  each("protocol", protocol_of(exchange));
  each("resource", std::string_view(info.resource));
  each("scope", clean_scope(info));
  each("url", std::string_view(info.path));
  each("user-agent", std::string_view(context.user_agent));
  each("verb", std::string_view(info.verb));
}

}  // namespace backplane::tracing
