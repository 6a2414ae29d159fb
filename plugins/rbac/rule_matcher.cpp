#include "rule_matcher.hpp"

#include <algorithm>

namespace backplane::rbac {
namespace {

bool contains(const std::vector<std::string>& list, std::string_view text) noexcept {
  for (const std::string& each : list) {
    if (each == text) return true;
  }
  return false;
}

// `text` is `resource` "/" `subresource`.
bool is_subresource(std::string_view text, std::string_view resource, std::string_view subresource) noexcept {
  return text.size() == resource.size() + 1 + subresource.size() && text[resource.size()] == '/' && text.starts_with(resource) &&
         text.ends_with(subresource);
}

}  // namespace

RuleMatcher::RuleMatcher(PolicyRule rule)
    : rule_(std::move(rule)),
      all_verbs_(contains(rule_.verbs, "*")),
      all_groups_(contains(rule_.api_groups, "*")),
      all_resources_(contains(rule_.resources, "*")),
      subresource_wildcards_(
          std::any_of(rule_.resources.begin(), rule_.resources.end(), [](const std::string& each) { return each.starts_with("*/"); })) {}

bool RuleMatcher::allows(const WantedAccess& wanted) const noexcept {
  if (wanted.resource_request) {
    // The most selective comparison first.
    return (all_groups_ || contains(rule_.api_groups, wanted.group)) && (all_resources_ || allows_resource(wanted)) &&
           (all_verbs_ || contains(rule_.verbs, wanted.verb)) &&
           (rule_.resource_names.empty() || contains(rule_.resource_names, wanted.name));
  }
  if (rule_.urls.empty() || !(all_verbs_ || contains(rule_.verbs, wanted.verb))) return false;
  for (const std::string& url : rule_.urls) {
    if (matches_url(url, wanted.path)) return true;
  }
  return false;
}

bool RuleMatcher::allows_resource(const WantedAccess& wanted) const noexcept {
  if (wanted.subresource.empty()) return contains(rule_.resources, wanted.resource);
  for (const std::string& each : rule_.resources) {
    if (is_subresource(each, wanted.resource, wanted.subresource)) return true;
    if (subresource_wildcards_ && is_subresource(each, "*", wanted.subresource)) return true;
  }
  return false;
}

RoleRules matchers_of(PolicyRules rules) {
  RoleRules out;
  out.reserve(rules.size());
  for (PolicyRule& rule : rules) out.emplace_back(std::move(rule));
  return out;
}

}  // namespace backplane::rbac
