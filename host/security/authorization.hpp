// Authorization of requests: the superuser's rule, then authorizers in order. The first opinion wins.
//
// Thread-safety: immutable after construction; any number of requests at once.
// Lifetime:      outlives the handler chain and all callers.
// Errors:        no opinion of any authorizer is a refusal; an exception of an authorizer counts as no opinion with an error.
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

// --authorization-mode=AlwaysAllow, AlwaysDeny, and GET of /healthz, /livez, /readyz, /version, /version/ for all users (upstream's
// system:public-info-viewer).
std::shared_ptr<Authorizer> make_always_allow();
std::shared_ptr<Authorizer> make_always_deny();
std::shared_ptr<Authorizer> make_public_info();

class Authorization;

// The state of a decision: the authorizer that must be awaited, and the decisions of those before it.
struct PendingAuthorization {
  std::size_t place = 0;
  std::string reasons = {};
  std::vector<Status> errors = {};
  std::shared_ptr<Authorization> owner = nullptr;  // the Authorization that has begun the decision, if a PublishedAuthorizer was called
};

// An authorizer with a decision in two steps: begin() does not wait, finish() continues where it stopped, so that no authorizer is
// called twice for one request.
class ResumableAuthorizer : public Authorizer {
 public:
  // The decision; or nullopt, and `pending` for finish().
  virtual std::optional<AuthorizerResult> begin(const RequestView& request, std::shared_ptr<PendingAuthorization>& pending) const = 0;
  virtual Task<AuthorizerResult> finish(const AuthorizationAttributes& attributes, std::shared_ptr<PendingAuthorization> pending) = 0;
};

class Authorization final : public ResumableAuthorizer, public RuleResolver {
 public:
  // `before`: the Authorization that this one replaces, or null; authorizers that both have keep their counts. Every place has an
  // authorizer.
  explicit Authorization(std::vector<AuthorizerPlace> places, const Authorization* before = nullptr);
  // Places with the authorizers' names.
  explicit Authorization(const std::vector<std::shared_ptr<Authorizer>>& authorizers, const Authorization* before = nullptr)
      : Authorization(places_of(authorizers), before) {}
  std::string_view name() const noexcept override { return "union"; }
  std::optional<AuthorizerResult> decide_now(const RequestView& request) const override;
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes) override;
  std::optional<AuthorizerResult> begin(const RequestView& request, std::shared_ptr<PendingAuthorization>& pending) const override;
  Task<AuthorizerResult> finish(const AuthorizationAttributes& attributes, std::shared_ptr<PendingAuthorization> pending) override;
  RuleResolver* rule_resolver() noexcept override { return this; }
  Task<RuleList> rules_for(UserInfo user, std::string ns) override;

  // The number of requests that each authorizer has decided.
  struct Decisions {
    std::atomic<std::uint64_t> allowed{0};
    std::atomic<std::uint64_t> denied{0};
  };
  const std::vector<AuthorizerPlace>& places() const noexcept { return places_; }
  const Decisions& decisions(std::size_t index) const noexcept { return *decisions_[index]; }

 private:
  // Calls the authorizers from pending.place on, until one decides or must be awaited; if none decides, returns the refusal.
  std::optional<AuthorizerResult> walk(const RequestView& request, PendingAuthorization& pending) const;
  void note(std::size_t index, Decision decision) const noexcept;

  static std::vector<AuthorizerPlace> places_of(const std::vector<std::shared_ptr<Authorizer>>& authorizers);

  std::vector<AuthorizerPlace> places_;
  std::vector<std::shared_ptr<Decisions>> decisions_;
};

// The order that --authorization-mode sets, with kube-apiserver's names; empty without modes.
std::vector<AuthorizerPlace> places_of_modes(const std::vector<std::string>& modes);

// `places` with their authorizers: the place's own, a built-in one, or the one that a plugin has registered under the type. Authorizers of
// plugins that are not modes of kube-apiserver come first. If `places` is empty: those, then Node, RBAC and the other registered modes, and
// the authorizer of public information unless RBAC is registered.
struct AuthorizationPlan {
  std::vector<AuthorizerPlace> places;
  std::vector<std::string> not_offered;  // types that no plugin has registered
};
AuthorizationPlan plan_authorization(const std::vector<AuthorizerPlace>& places,
                                     const std::vector<std::shared_ptr<Authorizer>>& registered);

// The order that a plugin has set; shared with the plugin's registrations.
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

// kube-apiserver's modes.
bool is_authorization_mode(std::string_view name) noexcept;

// system:masters may do everything, regardless of other authorizers.
bool is_privileged(const UserInfo& user) noexcept;

// The 403 with user, verb and resource, worded like upstream's responsewriters.Forbidden.
Status forbidden_request(const AuthorizationAttributes& attributes, std::string_view reason);

}  // namespace backplane
