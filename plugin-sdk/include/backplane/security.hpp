// Who is asking, and may they: the contracts of authenticators and authorizers.
//
// Authorizers take attributes, not requests: whoever holds a Host may ask the composed one what a request would be told (Host::authorizer).
// Thread-safety: called from any executor.
// Lifetime:      arguments that are references live until the task has ended.
// Errors:        an authenticator's Status is a 401; an authorizer's reason goes into the 403 text, its error makes a refusal a 500.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/request.hpp"
#include "backplane/selectors.hpp"
#include "backplane/status.hpp"
#include "backplane/task.hpp"
#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

// ---- who is asking

class Authenticator {
 public:
  virtual ~Authenticator();
  virtual std::string_view name() const noexcept = 0;
  // The user, nothing (not my kind of credential), or an error (bad credential).
  virtual Task<Result<std::optional<UserInfo>>> authenticate(RequestContext& context, Exchange& exchange) = 0;
};

struct TokenAuthentication {
  UserInfo user;
  std::vector<std::string> audiences;  // those of the wanted ones that the token is good for
};

// An authenticator that knows bearer tokens, which may come from elsewhere than a request (a TokenReview).
class TokenAuthenticator : public Authenticator {
 public:
  ~TokenAuthenticator() override;
  // `audiences`: whom the token must be meant for; empty: this server.
  virtual Task<Result<std::optional<TokenAuthentication>>> authenticate_token(std::string token, std::vector<std::string> audiences) = 0;
  // The token of the Authorization header.
  Task<Result<std::optional<UserInfo>>> authenticate(RequestContext& context, Exchange& exchange) override;
};
// The token of `Authorization: Bearer …`; empty when there is none.
std::string_view bearer_token(const Exchange& exchange) noexcept;

// ---- may they

// What somebody wants to do: upstream's authorizer.Attributes.
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
  // Of list, watch and deletecollection.  A selector that cannot be read is empty, and its error says why: who decides by it must not take
  // that for "no selector".
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
class Authorizer {
 public:
  virtual ~Authorizer();
  virtual std::string_view name() const noexcept = 0;
  virtual Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes) = 0;
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
// Role of an authorizer that can list what somebody may do (SelfSubjectRulesReview).  The union of authorizers without it is incomplete.
class RuleResolver {
 public:
  virtual ~RuleResolver();
  virtual Task<RuleList> rules_for(UserInfo user, std::string ns) = 0;
};

}  // namespace BACKPLANE_API
