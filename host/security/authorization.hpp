// May they: the superuser, what plugins have registered, and the paths that everybody may read.  The first opinion wins.
//
// Thread-safety: immutable after construction; any number of requests at once.
// Lifetime:      outlives the handler chain.
// Errors:        none; no opinion at the end is a refusal.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backplane/security.hpp"

namespace backplane {

// What stands at the end of the row when nobody had an opinion.
enum class AuthorizationFallback : unsigned char { kDeny, kAllow };

struct AuthorizationConfig {
  std::vector<std::shared_ptr<Authorizer>> plugins;  // in registration order
  AuthorizationFallback fallback = AuthorizationFallback::kDeny;
};

class Authorization {
 public:
  explicit Authorization(AuthorizationConfig config) : config_(std::move(config)) {}
  // The answer when it needs no waiting; nothing when only authorize() can tell.
  std::optional<AuthorizerResult> authorize_now(const RequestContext& context) const;
  Task<AuthorizerResult> authorize(RequestContext& context) const;

 private:
  AuthorizerResult last_word(const RequestContext& context) const;
  AuthorizationConfig config_;
};

// system:masters may do everything, whatever anybody else thinks.
bool is_privileged(const UserInfo& user) noexcept;
// GET of /healthz, /livez, /readyz, /version, /version/: upstream's system:public-info-viewer.
bool is_public_info(const RequestInfo& info) noexcept;

// The 403 that names who wanted what, worded as upstream's responsewriters.Forbidden.
Status forbidden_request(const RequestContext& context, std::string_view reason);

}  // namespace backplane
