#include "abac/abac_authorizer.hpp"

#include <algorithm>

namespace backplane::authorization {
namespace {

bool matches_or_any(std::string_view pattern, std::string_view value) { return pattern == "*" || pattern == value; }

bool matches_subject(const AbacRule& rule, const UserInfo& user) {
  if (rule.user.empty() && rule.group.empty()) return false;
  if (!rule.user.empty() && !matches_or_any(rule.user, user.name)) return false;
  return rule.group.empty() || rule.group == "*" || user.in_group(rule.group);
}

bool matches_verb(const AbacRule& rule, std::string_view verb) {
  return !rule.readonly || verb == "get" || verb == "list" || verb == "watch";
}

bool matches_path(const AbacRule& rule, std::string_view path) {
  if (matches_or_any(rule.path, path)) return true;
  if (!rule.path.ends_with('*')) return false;
  const std::size_t end = rule.path.find_last_not_of('*') + 1;
  return path.starts_with(std::string_view(rule.path).substr(0, end));
}

bool matches_request(const AbacRule& rule, const RequestView& request) {
  if (!request.resource_request) return matches_path(rule, request.path);
  return matches_or_any(rule.ns, request.ns) && matches_or_any(rule.resource, request.resource) &&
         matches_or_any(rule.api_group, request.api_group);
}

std::vector<std::string> verbs_of(const AbacRule& rule) {
  if (rule.readonly) return {"get", "list", "watch"};
  return {"*"};
}

}  // namespace

std::optional<AuthorizerResult> AbacAuthorizer::decide_now(const RequestView& request) const {
  const bool allowed = std::any_of(rules_.begin(), rules_.end(), [&](const AbacRule& rule) {
    return matches_subject(rule, request.user) && matches_verb(rule, request.verb) && matches_request(rule, request);
  });
  if (allowed) return AuthorizerResult{Decision::kAllow, "", {}};
  return AuthorizerResult{Decision::kNoOpinion, "No policy matched.", {}};
}

Task<RuleList> AbacAuthorizer::rules_for(UserInfo user, std::string ns) {
  RuleList out;
  for (const AbacRule& rule : rules_) {
    if (!matches_subject(rule, user) || !matches_or_any(rule.ns, ns)) continue;
    if (!rule.resource.empty()) out.resource_rules.push_back({verbs_of(rule), {rule.api_group}, {rule.resource}, {}});
    if (!rule.path.empty()) out.non_resource_rules.push_back({verbs_of(rule), {rule.path}});
  }
  co_return out;
}

}  // namespace backplane::authorization
