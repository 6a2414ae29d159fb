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
  // The audiences for which the credential is valid, out of those that were requested; empty if the credential has no audiences.
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
  // Returns the result if it needs no waiting; nullopt: the host calls authenticate(). The host calls this first for every request, on the
  // connection's executor, so it must not block. Authentication needs no coroutine if all authenticators return a result here. Default:
  // nullopt.
  virtual std::optional<AuthenticationResult> authenticate_now(RequestContext& context, const Exchange& exchange);
  // The coroutine may end on any executor.
  virtual Task<AuthenticationResult> authenticate(RequestContext& context, Exchange& exchange) = 0;
  // Returns this authenticator if it can check bearer tokens without a request (TokenReview), otherwise null.
  virtual TokenAuthenticator* tokens() noexcept { return nullptr; }
};

// An authenticator of bearer tokens.
class TokenAuthenticator : public Authenticator {
 public:
  ~TokenAuthenticator() override;
  // `audiences`: the token must be valid for at least one of them. Empty: for at least one of this server's audiences (--api-audiences).
  virtual Task<AuthenticationResult> authenticate_token(std::string token, std::vector<std::string> audiences) = 0;
  // Returns the result if it needs no waiting: cached results, or tokens that can be verified at once. nullopt (the default): the caller
  // awaits authenticate_token().
  virtual std::optional<AuthenticationResult> authenticate_token_now(std::string_view token, const std::vector<std::string>& audiences);

  // Both functions read the token with bearer_token(). If the request has no token, they return "no credential" (an empty optional) and do
  // not call authenticate_token_now() or authenticate_token().
  std::optional<AuthenticationResult> authenticate_now(RequestContext& context, const Exchange& exchange) override;
  Task<AuthenticationResult> authenticate(RequestContext& context, Exchange& exchange) override;
  TokenAuthenticator* tokens() noexcept final { return this; }
};

// The token of `Authorization: Bearer …`, or of the WebSocket protocol base64url.bearer.authorization.k8s.io.…; empty if there is none.
std::string bearer_token(const Exchange& exchange);

}  // namespace BACKPLANE_API
