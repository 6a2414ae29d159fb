#include "backplane/types/cel_policy.hpp"

#include <algorithm>

#include "cel/program.hpp"

namespace backplane BACKPLANE_API {
namespace cel BACKPLANE_API {

using namespace cel_detail;

namespace {

using Fields = std::vector<std::pair<std::string, TypeRef>>;

struct FieldRow {
  const char* name;
  const char* type;
};

Fields fields_of(std::initializer_list<FieldRow> rows) {
  Fields out;
  for (const FieldRow& row : rows) out.emplace_back(row.name, named_type(row.type));
  return out;
}

TypeRef request_type() {
  const TypeRef kind =
      object_type("kubernetes.GroupVersionKind", fields_of({{"group", "string"}, {"version", "string"}, {"kind", "string"}}));
  const TypeRef resource =
      object_type("kubernetes.GroupVersionResource", fields_of({{"group", "string"}, {"version", "string"}, {"resource", "string"}}));
  const TypeRef user = object_type(
      "kubernetes.UserInfo",
      fields_of({{"username", "string"}, {"uid", "string"}, {"groups", "list(string)"}, {"extra", "map(string, list(string))"}}));
  Fields fields = fields_of({{"subResource", "string"},
                             {"requestSubResource", "string"},
                             {"name", "string"},
                             {"namespace", "string"},
                             {"operation", "string"},
                             {"dryRun", "bool"},
                             {"options", "dyn"}});
  fields.emplace_back("kind", kind);
  fields.emplace_back("resource", resource);
  fields.emplace_back("requestKind", kind);
  fields.emplace_back("requestResource", resource);
  fields.emplace_back("userInfo", user);
  return object_type("kubernetes.AdmissionRequest", std::move(fields));
}

TypeRef namespace_type() {
  const TypeRef condition = object_type(
      "kubernetes.NamespaceCondition",
      fields_of(
          {{"status", "string"}, {"type", "string"}, {"lastTransitionTime", "timestamp"}, {"message", "string"}, {"reason", "string"}}));
  Fields status = fields_of({{"phase", "string"}});
  status.emplace_back("conditions", list_type(condition));
  const TypeRef metadata = object_type("kubernetes.NamespaceMetadata", fields_of({{"name", "string"},
                                                                                  {"generateName", "string"},
                                                                                  {"namespace", "string"},
                                                                                  {"labels", "map(string, string)"},
                                                                                  {"annotations", "map(string, string)"},
                                                                                  {"UID", "string"},
                                                                                  {"creationTimestamp", "timestamp"},
                                                                                  {"deletionGracePeriodSeconds", "int"},
                                                                                  {"deletionTimestamp", "timestamp"},
                                                                                  {"generation", "int"},
                                                                                  {"resourceVersion", "string"},
                                                                                  {"finalizers", "list(string)"}}));
  return object_type("kubernetes.Namespace",
                     {{"metadata", metadata},
                      {"spec", object_type("kubernetes.NamespaceSpec", fields_of({{"finalizers", "list(string)"}}))},
                      {"status", object_type("kubernetes.NamespaceStatus", std::move(status))}});
}

// Upstream declares variables with named types; other values are dynamic.
TypeRef variable_of(const Type& type) {
  switch (type.kind) {
    case TypeKind::kList:
      return list_type(variable_of(*type.parameters[0]));
    case TypeKind::kMap:
      return map_type(variable_of(*type.parameters[0]), variable_of(*type.parameters[1]));
    case TypeKind::kAny:
    case TypeKind::kBool:
    case TypeKind::kBytes:
    case TypeKind::kDouble:
    case TypeKind::kDuration:
    case TypeKind::kInt:
    case TypeKind::kNull:
    case TypeKind::kString:
    case TypeKind::kTimestamp:
    case TypeKind::kUint:
      return named_type(type.wrapper ? "dyn" : to_text(type));
    default:
      return named_type("dyn");
  }
}

// `authorizer.requestResource` is a separate variable.
EnvironmentOptions policy_options(const PolicyNames& names, const PolicyTypes& types) {
  static const TypeRef kRequest = request_type(), kNamespace = namespace_type(), kAnything = named_type("dyn");
  static const TypeRef kAuthorizer = named_type("kubernetes.authorization.Authorizer");
  const TypeRef& object = types.object == nullptr ? kAnything : types.object;
  EnvironmentOptions options;
  options.stored = names.stored;
  options.variables = {{"object", object, types.object_name},
                       {"oldObject", object, types.object_name},
                       {"request", kRequest},
                       {"namespaceObject", kNamespace}};
  if (names.params) options.variables.push_back({"params", types.params == nullptr ? kAnything : types.params, types.params_name});
  if (names.authorizer) options.variables.push_back({"authorizer", kAuthorizer});
  if (names.variables != nullptr) options.variables.push_back({"variables", object_type("kubernetes.variables", *names.variables)});
  options.extras.json_patch = names.patches;
  return options;
}

}  // namespace

std::shared_ptr<const Environment> policy_environment(const PolicyNames& names) {
  static const TypeRef kResourceCheck = named_type("kubernetes.authorization.ResourceCheck");
  EnvironmentOptions options = policy_options(names, {});
  if (names.authorizer) options.variables.push_back({"authorizer.requestResource", kResourceCheck});
  return Environment::make(std::move(options));
}

std::shared_ptr<const Environment> policy_environment(const PolicyNames& names, const PolicyTypes& types) {
  return Environment::make(policy_options(names, types));
}

TypeRef policy_variable(const Program* program) {
  if (program == nullptr) return named_type("dyn");
  const Ast& ast = program->state().ast;
  return variable_of(*ast.type(*ast.root));
}

std::string result_problem(const Program& program, std::initializer_list<std::string_view> wanted) {
  const std::string type = program.result_type();
  const auto fits = [&](std::string_view each) { return each == type || each == "any"; };
  if (std::any_of(wanted.begin(), wanted.end(), fits)) return {};
  const Ast& ast = program.state().ast;
  const std::string got = " but got " + runtime_text(*ast.type(*ast.root));
  TypeArena arena;
  std::string all;
  for (const std::string_view each : wanted) all += (all.empty() ? "" : " ") + runtime_text(*arena.read(each));
  return wanted.size() == 1 ? "must evaluate to " + all + got : "must evaluate to one of [" + all + "]" + got;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
