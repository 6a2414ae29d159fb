// Combines the built-in authenticators and those of plugins, in upstream's order: the headers of front proxies, client certificates,
// plugins (for example bearer tokens), anonymous.
//
// Thread-safety: immutable after construction. Any number of requests may be authenticated at the same time.
// Lifetime:      outlives the handler chain.
// Errors:        kUnauthorized; the status can be sent as 401.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"
#include "security/request_header.hpp"

namespace backplane {

class Authentication {
 public:
  virtual ~Authentication() = default;
  // Returns the result if it is available without waiting. If the function returns nullopt, the caller calls authenticate().
  virtual std::optional<Result<UserRef>> authenticate_now(RequestContext& context, Exchange& exchange) const = 0;
  virtual Task<Result<UserRef>> authenticate(RequestContext& context, Exchange& exchange) const = 0;
};

struct AuthenticationConfig {
  // If true, the user of requests without credentials is system:anonymous. If false, they get 401.
  bool anonymous = true;
  std::vector<std::shared_ptr<Authenticator>> plugins;  // in the order of registration
  RequestHeaderConfig request_header = {};
  std::vector<std::string> api_audiences = {};  // --api-audiences
  bool certificate_uids = true;                 // the feature gate AllowParsingUserUIDFromCertAuth
};

class UnionAuthentication final : public Authentication {
 public:
  // The authenticator named "anonymous" is called last, wherever it is in the list, because it accepts each request without credentials.
  explicit UnionAuthentication(AuthenticationConfig config);
  std::optional<Result<UserRef>> authenticate_now(RequestContext& context, Exchange& exchange) const override;
  Task<Result<UserRef>> authenticate(RequestContext& context, Exchange& exchange) const override;

 private:
  // Authenticates by the headers of a front proxy, or by the client certificate. Returns nullopt if neither identifies a user.
  Result<std::optional<UserRef>> of_connection(const Exchange& exchange) const;
  Result<UserRef> without_credentials(const Exchange& exchange) const;
  bool accepts_audiences(const std::vector<std::string>& audiences) const;
  // Returns the result if `found` decides the request. Otherwise returns nullopt; sets `bad_credential` if the credential was invalid.
  std::optional<Result<UserRef>> decide(const Authenticator& authenticator, AuthenticationResult found, bool& bad_credential) const;
  AuthenticationConfig config_;
};

// The authenticators of bearer tokens. They authenticate tokens that are not the credentials of a request (TokenReview).
class UnionTokenAuthentication final : public TokenAuthenticator {
 public:
  explicit UnionTokenAuthentication(std::vector<std::shared_ptr<Authenticator>> plugins) : plugins_(std::move(plugins)) {}
  std::string_view name() const noexcept override { return "union"; }
  Task<AuthenticationResult> authenticate_token(std::string token, std::vector<std::string> audiences) override;

 private:
  std::vector<std::shared_ptr<Authenticator>> plugins_;
};

// Authenticates every request as `user`. Used for the server's calls to itself, and for the debug socket, which has no authentication. If
// the context already has a user, the user is not changed: an internal call on behalf of another user sets it, and a request over a socket
// cannot set it.
class FixedAuthentication final : public Authentication {
 public:
  explicit FixedAuthentication(UserInfo user) : user_(std::move(user)) {}
  std::optional<Result<UserRef>> authenticate_now(RequestContext& context, Exchange&) const override {
    return Result<UserRef>(context.user->name.empty() ? user_ : context.user);
  }
  Task<Result<UserRef>> authenticate(RequestContext& context, Exchange&) const override {
    co_return context.user->name.empty() ? user_ : context.user;
  }

 private:
  UserRef user_;
};

}  // namespace backplane
