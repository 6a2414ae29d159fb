#include "security/authentication.hpp"

#include <algorithm>

#include "backplane/http.hpp"
#include "base/caught.hpp"
#include "security/log.hpp"
#include "security/users.hpp"
#include "security/x509.hpp"

namespace backplane {
namespace {

// A token that nobody knows is a bad credential, not the absence of one.
bool carries_token(const Exchange& exchange) { return !bearer_token(exchange).empty(); }

// Several failures as one, each text once.
Status all_of(const std::vector<Status>& failures) {
  std::vector<std::string> texts;
  std::string joined;
  for (const Status& failure : failures) {
    if (std::find(texts.begin(), texts.end(), failure.message()) != texts.end()) continue;
    joined.append(texts.empty() ? "" : ", ").append(failure.message());
    texts.push_back(failure.message());
  }
  Status out = failures.front();
  if (texts.size() > 1) out.set_message("[" + joined + "]");
  return out;
}

Status threw(std::string_view authenticator) {
  const Caught error = caught();
  security_log().error("authenticator threw authenticator={} error={}{}", authenticator, error.what, error.stack);
  return internal_error("authenticator " + std::string(authenticator) + " threw: " + error.what);
}

// An exception of a plugin is an error of that plugin alone.
Task<Result<std::optional<UserInfo>>> fenced(Authenticator& authenticator, RequestContext& context, Exchange& exchange) {
  Result<std::optional<UserInfo>> found;
  try {
    auto asking = authenticator.authenticate(context, exchange);
    found = co_await std::move(asking);
  } catch (...) {
    found = threw(authenticator.name());
  }
  co_return found;
}

Task<Result<std::optional<TokenAuthentication>>> fenced(TokenAuthenticator& tokens, std::string_view name, std::string token,
                                                        std::vector<std::string> audiences) {
  Result<std::optional<TokenAuthentication>> known;
  try {
    auto asking = tokens.authenticate_token(std::move(token), std::move(audiences));
    known = co_await std::move(asking);
  } catch (...) {
    known = threw(name);
  }
  co_return known;
}

}  // namespace

Result<UserRef> UnionAuthentication::without_credentials(const Exchange& exchange) const {
  static const UserRef anonymous = anonymous_user();
  if (carries_token(exchange) || !config_.anonymous) return unauthorized();
  return anonymous;
}

Result<std::optional<UserRef>> UnionAuthentication::of_connection(const Exchange& exchange) const {
  auto headers = user_of_request_headers(config_.request_header, exchange);
  if (headers.ok() && headers->has_value()) return std::optional<UserRef>(with_authenticated_group(std::move(**headers)));
  auto certificate = user_of_certificate(exchange);
  if (!headers.ok() && certificate.ok() && !certificate->has_value()) return std::move(headers.status());
  return certificate;
}

std::optional<Result<UserRef>> UnionAuthentication::authenticate_now(RequestContext&, Exchange& exchange) const {
  auto known = of_connection(exchange);
  if (known.ok() && known->has_value()) return Result<UserRef>(std::move(**known));
  // A plugin may still know the caller by another credential, even when the certificate was no good.
  if (!config_.plugins.empty()) return std::nullopt;
  if (!known.ok()) return Result<UserRef>(std::move(known.status()));
  return without_credentials(exchange);
}

Task<Result<UserRef>> UnionAuthentication::authenticate(RequestContext& context, Exchange& exchange) const {
  auto known = of_connection(exchange);
  bool bad_credential = !known.ok();
  if (!bad_credential && known->has_value()) co_return std::move(**known);
  for (const auto& plugin : config_.plugins) {
    auto found = co_await fenced(*plugin, context, exchange);
    if (!found.ok()) {
      security_log().debug("authenticator refused a credential authenticator={} error={}", plugin->name(), found.status().message());
      bad_credential = true;
      continue;
    }
    if (found->has_value()) co_return with_authenticated_group(std::move(**found));
  }
  if (bad_credential) co_return unauthorized();
  co_return without_credentials(exchange);
}

Task<Result<std::optional<TokenAuthentication>>> UnionTokenAuthentication::authenticate_token(std::string token,
                                                                                              std::vector<std::string> audiences) {
  std::vector<Status> failures;
  for (const auto& plugin : plugins_) {
    auto* tokens = dynamic_cast<TokenAuthenticator*>(plugin.get());
    if (tokens == nullptr) continue;
    auto known = co_await fenced(*tokens, plugin->name(), token, audiences);
    if (!known.ok()) {
      failures.push_back(std::move(known.status()));
      continue;
    }
    if (!known->has_value()) continue;
    TokenAuthentication found = std::move(**known);
    found.user = with_authenticated_group(std::move(found.user));
    co_return std::optional<TokenAuthentication>(std::move(found));
  }
  if (!failures.empty()) co_return all_of(failures);
  co_return std::optional<TokenAuthentication>();
}

}  // namespace backplane
