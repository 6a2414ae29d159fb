// Authorizes requests. Members of system:masters are allowed. For other users, the authorizers are called in order until one has an
// opinion.
//
// Thread-safety: immutable after construction. Any number of requests may be authorized at the same time.
// Lifetime:      outlives the handler chain and all other callers.
// Errors:        if no authorizer has an opinion, the request is refused. An authorizer that throws has no opinion and returns an error.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"

namespace backplane {

// The authorizers of --authorization-mode=AlwaysAllow and AlwaysDeny. make_public_info() allows all users GET of /healthz, /livez, /readyz,
// /version and /version/ (upstream: system:public-info-viewer).
std::shared_ptr<Authorizer> make_always_allow();
std::shared_ptr<Authorizer> make_always_deny();
std::shared_ptr<Authorizer> make_public_info();

class Authorization;

// The state of a decision that waits: the authorizer that must be awaited, and the reasons and errors of the authorizers before it.
struct PendingAuthorization {
  std::size_t place = 0;  // the index of the authorizer that must be awaited
  std::string reasons = {};
  std::vector<Status> errors = {};
  std::shared_ptr<Authorization> owner = nullptr;  // set by PublishedAuthorizer: the Authorization that has begun the decision
};

// An authorizer that decides in two steps. begin() does not wait. finish() continues where begin() has stopped, so that no authorizer is
// called twice for a request.
class ResumableAuthorizer : public Authorizer {
 public:
  // Returns the decision. If an authorizer must be awaited, returns nullopt and sets `pending` for finish().
  virtual std::optional<AuthorizerResult> begin(const RequestView& request, std::shared_ptr<PendingAuthorization>& pending) const = 0;
  virtual Task<AuthorizerResult> finish(const AuthorizationAttributes& attributes, std::shared_ptr<PendingAuthorization> pending) = 0;
};

class Authorization final : public ResumableAuthorizer, public RuleResolver {
 public:
  // `before`: the Authorization that this object replaces; may be null. Authorizers that are in both objects keep their counts. Each place
  // must have an authorizer.
  explicit Authorization(std::vector<AuthorizerPlace> places, const Authorization* before = nullptr);
  // Uses the authorizers' names as types and names of the places.
  explicit Authorization(const std::vector<std::shared_ptr<Authorizer>>& authorizers, const Authorization* before = nullptr)
      : Authorization(places_of(authorizers), before) {}
  std::string_view name() const noexcept override { return "union"; }
  std::optional<AuthorizerResult> decide_now(const RequestView& request) const override;
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes) override;
  std::optional<AuthorizerResult> begin(const RequestView& request, std::shared_ptr<PendingAuthorization>& pending) const override;
  Task<AuthorizerResult> finish(const AuthorizationAttributes& attributes, std::shared_ptr<PendingAuthorization> pending) override;
  RuleResolver* rule_resolver() noexcept override { return this; }
  Task<RuleList> rules_for(UserInfo user, std::string ns) override;

  // The numbers of requests that an authorizer has allowed and denied.
  struct Decisions {
    std::atomic<std::uint64_t> allowed{0};
    std::atomic<std::uint64_t> denied{0};
  };
  const std::vector<AuthorizerPlace>& places() const noexcept { return places_; }
  const Decisions& decisions(std::size_t index) const noexcept { return *decisions_[index]; }

 private:
  // Calls the authorizers from pending.place on. Returns the decision when an authorizer decides, or the refusal if none decides. Returns
  // nullopt if an authorizer must be awaited.
  std::optional<AuthorizerResult> walk(const RequestView& request, PendingAuthorization& pending) const;
  void note(std::size_t index, Decision decision) const noexcept;

  static std::vector<AuthorizerPlace> places_of(const std::vector<std::shared_ptr<Authorizer>>& authorizers);

  std::vector<AuthorizerPlace> places_;
  std::vector<std::shared_ptr<Decisions>> decisions_;
};

// Returns the places in the order of --authorization-mode, with kube-apiserver's names. The result is empty if `modes` is empty.
std::vector<AuthorizerPlace> places_of_modes(const std::vector<std::string>& modes);

// The places, in the order in which their authorizers are called:
// - Authorizers of plugins that are not modes of kube-apiserver.
// - `places`. A place without an authorizer gets the one that a plugin has registered under its type, or a built-in one.
// - If `places` is empty: the registered authorizers of Node, RBAC and the other modes, then make_public_info() unless RBAC is registered.
struct AuthorizationPlan {
  std::vector<AuthorizerPlace> places;
  std::vector<std::string> not_offered;  // the types of places for which there is no authorizer
};
AuthorizationPlan plan_authorization(const std::vector<AuthorizerPlace>& places,
                                     const std::vector<std::shared_ptr<Authorizer>>& registered);

// The order of the authorizers that a plugin has set. The plugin's registrations share the object.
class AuthorizerOrder {
 public:
  void set(std::vector<AuthorizerPlace> places) {
    const std::lock_guard lock(mutex_);
    places_ = std::move(places);
  }
  std::vector<AuthorizerPlace> get() const {
    const std::lock_guard lock(mutex_);
    return places_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<AuthorizerPlace> places_;
};

// Returns true for the modes of kube-apiserver.
bool is_authorization_mode(std::string_view name) noexcept;

// Returns true for members of system:masters, who may do everything, whatever other authorizers decide.
bool is_privileged(const UserInfo& user) noexcept;

// Returns 403 with the user, the verb and the resource. The message is that of upstream's responsewriters.Forbidden.
Status forbidden_request(const AuthorizationAttributes& attributes, std::string_view reason);

}  // namespace backplane
