// Authorizers decide whether a user may execute a request.
//
// The host calls the authorizers in order. The first kAllow or kDeny decides; if all return kNoOpinion, the request gets 403. Authorizers
// take attributes, not requests, so any plugin can request a decision without a request (Host::authorizer).
//
// Thread-safety: any thread, any number of requests at once.
// Lifetime:      shared with the host; arguments that are references live until the task has ended.
// Errors:        the message of the 403 contains `reason`. If the request is refused and a result has an `error`, the response is a 500. An
//                exception counts as kNoOpinion with an error.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/request.hpp"
#include "backplane/core/selectors.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// The attributes of a request: upstream's authorizer.Attributes.
struct AuthorizationAttributes {
  UserRef user;
  std::string verb;
  bool resource_request = false;
  std::string path;  // set for non-resource requests, and for resource requests that came over HTTP
  std::string api_group;
  std::string api_version;
  std::string ns;
  std::string resource;
  std::string subresource;
  std::string name;
  // The selectors of list, watch and deletecollection requests. If fields_error or labels_error is set, the selector contains only the
  // requirements that could be parsed, possibly none. Each requirement makes the request narrower, so an authorizer may decide by the
  // parsed requirements alone.
  FieldSelector fields;
  Status fields_error;
  LabelSelector labels;
  Status labels_error;
};
// The attributes of the request of `context`.
AuthorizationAttributes authorization_attributes(const RequestContext& context);

// authorizer.Decision.
enum class Decision : unsigned char { kNoOpinion, kAllow, kDeny };
// The result of an authorizer.
struct AuthorizerResult {
  Decision decision = Decision::kNoOpinion;
  std::string reason;  // part of the message of a refusal; also recorded as an audit annotation
  Status error;        // an error during the evaluation; independent of the decision
};
class RuleResolver;

// The members of AuthorizationAttributes as views into a RequestContext or into an AuthorizationAttributes.
class RequestView {
 public:
  // `context` and `attributes` must outlive the view and must not change while it is used.
  explicit RequestView(const RequestContext& context) noexcept;
  explicit RequestView(const AuthorizationAttributes& attributes) noexcept;

  const UserInfo& user;
  std::string_view verb;
  bool resource_request = false;
  std::string_view path;
  std::string_view api_group;
  std::string_view api_version;
  std::string_view ns;
  std::string_view resource;
  std::string_view subresource;
  std::string_view name;

  // True if the request has a field selector or a label selector.
  bool has_selectors() const noexcept;
  // The selectors of list, watch and deletecollection requests. Each call parses the selector of a request. The selector of an access
  // review contains only its valid requirements.
  // Errors: the selector has no valid requirement. An authorizer that decides by selectors must not treat such a selector as absent.
  Result<FieldSelector> field_selector() const;
  Result<LabelSelector> label_selector() const;

 private:
  const AuthorizationAttributes* attributes_ = nullptr;  // null: the view is of a request, and `info_` contains the selectors
  const RequestInfo* info_ = nullptr;
};

// The extension point (Host::register_authorizer).
class Authorizer {
 public:
  virtual ~Authorizer();
  // The authorizer's mode for --authorization-mode, and a label of metrics.
  virtual std::string_view name() const noexcept = 0;
  // Returns the decision if it needs no waiting; nullopt: the host calls authorize(). The host calls this first for every request, on the
  // connection's executor, so it must not block. Default: nullopt.
  virtual std::optional<AuthorizerResult> decide_now(const RequestView& request) const;
  // May end on any executor. The default returns the result of decide_now(). An authorizer overrides decide_now(), authorize() or both.
  virtual Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes);
  // Returns this authorizer if it can list the rules of a user. Null: SelfSubjectRulesReview reports an incomplete list.
  virtual RuleResolver* rule_resolver() noexcept { return nullptr; }
};

// One position in the order of authorizers (Host::set_authorizer_order): an entry of an AuthorizationConfiguration.
struct AuthorizerPlace {
  std::string type;  // kube-apiserver's mode: "RBAC", "Webhook", …
  std::string name;  // unique in the order; with `type`, the labels of the metrics
  // Null: the authorizer that is registered with the name `type`.
  std::shared_ptr<Authorizer> authorizer = nullptr;
};

// authorization.k8s.io ResourceRule and NonResourceRule; "*" means all.
struct ResourceRule {
  std::vector<std::string> verbs, api_groups, resources, resource_names;
};
struct NonResourceRule {
  std::vector<std::string> verbs, paths;
};
struct RuleList {
  std::vector<ResourceRule> resource_rules;
  std::vector<NonResourceRule> non_resource_rules;
  bool incomplete = false;  // the user may have permissions that are not listed
  Status error;             // the first error of the evaluation
};
// Lists what a user may do (SelfSubjectRulesReview).
class RuleResolver {
 public:
  virtual ~RuleResolver();
  virtual Task<RuleList> rules_for(UserInfo user, std::string ns) = 0;
};

}  // namespace BACKPLANE_API
