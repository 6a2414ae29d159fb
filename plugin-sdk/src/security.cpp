// Bearer tokens, and what a request wants.
#include "backplane/security.hpp"

#include "backplane/http.hpp"

namespace backplane BACKPLANE_API {
namespace {

constexpr std::string_view kScheme = "bearer ";

bool has_bearer_scheme(std::string_view value) noexcept {
  if (value.size() < kScheme.size()) return false;
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char c = value[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != kScheme[i]) return false;
  }
  return true;
}

template <class Selector>
void read_selector(const std::string& text, Selector& selector, Status& error) {
  if (text.empty()) return;
  auto parsed = Selector::parse(text);
  if (parsed.ok())
    selector = std::move(*parsed);
  else
    error = std::move(parsed.status());
}

}  // namespace

Authenticator::~Authenticator() = default;
TokenAuthenticator::~TokenAuthenticator() = default;
Authorizer::~Authorizer() = default;
RuleResolver::~RuleResolver() = default;

std::string_view bearer_token(const Exchange& exchange) noexcept {
  std::string_view value = exchange.header("authorization");
  if (!has_bearer_scheme(value)) return {};
  value.remove_prefix(kScheme.size());
  return value.substr(0, value.find(' '));
}

Task<Result<std::optional<UserInfo>>> TokenAuthenticator::authenticate(RequestContext&, Exchange& exchange) {
  std::string token(bearer_token(exchange));
  if (token.empty()) co_return std::optional<UserInfo>();
  auto known = co_await authenticate_token(std::move(token), {});
  if (!known.ok()) co_return std::move(known.status());
  if (!known->has_value()) co_return std::optional<UserInfo>();
  co_return std::optional<UserInfo>(std::move((*known)->user));
}

AuthorizationAttributes authorization_attributes(const RequestContext& context) {
  const RequestInfo& info = context.info;
  AuthorizationAttributes attributes;
  attributes.user = context.user;
  attributes.verb = info.verb;
  attributes.path = info.path;
  if (!info.is_resource_request) return attributes;
  attributes.resource_request = true;
  attributes.api_group = info.api_group;
  attributes.api_version = info.api_version;
  attributes.ns = info.ns;
  attributes.resource = info.resource;
  attributes.subresource = info.subresource;
  attributes.name = info.name;
  read_selector(info.field_selector, attributes.fields, attributes.fields_error);
  read_selector(info.label_selector, attributes.labels, attributes.labels_error);
  return attributes;
}

}  // namespace BACKPLANE_API
