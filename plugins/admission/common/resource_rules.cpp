#include "common/resource_rules.hpp"

#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"

namespace backplane::admission {
namespace {

using Scope = ResourceRule::Scope;

constexpr std::string_view kAny = "*";
constexpr std::array kRuleOperations = {AdmissionOperation::kCreate, AdmissionOperation::kUpdate, AdmissionOperation::kDelete,
                                        AdmissionOperation::kConnect};

OperationSet operations_named(std::string_view name) {
  OperationSet out = 0;
  for (const AdmissionOperation operation : kRuleOperations) {
    if (name == kAny || name == admission_operation_name(operation)) out |= operation_bit(operation);
  }
  return out;
}

Scope read_scope(const Object& rule) {
  const std::string_view scope = get_string(rule, "scope");
  if (scope.empty() || scope == kAny) return Scope::kAll;
  if (scope == "Cluster") return Scope::kCluster;
  return scope == "Namespaced" ? Scope::kNamespaced : Scope::kUnknown;
}

ResourceRule::Resource split_rule_resource(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

bool any_or(const std::vector<std::string>& items, std::string_view wanted) noexcept {
  return std::any_of(items.begin(), items.end(), [&](const std::string& item) { return item == kAny || item == wanted; });
}

bool in_scope(Scope scope, const GroupVersionResource& resource, std::string_view ns) noexcept {
  if (scope == Scope::kAll) return true;
  if (scope == Scope::kUnknown) return false;
  // A write of a namespace has a namespace, but the object is cluster-scoped.
  const bool is_namespace = resource.resource == "namespaces" && resource.version == "v1" && resource.group.empty();
  return (is_namespace || ns.empty()) == (scope == Scope::kCluster);
}

}  // namespace

ResourceRule read_resource_rule(const Object& rule) {
  ResourceRule out;
  each_text(rule, "operations", [&](std::string_view name, std::size_t) { out.operations |= operations_named(name); });
  out.scope = read_scope(rule);
  out.groups = texts_of(rule, "apiGroups");
  out.versions = texts_of(rule, "apiVersions");
  each_text(rule, "resources", [&](std::string_view text, std::size_t) { out.resources.push_back(split_rule_resource(text)); });
  out.names = texts_of(rule, "resourceNames");
  return out;
}

std::vector<ResourceRule> read_resource_rules(const Object& parent, std::string_view key) {
  std::vector<ResourceRule> out;
  each(parent, key, [&](const Object& rule, std::size_t) { out.push_back(read_resource_rule(rule)); });
  return out;
}

bool names_resource(const ResourceRule& rule, const GroupVersionResource& resource, std::string_view subresource) noexcept {
  const auto names = [&](const ResourceRule::Resource& each) {
    return (each.resource == kAny || each.resource == resource.resource) && (each.subresource == kAny || each.subresource == subresource);
  };
  return any_or(rule.groups, resource.group) && any_or(rule.versions, resource.version) &&
         std::any_of(rule.resources.begin(), rule.resources.end(), names);
}

bool admits_write(const ResourceRule& rule, const GroupVersionResource& resource, const AdmissionAttributes& attributes) noexcept {
  const bool named = rule.names.empty() || std::find(rule.names.begin(), rule.names.end(), attributes.name) != rule.names.end();
  return (rule.operations & operation_bit(attributes.operation)) != 0 && in_scope(rule.scope, resource, attributes.ns) && named;
}

}  // namespace backplane::admission
