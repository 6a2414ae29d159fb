// The CEL environment of admission policies and match conditions: object, oldObject, request, namespaceObject, params, authorizer, and
// the policy's variables.
//
// Thread-safety: pure functions.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/types/cel.hpp"

namespace backplane {
namespace cel BACKPLANE_API {

// The policy's variables in order, with the types that policy_variable() returns.
using PolicyVariables = std::vector<std::pair<std::string, TypeRef>>;

// The variables that expressions may use.
struct PolicyNames {
  bool params = false;
  bool authorizer = true;
  bool patches = false;  // Object{…} and JSONPatch{…}
  // Members of `variables`; null: `variables` does not exist.
  const PolicyVariables* variables = nullptr;
  bool stored = false;  // EnvironmentOptions::stored
};

// The types for checks of a policy's expressions (upstream's TypeChecker); null: dyn.
struct PolicyTypes {
  TypeRef object;  // of object and oldObject
  TypeRef params;
  // The names of these types in messages.
  std::string object_name, params_name;
};

// The environment for these names.
std::shared_ptr<const Environment> policy_environment(const PolicyNames& names);
// The same with types, for a check only: authorizer.requestResource does not exist in it.
std::shared_ptr<const Environment> policy_environment(const PolicyNames& names, const PolicyTypes& types);
// The type of variables.x, whose expression is `program`; null if that has errors.
TypeRef policy_variable(const Program* program);
// Empty, or "must evaluate to bool but got int". `wanted`: types as result_type() names them; "any" accepts every type.
std::string result_problem(const Program& program, std::initializer_list<std::string_view> wanted);

}  // namespace BACKPLANE_API
}  // namespace backplane
