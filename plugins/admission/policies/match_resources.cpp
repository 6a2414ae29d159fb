#include "policies/match_resources.hpp"

#include "backplane/core/json_access.hpp"
#include "common/label_selectors.hpp"

namespace backplane::admission::policies {
namespace {

void read_selector(const Object& match, std::string_view key, std::string_view name, LabelSelector& out, std::string& problem) {
  const Object* selector = get_object(match, key);
  if (selector == nullptr) {
    problem = "a nil " + std::string(name) + " selector was passed, please ensure selectors are initialized properly";
    return;
  }
  auto parsed = label_selector_of(*selector);
  if (parsed.ok()) {
    out = std::move(*parsed);
  } else {
    problem = internal_error(parsed.status().message()).message();
  }
}

// Rules that name the resource itself come first.
std::vector<ResolvedRule> resolve_rules(const std::vector<ResourceRule>& rules, bool equivalent, const WrittenResource& written) {
  std::vector<ResolvedRule> out;
  for (const ResourceRule& rule : rules) {
    if (names_resource(rule, written.resource, written.subresource)) out.push_back({&rule, nullptr});
  }
  if (!equivalent) return out;
  for (const ResourceRule& rule : rules) {
    for (const ServedAs& as : written.equivalents) {
      if (names_resource(rule, as.resource, written.subresource)) out.push_back({&rule, &as});
    }
  }
  return out;
}

}  // namespace

MatchResources read_match_resources(const Object& match) {
  MatchResources out;
  read_selector(match, "objectSelector", "object", out.objects, out.problem);
  read_selector(match, "namespaceSelector", "namespace", out.namespaces, out.problem);
  out.rules = read_resource_rules(match, "resourceRules");
  out.excluded = read_resource_rules(match, "excludeResourceRules");
  const std::string_view policy = get_string(match, "matchPolicy");
  out.equivalent = !policy.empty() && policy != "Exact";
  return out;
}

ResolvedMatch resolve(const MatchResources* match, const WrittenResource& written) {
  if (match == nullptr) return {};
  return {match, resolve_rules(match->rules, match->equivalent, written), resolve_rules(match->excluded, match->equivalent, written)};
}

const ResolvedRule* find_rule(const std::vector<ResolvedRule>& rules, const AdmissionAttributes& attributes) noexcept {
  for (const ResolvedRule& each : rules) {
    if (admits_write(*each.rule, each.as == nullptr ? attributes.resource : each.as->resource, attributes)) return &each;
  }
  return nullptr;
}

}  // namespace backplane::admission::policies
