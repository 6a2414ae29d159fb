// Authorizers decide whether a user may execute a request.
//
// The host calls the authorizers in order. The first kAllow or kDeny decides; if all return kNoOpinion, the request gets 403. Authorizers
// take attributes, not requests, so any plugin can request a decision without a request (Host::authorizer).
//
// Thread-safety: any thread, any number of requests at once.
// Lifetime:      shared with the host; arguments that are references live until the task has ended.
// Errors:        `reason` becomes part of the message of the 403. A refusal with an `error` makes the response a 500. An exception counts
//                as kNoOpinion with an error.
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
  // The selectors of list, watch and deletecollection requests. If the error is set, the selector has only the requirements that could be
  // parsed, possibly none. Requirements narrow a request, so an authorizer may decide by the parsed ones.
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
  std::string reason;  // sent to the client with a refusal; an audit annotation
  Status error;        // an error during the evaluation; independent of the decision
};
class RuleResolver;

// The members of AuthorizationAttributes as views into a request, or into attributes.
class RequestView {
 public:
  // `context`, `attributes`: outlive the view and do not change while it is used.
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
  // The selectors of list, watch and deletecollection requests, parsed by each call; of an access review, only the valid requirements.
  // Errors:        no requirement is valid; an authorizer that decides by selectors must not treat the selector as absent.
  Result<FieldSelector> field_selector() const;
  Result<LabelSelector> label_selector() const;

 private:
  const AuthorizationAttributes* attributes_ = nullptr;  // null: the selectors are the texts of `info_`
  const RequestInfo* info_ = nullptr;
};

// The extension point (Host::register_authorizer).
class Authorizer {
 public:
  virtual ~Authorizer();
  // The mode in --authorization-mode, and a label of metrics.
  virtual std::string_view name() const noexcept = 0;
  // The decision, if it needs no waiting; nullopt: the host calls authorize(). Called first for every request, on the connection's
  // executor, so it must not block. Default: nullopt.
  virtual std::optional<AuthorizerResult> decide_now(const RequestView& request) const;
  // May end on any executor. The default returns what decide_now() returns; an authorizer overrides one of the two.
  virtual Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes);
  // This authorizer, if it can list the rules of a user; else null, and SelfSubjectRulesReview reports an incomplete list.
  virtual RuleResolver* rule_resolver() noexcept { return nullptr; }
};

// One place in the order of authorizers (Host::set_authorizer_order), as an entry of an AuthorizationConfiguration.
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
