#include "typing/type_checker.hpp"

#include <algorithm>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/resource_resolver.hpp"
#include "backplane/types/cel_policy.hpp"

namespace backplane::admissionregistration {
namespace {

constexpr std::size_t kMostKinds = 10;  // the maximum number of kinds of one rule

// The names in a rule, sorted; empty if a name contains a wildcard.
std::vector<std::string> plain_names(const Object& rule, std::string_view key) {
  std::vector<std::string> out = texts_of(rule, key);
  const auto is_wild = [](const std::string& name) { return name.find('*') != std::string::npos; };
  if (std::any_of(out.begin(), out.end(), is_wild)) return {};
  std::sort(out.begin(), out.end());
  return out;
}

// The resources of a rule, sorted; resources that contain a wildcard or a subresource are omitted.
std::vector<std::string> plain_resources(const Object& rule) {
  std::vector<std::string> out = texts_of(rule, "resources");
  std::erase_if(out, [](const std::string& name) { return name.find_first_of("*/") != std::string::npos; });
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<GroupVersionResource> resources_of(const Object& rule) {
  std::vector<GroupVersionResource> out;
  const auto groups = plain_names(rule, "apiGroups"), versions = plain_names(rule, "apiVersions"), resources = plain_resources(rule);
  for (const std::string& group : groups) {
    for (const std::string& version : versions) {
      for (const std::string& resource : resources) out.push_back({group, version, resource});
    }
  }
  return out;
}

GroupVersionKind param_kind_of(const Object& spec) {
  const Object& kind = object_or_empty(spec, "paramKind");
  const auto version = kit::parse_group_version(get_string(kind, "apiVersion"));
  if (!version.ok()) return {};
  return {version->group, version->version, std::string(get_string(kind, "kind"))};
}

cel::TypeRef type_of_schema(const std::optional<Object>& schema) { return schema ? cel::declare(*schema, true) : nullptr; }

// A kind, and the environment in which the policy's expressions are compiled for objects of that kind.
struct KindUnderCheck {
  GroupVersionKind kind;
  std::shared_ptr<const cel::Environment> environment;

  // Returns the warning; empty: no warning. A failure while the program is planned is not a type error.
  std::string problem(const std::string& expression) const {
    const cel::Compiled compiled = environment->compile(expression);
    const bool typed = compiled.program != nullptr || compiled.problems.starts_with("program instantiation");
    return typed ? std::string() : kind.group + "/" + kind.version + ", Kind=" + kind.kind + ": " + compiled.problems + "\n";
  }
};

KindUnderCheck prepare(GroupVersionKind kind, const Object& spec, cel::PolicyTypes types, bool params) {
  types.object_name = kind.kind + "0";
  cel::PolicyVariables variables;
  const auto environment = [&] { return cel::policy_environment({.params = params, .variables = &variables, .stored = true}, types); };
  each(spec, "variables", [&](const Object& variable, std::size_t) {
    const cel::Compiled compiled = environment()->compile(get_string(variable, "expression"));
    const std::string name(get_string(variable, "name"));
    std::erase_if(variables, [&](const auto& each) { return each.first == name; });
    variables.emplace_back(name, cel::policy_variable(compiled.program.get()));
  });
  return {std::move(kind), environment()};
}

void check_expression(const std::vector<KindUnderCheck>& kinds, const std::string& expression, std::string field,
                      std::vector<ExpressionWarning>& out) {
  std::string all;
  for (const KindUnderCheck& each : kinds) {
    const std::string problem = each.problem(expression);
    if (!problem.empty()) all.append(all.empty() ? "" : "\n").append(problem);
  }
  if (!all.empty()) out.push_back({std::move(field), std::move(all)});
}

}  // namespace

Task<std::vector<GroupVersionKind>> TypeChecker::kinds_of(const Object& policy) {
  std::vector<GroupVersionKind> out;
  const Array* rules = get_array(object_or_empty(object_or_empty(policy, "spec"), "matchConstraints"), "resourceRules");
  for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
    const Object* rule = (*rules)[i].if_object();
    const auto resources = rule == nullptr ? std::vector<GroupVersionResource>() : resources_of(*rule);
    std::size_t count = 0;
    for (const GroupVersionResource& resource : resources) {
      auto finding = types_.kinds_of(resource);
      const auto found = co_await std::move(finding);
      const std::size_t taken = std::min(found.size(), kMostKinds - count);
      out.insert(out.end(), found.begin(), found.begin() + static_cast<std::ptrdiff_t>(taken));
      count += taken;
      if (count == kMostKinds) break;
    }
    if (count == kMostKinds) break;  // as upstream, ignores the remaining rules
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  co_return out;
}

Task<std::vector<ExpressionWarning>> TypeChecker::check(Object policy) {
  auto refreshing = types_.refresh();
  co_await std::move(refreshing);
  auto finding = kinds_of(policy);
  const auto found = co_await std::move(finding);
  const Object& spec = object_or_empty(policy, "spec");
  cel::PolicyTypes types;
  const GroupVersionKind param_kind = param_kind_of(spec);
  if (!param_kind.kind.empty()) {
    auto getting = types_.schema_of(param_kind);
    const auto schema = co_await std::move(getting);
    types.params = type_of_schema(schema);
    types.params_name = param_kind.kind + "0";
  }
  std::vector<KindUnderCheck> kinds;
  for (const GroupVersionKind& kind : found) {
    auto getting = types_.schema_of(kind);
    const auto schema = co_await std::move(getting);
    if (!schema) continue;
    types.object = type_of_schema(schema);
    kinds.push_back(prepare(kind, spec, types, param_kind != GroupVersionKind()));
  }
  std::vector<ExpressionWarning> out;
  const Array* validations = get_array(spec, "validations");
  for (std::size_t i = 0; validations != nullptr && i < validations->size(); ++i) {
    const Object* validation = (*validations)[i].if_object();
    if (validation == nullptr) continue;
    for (const char* field : {"expression", "messageExpression"}) {
      const std::string expression(get_string(*validation, field));
      const bool optional = std::string_view(field) == "messageExpression";
      if (!optional || !expression.empty()) check_expression(kinds, expression, at(at("spec.validations", i), field), out);
    }
  }
  co_return out;
}

}  // namespace backplane::admissionregistration
