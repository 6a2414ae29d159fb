// May they: the superuser's rule, then authorizers in order.  The first opinion wins.
//
// Thread-safety: immutable after construction; any number of requests at once.
// Lifetime:      outlives the handler chain and everybody who asks.
// Errors:        no opinion at the end is a refusal; what an authorizer throws is its error, and no opinion.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"

namespace backplane {

// --authorization-mode=AlwaysAllow, AlwaysDeny, and GET of /healthz, /livez, /readyz, /version, /version/ for everybody (upstream's
// system:public-info-viewer).
std::shared_ptr<Authorizer> make_always_allow();
std::shared_ptr<Authorizer> make_always_deny();
std::shared_ptr<Authorizer> make_public_info();

class Authorization final : public Authorizer, public RuleResolver {
 public:
  // `before`: the one that this replaces; the counts of authorizers that both have go on.  May be null.
  explicit Authorization(std::vector<std::shared_ptr<Authorizer>> authorizers, const Authorization* before = nullptr);
  std::string_view name() const noexcept override { return "union"; }
  std::optional<AuthorizerResult> decide_now(const RequestView& request) const override;
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes) override;
  RuleResolver* rule_resolver() noexcept override { return this; }
  Task<RuleList> rules_for(UserInfo user, std::string ns) override;

  // How often each authorizer has had the last word.
  struct Decisions {
    std::atomic<std::uint64_t> allowed{0};
    std::atomic<std::uint64_t> denied{0};
  };
  std::size_t count() const noexcept { return authorizers_.size(); }
  std::string_view authorizer(std::size_t index) const noexcept { return authorizers_[index]->name(); }
  const Decisions& decisions(std::size_t index) const noexcept { return *decisions_[index]; }

 private:
  void note(std::size_t index, Decision decision) const noexcept;

  std::vector<std::shared_ptr<Authorizer>> authorizers_;
  std::vector<std::shared_ptr<Decisions>> decisions_;
};

// The modes of --authorization-mode, known here or as the name of an authorizer that a plugin has registered, in their order.  Authorizers
// that are no mode of kube-apiserver's stand in front of them.  Without modes: all that are registered, then the public information.
struct AuthorizationPlan {
  std::vector<std::shared_ptr<Authorizer>> authorizers;
  std::vector<std::string> not_offered;  // modes that nobody answers for
};
AuthorizationPlan plan_authorization(const std::vector<std::string>& modes, const std::vector<std::shared_ptr<Authorizer>>& registered);

// kube-apiserver's modes.
bool is_authorization_mode(std::string_view name) noexcept;

// system:masters may do everything, whatever anybody else thinks.
bool is_privileged(const UserInfo& user) noexcept;

// The 403 that names who wanted what, worded as upstream's responsewriters.Forbidden.
Status forbidden_request(const AuthorizationAttributes& attributes, std::string_view reason);

}  // namespace backplane
