// Authorizers: whether a user may do what a request asks for.
//
// The host asks the composed authorizers in order; the first opinion decides, and no opinion at all is a refusal (403).  Authorizers take
// attributes, not requests: any plugin may ask the composed one what a request would get (Host::authorizer).
//
// Thread-safety: any thread, any number of requests at once.
// Lifetime:      shared with the host; arguments that are references live until the task has ended.
// Errors:        `reason` becomes part of the 403's message; `error` of a refusal makes the response a 500.  An exception is an error and
// no
//                opinion.
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

// What a user wants to do: upstream's authorizer.Attributes.
struct AuthorizationAttributes {
  UserRef user;
  std::string verb;
  bool resource_request = false;
  std::string path;  // of non-resource requests, and of the others when they came over HTTP
  std::string api_group;
  std::string api_version;
  std::string ns;
  std::string resource;
  std::string subresource;
  std::string name;
  // Of list, watch and deletecollection.  A selector that cannot be parsed is empty and has an error: an authorizer that decides by
  // selectors must not treat it as an absent one.
  FieldSelector fields;
  Status fields_error;
  LabelSelector labels;
  Status labels_error;
};
// What the request of `context` wants.
AuthorizationAttributes authorization_attributes(const RequestContext& context);

enum class Decision : unsigned char { kNoOpinion, kAllow, kDeny };
struct AuthorizerResult {
  Decision decision = Decision::kNoOpinion;
  std::string reason;
  Status error;  // what went wrong on the way, whatever was decided
};
class RuleResolver;

// The same as AuthorizationAttributes, without copies: it borrows from the request or from the attributes that it was made of.
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

  bool has_selectors() const noexcept;
  // Of list, watch and deletecollection.  Parsed at each call.  Errors: a selector that cannot be parsed; an authorizer that decides by
  // selectors must not treat it as an absent one.
  Result<FieldSelector> field_selector() const;
  Result<LabelSelector> label_selector() const;

 private:
  const AuthorizationAttributes* attributes_ = nullptr;  // null: the selectors are the texts of `info_`
  const RequestInfo* info_ = nullptr;
};

class Authorizer {
 public:
  virtual ~Authorizer();
  virtual std::string_view name() const noexcept = 0;
  // The decision if it needs no waiting; nothing if only authorize() can tell.  Called first for every request, on the connection's
  // executor, so it must not block.  The default is nothing.
  virtual std::optional<AuthorizerResult> decide_now(const RequestView& request) const;
  // May end on any executor.  The default returns what decide_now() returns; an authorizer overrides one of the two.
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

struct ResourceRule {
  std::vector<std::string> verbs, api_groups, resources, resource_names;
};
struct NonResourceRule {
  std::vector<std::string> verbs, paths;
};
struct RuleList {
  std::vector<ResourceRule> resource_rules;
  std::vector<NonResourceRule> non_resource_rules;
  bool incomplete = false;  // there may be more that cannot be listed
  Status error;             // what could not be evaluated
};
// Lists what a user may do (SelfSubjectRulesReview).
class RuleResolver {
 public:
  virtual ~RuleResolver();
  virtual Task<RuleList> rules_for(UserInfo user, std::string ns) = 0;
};

}  // namespace BACKPLANE_API
