// Who is asking, and may they: the contracts of authenticators and authorizers.
//
// Thread-safety: called from any executor.
// Errors:        an authenticator's Status is a 401; an authorizer's reason goes into the 403 text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backplane/request.hpp"
#include "backplane/status.hpp"
#include "backplane/task.hpp"
#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

class Authenticator {
 public:
  virtual ~Authenticator();
  virtual std::string_view name() const noexcept = 0;
  // The user, nothing (not my kind of credential), or an error (bad credential).
  virtual Task<Result<std::optional<UserInfo>>> authenticate(RequestContext& context, Exchange& exchange) = 0;
};

enum class Decision : unsigned char { kNoOpinion, kAllow, kDeny };
struct AuthorizerResult {
  Decision decision = Decision::kNoOpinion;
  std::string reason;
};
class Authorizer {
 public:
  virtual ~Authorizer();
  virtual std::string_view name() const noexcept = 0;
  virtual Task<AuthorizerResult> authorize(RequestContext& context) = 0;
};

}  // namespace BACKPLANE_API
