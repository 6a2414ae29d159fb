#include "security/request_header.hpp"

#include <algorithm>

#include "base/front_proxy.hpp"
#include "security/log.hpp"

namespace backplane {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string first_value(const Exchange& exchange, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string_view value = exchange.header(name);
    if (!value.empty()) return std::string(value);
  }
  return {};
}

void add_groups(const Exchange& exchange, const std::vector<std::string>& names, UserInfo& user) {
  for (const std::string& wanted : names) {
    for (const auto& [name, value] : exchange.headers()) {
      if (!value.empty() && lower(name) == lower(wanted)) user.groups.push_back(value);
    }
  }
}

// Decodes the part of a header name after the prefix. A key that is not valid percent-encoding is used unchanged.
std::string extra_key(std::string_view rest) {
  bool good = true;
  std::string key = percent_decode(rest, false, &good);
  return good ? key : std::string(rest);
}

void add_extra(const Exchange& exchange, const std::string& prefix, UserInfo& user) {
  for (const auto& [name, value] : exchange.headers()) {
    const std::string plain = lower(name);
    if (!plain.starts_with(lower(prefix))) continue;
    std::string key = extra_key(std::string_view(plain).substr(prefix.size()));
    const auto known = std::find_if(user.extra.begin(), user.extra.end(), [&](const auto& row) { return row.first == key; });
    if (known != user.extra.end()) {
      known->second.push_back(value);
    } else {
      user.extra.emplace_back(std::move(key), std::vector<std::string>(1, value));
    }
  }
}

}  // namespace

Result<std::optional<UserInfo>> user_of_request_headers(const RequestHeaderConfig& config, const Exchange& exchange) {
  if (!config.enabled()) return std::optional<UserInfo>();
  const PeerCertificate* proxy = front_proxy_certificate(exchange);
  if (proxy == nullptr) return std::optional<UserInfo>();
  const auto& allowed = config.allowed_names;
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), proxy->common_name) == allowed.end()) {
    security_log().debug("x509: subject with cn={} is not in the allowed list", proxy->common_name);
    return unauthorized();
  }
  UserInfo user;
  user.name = first_value(exchange, config.username_headers);
  if (user.name.empty()) return std::optional<UserInfo>();
  user.uid = first_value(exchange, config.uid_headers);
  add_groups(exchange, config.group_headers, user);
  for (const std::string& prefix : config.extra_prefixes) add_extra(exchange, prefix, user);
  return std::optional<UserInfo>(std::move(user));
}

}  // namespace backplane
