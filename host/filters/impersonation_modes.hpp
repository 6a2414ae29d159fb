// Decides whether a user may act as another user (apiserver/pkg/endpoints/filters/impersonation).
//
// The constrained modes need two permissions: for the request, with the verb impersonate-on:<mode>:<verb>, and for the wanted user, with
// the verb impersonate:<mode>. The last mode, legacy, needs only permission for the wanted user, with the verb impersonate. The mode in
// which the requestor succeeded last is tried first. If no mode allows the impersonation, the result is the error of the first mode that
// returned one.
//
// Thread-safety: any thread.
// Lifetime:      borrows the authorizer and the metrics.
// Errors:        kForbidden.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backplane/points/authorization.hpp"
#include "filters/impersonation_cache.hpp"
#include "filters/impersonation_metrics.hpp"

namespace backplane {

struct ImpersonatedUser {
  UserRef user;
  std::string constraint;  // "impersonate:user-info", …; empty in legacy mode
};

class ImpersonationModes {
 public:
  // `constrained`: the gate ConstrainedImpersonation. If it is off, only the legacy mode is used. `metrics` may be null.
  ImpersonationModes(Authorizer& authorizer, bool constrained, ImpersonationMetrics* metrics);
  // `request`: the attributes of the request that request.user wants to make as the user `wanted`.
  Task<Result<ImpersonatedUser>> impersonate(const UserInfo& wanted, const AuthorizationAttributes& request) const;

 private:
  static constexpr std::size_t kModes = 5;
  struct Caches {
    // `whole` caches complete decisions. `user` caches the part of a decision that does not depend on the request.
    ImpersonationCache<ImpersonatedUser> whole{std::chrono::seconds(10)}, user{std::chrono::seconds(10)};
  };
  // A successful result without a user means that the mode does not apply.
  Task<Result<std::optional<ImpersonatedUser>>> check(std::size_t mode, const UserInfo& wanted,
                                                      const AuthorizationAttributes& request) const;
  Task<Result<std::optional<ImpersonatedUser>>> check_constrained(std::size_t mode, const UserInfo& wanted,
                                                                  const AuthorizationAttributes& request) const;
  Task<Status> check_user(std::size_t mode, const UserInfo& wanted, const UserRef& requestor, UserInfo& actual) const;
  Task<Status> check_name(std::size_t mode, const UserInfo& wanted, const UserRef& requestor, UserInfo& actual) const;
  Task<Status> check_uid(std::size_t mode, const UserInfo& wanted, const UserRef& requestor) const;
  Task<Status> check_groups(std::size_t mode, const UserInfo& wanted, const UserRef& requestor) const;
  Task<Status> check_extra(std::size_t mode, const UserInfo& wanted, const UserRef& requestor) const;
  Task<Status> allowed(std::size_t mode, AuthorizationAttributes wanted) const;

  Authorizer& authorizer_;
  const bool constrained_;
  ImpersonationMetrics* const metrics_;
  mutable std::array<Caches, kModes> caches_;
  mutable ImpersonationCache<std::size_t> last_mode_{std::chrono::steady_clock::duration::max()};
};

}  // namespace backplane
