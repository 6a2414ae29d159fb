#include "policies/match_resources.hpp"

#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"
#include "policies/label_selection.hpp"

namespace backplane::admission::policies {
namespace {

constexpr std::string_view kAny = "*";
constexpr std::array kOperations = {AdmissionOperation::kCreate, AdmissionOperation::kUpdate, AdmissionOperation::kDelete,
                                    AdmissionOperation::kConnect};

bool lists(const std::vector<std::string>& list, std::string_view wanted) noexcept {
  return std::any_of(list.begin(), list.end(), [&](const std::string& each) { return each == kAny || each == wanted; });
}

bool names_resource(const std::vector<std::string>& list, std::string_view resource, std::string_view subresource) noexcept {
  return std::any_of(list.begin(), list.end(), [&](std::string_view each) {
    const auto slash = each.find('/');
    const std::string_view name = each.substr(0, slash),
                           sub = slash == std::string_view::npos ? std::string_view() : each.substr(slash + 1);
    return (name == kAny || name == resource) && (sub == kAny || sub == subresource);
  });
}

bool names_written(const ResourceRule& rule, const GroupVersionResource& resource, std::string_view subresource) noexcept {
  return lists(rule.groups, resource.group) && lists(rule.versions, resource.version) &&
         names_resource(rule.resources, resource.resource, subresource);
}

bool names_namespaces(const GroupVersionResource& resource) noexcept {
  return resource.group.empty() && resource.version == "v1" && resource.resource == "namespaces";
}

ResourceRule read_rule(const Object& rule) {
  ResourceRule out;
  each_text(rule, "operations", [&](std::string_view name, std::size_t) {
    for (const AdmissionOperation each : kOperations) {
      if (name == kAny || name == admission_operation_name(each)) out.operations |= operation_bit(each);
    }
  });
  const std::string_view scope = get_string(rule, "scope");
  out.scope = scope == "Cluster" ? RuleScope::kCluster : scope == "Namespaced" ? RuleScope::kNamespaced : RuleScope::kAll;
  out.groups = texts_of(rule, "apiGroups");
  out.versions = texts_of(rule, "apiVersions");
  out.resources = texts_of(rule, "resources");
  out.names = texts_of(rule, "resourceNames");
  return out;
}

std::vector<ResourceRule> read_rules(const Object& match, std::string_view key) {
  std::vector<ResourceRule> out;
  each(match, key, [&](const Object& rule, std::size_t) { out.push_back(read_rule(rule)); });
  return out;
}

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
    if (names_written(rule, written.resource, written.subresource)) out.push_back({&rule, nullptr, names_namespaces(written.resource)});
  }
  if (!equivalent) return out;
  for (const ResourceRule& rule : rules) {
    for (const ServedAs& as : written.equivalents) {
      if (names_written(rule, as.resource, written.subresource)) out.push_back({&rule, &as, names_namespaces(as.resource)});
    }
  }
  return out;
}

bool in_scope(const ResolvedRule& rule, const AdmissionAttributes& attributes) noexcept {
  if (rule.rule->scope == RuleScope::kAll) return true;
  const bool cluster = rule.names_namespaces || namespace_of(attributes).empty();
  return cluster == (rule.rule->scope == RuleScope::kCluster);
}

bool has_name(const ResourceRule& rule, std::string_view name) noexcept {
  return rule.names.empty() || std::find(rule.names.begin(), rule.names.end(), name) != rule.names.end();
}

}  // namespace

unsigned char operation_bit(AdmissionOperation operation) noexcept {
  return static_cast<unsigned char>(1U << static_cast<unsigned>(operation));
}

MatchResources read_match_resources(const Object& match) {
  MatchResources out;
  read_selector(match, "objectSelector", "object", out.objects, out.problem);
  read_selector(match, "namespaceSelector", "namespace", out.namespaces, out.problem);
  out.rules = read_rules(match, "resourceRules");
  out.excluded = read_rules(match, "excludeResourceRules");
  const std::string_view policy = get_string(match, "matchPolicy");
  out.equivalent = !policy.empty() && policy != "Exact";
  return out;
}

ResolvedMatch resolve(const MatchResources* match, const WrittenResource& written) {
  if (match == nullptr) return {};
  return {match, resolve_rules(match->rules, match->equivalent, written), resolve_rules(match->excluded, match->equivalent, written)};
}

const ResolvedRule* find_rule(const std::vector<ResolvedRule>& rules, const AdmissionAttributes& attributes) noexcept {
  const unsigned char bit = operation_bit(attributes.operation);
  for (const ResolvedRule& each : rules) {
    const bool fits = (each.rule->operations & bit) != 0 && in_scope(each, attributes) && has_name(*each.rule, attributes.name);
    if (fits) return &each;
  }
  return nullptr;
}

bool is_namespace(const AdmissionAttributes& attributes) noexcept {
  return attributes.resource.resource == "namespaces" && attributes.resource.group.empty();
}

std::string_view namespace_of(const AdmissionAttributes& attributes) noexcept {
  return is_namespace(attributes) ? std::string_view(attributes.name) : std::string_view(attributes.ns);
}

}  // namespace backplane::admission::policies
