// Authenticators determine the user of a request.
//
// The host calls the authenticators in order: requestheader, client certificate, then those that plugins register, in the order of
// registration. The first one that returns a user decides. An authenticator that returns an error is skipped; the request then gets 401
// unless a later one returns a user.
//
// Thread-safety: any thread, any number of requests at once.
// Lifetime:      shared with the host; arguments that are references live until the task has ended.
// Errors:        kUnauthorized for a credential of this authenticator's kind that is not valid.  An exception is logged and counts as
//                an error.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class TokenAuthenticator;

// The user of a valid credential.
struct AuthenticationResponse {
  UserInfo user;
  // Those of the requested audiences that the credential is valid for; empty for credentials without audiences.
  std::vector<std::string> audiences = {};
};
// nullopt: the credential is not of this authenticator's kind, or there is none.
using AuthenticationResult = Result<std::optional<AuthenticationResponse>>;

// The extension point (Host::register_authenticator).
class Authenticator {
 public:
  virtual ~Authenticator();
  // The name in log lines and errors.
  virtual std::string_view name() const noexcept = 0;
  // The result, if it needs no waiting; nullopt: the host calls authenticate(). Called first for every request, on the connection's
  // executor, so it must not block. A request needs no coroutine if all authenticators return a result here. Default: nullopt.
  virtual std::optional<AuthenticationResult> authenticate_now(RequestContext& context, const Exchange& exchange);
  // May end on any executor.
  virtual Task<AuthenticationResult> authenticate(RequestContext& context, Exchange& exchange) = 0;
  // This authenticator, if it can check bearer tokens without a request (TokenReview); null: it cannot.
  virtual TokenAuthenticator* tokens() noexcept { return nullptr; }
};

// An authenticator of bearer tokens.
class TokenAuthenticator : public Authenticator {
 public:
  ~TokenAuthenticator() override;
  // `audiences`: the token must be valid for one of them; empty: for one of this server's (--api-audiences).
  virtual Task<AuthenticationResult> authenticate_token(std::string token, std::vector<std::string> audiences) = 0;
  // As Authenticator::authenticate_now: for caches and tokens that can be verified at once. The default is nullopt.
  virtual std::optional<AuthenticationResult> authenticate_token_now(std::string_view token, const std::vector<std::string>& audiences);

  // Both read the token by bearer_token(). Without a token they return "no credential" at once and do not call the functions above.
  std::optional<AuthenticationResult> authenticate_now(RequestContext& context, const Exchange& exchange) override;
  Task<AuthenticationResult> authenticate(RequestContext& context, Exchange& exchange) override;
  TokenAuthenticator* tokens() noexcept final { return this; }
};

// The token of `Authorization: Bearer …`, or of the WebSocket protocol base64url.bearer.authorization.k8s.io.…; empty if there is none.
std::string bearer_token(const Exchange& exchange);

}  // namespace BACKPLANE_API
