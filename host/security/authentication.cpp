#include "security/authentication.hpp"

#include <algorithm>

#include "backplane/points/http.hpp"
#include "base/fenced.hpp"
#include "base/front_proxy.hpp"
#include "security/log.hpp"
#include "security/users.hpp"
#include "security/x509.hpp"

namespace backplane {
namespace {

constexpr std::string_view kAnonymous = "anonymous";

// Returns true for a request that has a bearer token. A token that no authenticator recognizes is an invalid credential.
bool carries_token(const Exchange& exchange) { return !bearer_token(exchange).empty(); }

// Joins several errors. Equal texts appear once.
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

Status threw(std::string_view authenticator, const Caught& error) {
  security_log().error("authenticator threw authenticator={} error={}{}", authenticator, error.what, error.stack);
  return internal_error("authenticator " + std::string(authenticator) + " threw: " + error.what);
}

// An exception of a plugin is converted to an error of that plugin's authenticator.
Task<AuthenticationResult> ask(Authenticator& authenticator, RequestContext& context, Exchange& exchange) {
  return fenced<AuthenticationResult>([&] { return authenticator.authenticate(context, exchange); },
                                      [&](const Caught& error) { return threw(authenticator.name(), error); });
}

std::optional<AuthenticationResult> ask_now(Authenticator& authenticator, RequestContext& context, const Exchange& exchange) {
  return fenced_now([&] { return authenticator.authenticate_now(context, exchange); },
                    [&](const Caught& error) -> std::optional<AuthenticationResult> { return threw(authenticator.name(), error); });
}

// The user name system:apiserver belongs to the server's calls to itself and to its peers. Other requests get this name only by a
// certificate.
Status reserved_name(std::string_view authenticator) {
  security_log().warn("an authenticator returned a reserved user name authenticator={} user={}", authenticator, kApiServerUser);
  return unauthorized("authenticator " + std::string(authenticator) + " returned the reserved user name " + std::string(kApiServerUser));
}

Task<AuthenticationResult> ask_token(TokenAuthenticator& tokens, std::string token, std::vector<std::string> audiences) {
  return fenced<AuthenticationResult>(
      [&tokens, token = std::move(token), audiences = std::move(audiences)]() mutable {
        return tokens.authenticate_token(std::move(token), std::move(audiences));
      },
      [&tokens](const Caught& error) { return threw(tokens.name(), error); });
}

}  // namespace

UnionAuthentication::UnionAuthentication(AuthenticationConfig config) : config_(std::move(config)) {
  auto& all = config_.plugins;
  std::stable_partition(all.begin(), all.end(), [](const auto& each) { return each->name() != kAnonymous; });
}

Result<UserRef> UnionAuthentication::without_credentials(const Exchange& exchange) const {
  static const UserRef anonymous = anonymous_user();
  if (carries_token(exchange) || !config_.anonymous) return unauthorized();
  return anonymous;
}

Result<std::optional<UserRef>> UnionAuthentication::of_connection(const Exchange& exchange) const {
  auto headers = user_of_request_headers(config_.request_header, exchange);
  if (headers.ok() && headers->has_value()) return std::optional<UserRef>(with_authenticated_group(std::move(**headers)));
  auto certificate = user_of_certificate(exchange, config_.certificate_uids);
  if (!certificate.ok() || certificate->has_value()) return certificate;
  if (!headers.ok()) return std::move(headers.status());
  // In upstream, the request-header authenticator fails if a client certificate is not one of a front proxy. This is an error only if the
  // certificate does not authenticate a user either.
  const bool no_proxy = exchange.peer_certificate() != nullptr && front_proxy_certificate(exchange) == nullptr;
  if (no_proxy && config_.request_header.enabled()) return unauthorized();
  return certificate;
}

// A credential for other audiences is invalid. A credential without audiences is valid for every server.
bool UnionAuthentication::accepts_audiences(const std::vector<std::string>& audiences) const {
  const auto& own = config_.api_audiences;
  if (own.empty() || audiences.empty()) return true;
  return std::any_of(audiences.begin(), audiences.end(),
                     [&](const std::string& each) { return std::find(own.begin(), own.end(), each) != own.end(); });
}

std::optional<Result<UserRef>> UnionAuthentication::decide(const Authenticator& authenticator, AuthenticationResult found,
                                                           bool& bad_credential) const {
  if (!found.ok()) {
    security_log().debug("authenticator refused a credential authenticator={} error={}", authenticator.name(), found.status().message());
    bad_credential = true;
    return std::nullopt;
  }
  if (!found->has_value()) return std::nullopt;
  AuthenticationResponse& response = **found;
  // Like upstream's NewFailOnError: a client that has an invalid credential does not become anonymous.
  if (bad_credential && response.user.name == kAnonymousUser) return std::nullopt;
  if (response.user.name == kApiServerUser) {
    (void)reserved_name(authenticator.name());
    bad_credential = true;
    return std::nullopt;
  }
  if (!accepts_audiences(response.audiences)) {
    security_log().debug("a credential is for other audiences authenticator={}", authenticator.name());
    return Result<UserRef>(unauthorized());
  }
  return Result<UserRef>(with_authenticated_group(std::move(response.user)));
}

std::optional<Result<UserRef>> UnionAuthentication::authenticate_now(RequestContext& context, Exchange& exchange) const {
  auto known = of_connection(exchange);
  if (known.ok() && known->has_value()) return Result<UserRef>(std::move(**known));
  // If the certificate is invalid, a plugin may still authenticate the client by another credential.
  bool bad_credential = !known.ok();
  for (const auto& plugin : config_.plugins) {
    auto found = ask_now(*plugin, context, exchange);
    if (!found) return std::nullopt;
    if (auto user = decide(*plugin, std::move(*found), bad_credential)) return user;
  }
  if (!known.ok()) return Result<UserRef>(std::move(known.status()));
  if (bad_credential) return Result<UserRef>(unauthorized());
  return without_credentials(exchange);
}

Task<Result<UserRef>> UnionAuthentication::authenticate(RequestContext& context, Exchange& exchange) const {
  auto known = of_connection(exchange);
  bool bad_credential = !known.ok();
  if (!bad_credential && known->has_value()) co_return std::move(**known);
  for (const auto& plugin : config_.plugins) {
    auto found = ask_now(*plugin, context, exchange);
    if (!found) {
      auto asking = ask(*plugin, context, exchange);
      found = co_await std::move(asking);
    }
    if (auto user = decide(*plugin, std::move(*found), bad_credential)) co_return std::move(*user);
  }
  if (bad_credential) co_return unauthorized();
  co_return without_credentials(exchange);
}

Task<AuthenticationResult> UnionTokenAuthentication::authenticate_token(std::string token, std::vector<std::string> audiences) {
  std::vector<Status> failures;
  for (const auto& plugin : plugins_) {
    TokenAuthenticator* const tokens = plugin->tokens();
    if (tokens == nullptr) continue;
    auto asking = ask_token(*tokens, token, audiences);
    auto known = co_await std::move(asking);
    if (!known.ok()) {
      failures.push_back(std::move(known.status()));
      continue;
    }
    if (!known->has_value()) continue;
    AuthenticationResponse found = std::move(**known);
    if (found.user.name == kApiServerUser) {
      failures.push_back(reserved_name(tokens->name()));
      continue;
    }
    found.user = with_authenticated_group(std::move(found.user));
    co_return std::optional<AuthenticationResponse>(std::move(found));
  }
  if (!failures.empty()) co_return all_of(failures);
  co_return std::optional<AuthenticationResponse>();
}

}  // namespace backplane
