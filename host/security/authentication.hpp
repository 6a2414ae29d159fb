// The union of the built-in authenticators and those of plugins, in upstream's order: the headers of front proxies, client certificates,
// plugins (tokens and the like), anonymous.
//
// Thread-safety: immutable after construction; any number of requests at once.
// Lifetime:      outlives the handler chain.
// Errors:        kUnauthorized, ready to be sent as a 401.
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
  // The result, if it is available without waiting; nullopt: call authenticate().
  virtual std::optional<Result<UserRef>> authenticate_now(RequestContext& context, Exchange& exchange) const = 0;
  virtual Task<Result<UserRef>> authenticate(RequestContext& context, Exchange& exchange) const = 0;
};

struct AuthenticationConfig {
  // Requests without credentials are system:anonymous; else 401.
  bool anonymous = true;
  std::vector<std::shared_ptr<Authenticator>> plugins;  // in registration order
  RequestHeaderConfig request_header = {};
  std::vector<std::string> api_audiences = {};  // --api-audiences
  bool certificate_uids = true;                 // the feature gate AllowParsingUserUIDFromCertAuth
};

class UnionAuthentication final : public Authentication {
 public:
  // The authenticator named "anonymous" is called last, whatever its place: it accepts each request without credentials.
  explicit UnionAuthentication(AuthenticationConfig config);
  std::optional<Result<UserRef>> authenticate_now(RequestContext& context, Exchange& exchange) const override;
  Task<Result<UserRef>> authenticate(RequestContext& context, Exchange& exchange) const override;

 private:
  // Authenticates by the connection's certificate; nullopt if there is none.
  Result<std::optional<UserRef>> of_connection(const Exchange& exchange) const;
  Result<UserRef> without_credentials(const Exchange& exchange) const;
  bool is_meant_for_us(const std::vector<std::string>& audiences) const;
  // Returns the user if `found` decides the request; else records whether the credential was invalid.
  std::optional<Result<UserRef>> settle(const Authenticator& authenticator, AuthenticationResult found, bool& bad_credential) const;
  AuthenticationConfig config_;
};

// The authenticators of bearer tokens, for tokens that are not credentials of a request (TokenReview).
class UnionTokenAuthentication final : public TokenAuthenticator {
 public:
  explicit UnionTokenAuthentication(std::vector<std::shared_ptr<Authenticator>> plugins) : plugins_(std::move(plugins)) {}
  std::string_view name() const noexcept override { return "union"; }
  Task<AuthenticationResult> authenticate_token(std::string token, std::vector<std::string> audiences) override;

 private:
  std::vector<std::shared_ptr<Authenticator>> plugins_;
};

// Authenticates every request as `user`: the server's calls to itself, the unprotected debug socket.  If the context has a user already,
// that user is kept: an internal call on behalf of another user sets it; a request over a socket cannot.
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
