#include "webhooks/rule.hpp"

#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"

namespace backplane::admission::webhooks {
namespace {

constexpr std::array kRuleOperations = {AdmissionOperation::kCreate, AdmissionOperation::kUpdate, AdmissionOperation::kDelete,
                                        AdmissionOperation::kConnect};

OperationSet operations_named(std::string_view name) {
  OperationSet out = 0;
  for (const AdmissionOperation operation : kRuleOperations) {
    if (name == "*" || name == admission_operation_name(operation)) out |= operation_bit(operation);
  }
  return out;
}

Rule::Scope read_scope(const Object& rule) {
  const std::string_view scope = get_string(rule, "scope");
  if (scope.empty() || scope == "*") return Rule::Scope::kAll;
  if (scope == "Cluster") return Rule::Scope::kCluster;
  return scope == "Namespaced" ? Rule::Scope::kNamespaced : Rule::Scope::kUnknown;
}

Rule::Resource split_rule_resource(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

bool any_or(const std::vector<std::string>& items, std::string_view wanted) {
  return std::any_of(items.begin(), items.end(), [&](const std::string& item) { return item == "*" || item == wanted; });
}

bool in_scope(Rule::Scope scope, const GroupVersionResource& resource, std::string_view ns) {
  if (scope == Rule::Scope::kAll) return true;
  if (scope == Rule::Scope::kUnknown) return false;
  // A namespace object is cluster-scoped, although its request has a namespace.
  const bool is_namespace = resource.resource == "namespaces" && resource.version == "v1" && resource.group.empty();
  const bool cluster = is_namespace || ns.empty();
  return cluster == (scope == Rule::Scope::kCluster);
}

}  // namespace

Rule read_rule(const Object& rule) {
  Rule out;
  each_text(rule, "operations", [&](std::string_view name, std::size_t) { out.operations |= operations_named(name); });
  out.groups = texts_of(rule, "apiGroups");
  out.versions = texts_of(rule, "apiVersions");
  each_text(rule, "resources", [&](std::string_view text, std::size_t) { out.resources.push_back(split_rule_resource(text)); });
  out.scope = read_scope(rule);
  return out;
}

bool rule_matches(const Rule& rule, AdmissionOperation operation, const GroupVersionResource& resource, std::string_view subresource,
                  std::string_view ns) {
  if ((rule.operations & operation_bit(operation)) == 0) return false;
  const auto names = [&](const Rule::Resource& each) {
    return (each.resource == "*" || each.resource == resource.resource) && (each.subresource == "*" || each.subresource == subresource);
  };
  return std::any_of(rule.resources.begin(), rule.resources.end(), names) && any_or(rule.groups, resource.group) &&
         any_or(rule.versions, resource.version) && in_scope(rule.scope, resource, ns);
}

}  // namespace backplane::admission::webhooks
