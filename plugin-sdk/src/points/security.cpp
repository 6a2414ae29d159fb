// Bearer tokens, and the attributes of a request for authorization.
#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"

#include <algorithm>

#include "backplane/points/http.hpp"
#include "backplane/types/base64.hpp"

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

// Returns the token that a browser sends as a WebSocket protocol, because browsers cannot set headers:
// base64url.bearer.authorization.k8s.io.<base64url without padding>.
std::string websocket_token(std::string_view protocols) {
  constexpr std::string_view kProtocol = "base64url.bearer.authorization.k8s.io.";
  while (!protocols.empty()) {
    const std::size_t comma = std::min(protocols.find(','), protocols.size());
    std::string_view protocol = protocols.substr(0, comma);
    protocols.remove_prefix(std::min(comma + 1, protocols.size()));
    while (protocol.starts_with(' ')) protocol.remove_prefix(1);
    while (protocol.ends_with(' ')) protocol.remove_suffix(1);
    if (!protocol.starts_with(kProtocol)) continue;
    std::string text(protocol.substr(kProtocol.size()));
    if (text.find_first_of("+/=") != std::string::npos) return {};
    std::replace(text.begin(), text.end(), '-', '+');
    std::replace(text.begin(), text.end(), '_', '/');
    text.resize((text.size() + 3) / 4 * 4, '=');
    return from_base64(text).value_or("");
  }
  return {};
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

std::string bearer_token(const Exchange& exchange) {
  std::string_view value = exchange.header("authorization");
  if (!has_bearer_scheme(value)) return websocket_token(exchange.header("sec-websocket-protocol"));
  value.remove_prefix(kScheme.size());
  return std::string(value.substr(0, value.find(' ')));
}

std::optional<AuthenticationResult> Authenticator::authenticate_now(RequestContext&, const Exchange&) { return std::nullopt; }

std::optional<AuthenticationResult> TokenAuthenticator::authenticate_now(RequestContext&, const Exchange& exchange) {
  const std::string token = bearer_token(exchange);
  if (token.empty()) return AuthenticationResult(std::nullopt);
  return authenticate_token_now(token, {});
}

std::optional<AuthenticationResult> TokenAuthenticator::authenticate_token_now(std::string_view, const std::vector<std::string>&) {
  return std::nullopt;
}

Task<AuthenticationResult> TokenAuthenticator::authenticate(RequestContext&, Exchange& exchange) {
  std::string token = bearer_token(exchange);
  if (token.empty()) co_return std::optional<AuthenticationResponse>();
  auto known = co_await authenticate_token(std::move(token), {});
  co_return known;
}

RequestView::RequestView(const RequestContext& context) noexcept
    : user(*context.user),
      verb(context.info.verb),
      resource_request(context.info.is_resource_request),
      path(context.info.path),
      info_(&context.info) {
  if (!resource_request) return;
  const RequestInfo& info = context.info;
  api_group = info.api_group;
  api_version = info.api_version;
  ns = info.ns;
  resource = info.resource;
  subresource = info.subresource;
  name = info.name;
}

RequestView::RequestView(const AuthorizationAttributes& attributes) noexcept
    : user(*attributes.user),
      verb(attributes.verb),
      resource_request(attributes.resource_request),
      path(attributes.path),
      api_group(attributes.api_group),
      api_version(attributes.api_version),
      ns(attributes.ns),
      resource(attributes.resource),
      subresource(attributes.subresource),
      name(attributes.name),
      attributes_(&attributes) {}

bool RequestView::has_selectors() const noexcept {
  if (attributes_ == nullptr) return resource_request && !(info_->field_selector.empty() && info_->label_selector.empty());
  return !attributes_->fields.empty() || !attributes_->labels.empty() || !attributes_->fields_error.ok() || !attributes_->labels_error.ok();
}
Result<FieldSelector> RequestView::field_selector() const {
  if (attributes_ == nullptr) return resource_request ? FieldSelector::parse(info_->field_selector) : FieldSelector();
  if (attributes_->fields.empty() && !attributes_->fields_error.ok()) return attributes_->fields_error;
  return attributes_->fields;
}
Result<LabelSelector> RequestView::label_selector() const {
  if (attributes_ == nullptr) return resource_request ? LabelSelector::parse(info_->label_selector) : LabelSelector();
  if (attributes_->labels.empty() && !attributes_->labels_error.ok()) return attributes_->labels_error;
  return attributes_->labels;
}

std::optional<AuthorizerResult> Authorizer::decide_now(const RequestView&) const { return std::nullopt; }
Task<AuthorizerResult> Authorizer::authorize(const AuthorizationAttributes& attributes) {
  auto decided = decide_now(RequestView(attributes));
  if (!decided)
    co_return AuthorizerResult{Decision::kNoOpinion, "",
                               internal_error("authorizer " + std::string(name()) + " overrides neither decide_now() nor authorize()")};
  co_return std::move(*decided);
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
