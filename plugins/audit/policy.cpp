#include "policy.hpp"

#include <algorithm>

namespace backplane::audit {
namespace {

constexpr std::size_t kScanned = 8;

bool in_any(const StringSet& set, const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) { return set.contains(text); });
}

}  // namespace

StringSet::StringSet(std::vector<std::string> strings) : strings_(std::move(strings)), sorted_(strings_.size() > kScanned) {
  if (sorted_) std::sort(strings_.begin(), strings_.end());
}

bool StringSet::contains(std::string_view text) const noexcept {
  if (!sorted_) return std::find(strings_.begin(), strings_.end(), text) != strings_.end();
  return std::binary_search(strings_.begin(), strings_.end(), text, std::less<>());
}

bool ResourcesRule::matches(const RequestView& request) const {
  if (group != request.api_group && group != "*") return false;
  if (!names.empty() && !names.contains(request.name)) return false;
  if (any) return true;
  if (request.subresource.empty()) {
    if (exact.contains(request.resource)) return true;
  } else {
    if (!exact.empty() && exact.contains(std::string(request.resource).append("/").append(request.subresource))) return true;
    if (subresources.contains(request.subresource)) return true;
  }
  return parents.contains(request.resource);
}

bool PolicyRule::matches(const RequestView& request) const {
  if (!users.empty() && !users.contains(request.user.name)) return false;
  if (!groups.empty() && !in_any(groups, request.user.groups)) return false;
  if (!verbs.empty() && !verbs.contains(request.verb)) return false;
  if (of_resources) {
    if (!request.resource_request) return false;
    if (!namespaces.empty() && !namespaces.contains(request.ns)) return false;
    return resources.empty() || std::any_of(resources.begin(), resources.end(), [&](const auto& each) { return each.matches(request); });
  }
  if (!of_paths) return true;
  if (request.resource_request) return false;
  return paths.contains(request.path) ||
         std::any_of(path_heads.begin(), path_heads.end(), [&](const std::string& head) { return request.path.starts_with(head); });
}

AuditDecision CompiledPolicy::decide(const RequestView& request) const {
  for (const PolicyRule& rule : rules_) {
    if (rule.matches(request)) return rule.decision;
  }
  return otherwise_;
}

}  // namespace backplane::audit
