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

// The names that expressions may use, in addition to object, oldObject, request and namespaceObject.
struct PolicyNames {
  bool params = false;
  bool authorizer = true;
  bool patches = false;  // true: Object{…} and JSONPatch{…} may be used
  // Members of `variables`; null: `variables` does not exist.
  const PolicyVariables* variables = nullptr;
  bool stored = false;  // EnvironmentOptions::stored
};

// The types for checking a policy's expressions (upstream's TypeChecker). Null: the type dyn.
struct PolicyTypes {
  TypeRef object;  // of object and oldObject
  TypeRef params;
  // The names of these types in messages.
  std::string object_name, params_name;
};

// Returns the environment for these names.
std::shared_ptr<const Environment> policy_environment(const PolicyNames& names);
// Returns an environment with these types, which is only for checking expressions: authorizer.requestResource does not exist in it.
std::shared_ptr<const Environment> policy_environment(const PolicyNames& names, const PolicyTypes& types);
// Returns the type of variables.x, whose expression is `program`; null if the expression has errors.
TypeRef policy_variable(const Program* program);
// Returns an empty text, or an error such as "must evaluate to bool but got int". `wanted`: names of types as result_type() returns them;
// "any" accepts every type.
std::string result_problem(const Program& program, std::initializer_list<std::string_view> wanted);

}  // namespace BACKPLANE_API
}  // namespace backplane
