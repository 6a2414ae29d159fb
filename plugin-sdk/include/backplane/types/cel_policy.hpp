// What expressions of admission policies and of match conditions may name: the object, what it was, the request, its namespace, parameters,
// the authorizer, and the policy's own variables.
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

// A policy's variables, in their order, and what policy_variable() says of each.
using PolicyVariables = std::vector<std::pair<std::string, TypeRef>>;

struct PolicyNames {
  bool params = false;
  bool authorizer = true;
  bool patches = false;  // Object{…} and JSONPatch{…}
  // Members of `variables`; null: there is no such thing.
  const PolicyVariables* variables = nullptr;
};

std::shared_ptr<const Environment> policy_environment(const PolicyNames& names);
// What variables.x is, whose expression the program is; null: one that does not compile.
TypeRef policy_variable(const Program* program);
// Empty, or "must evaluate to bool but got int".  Types as result_type() has them; "any": every type will do.
std::string result_problem(const Program& program, std::initializer_list<std::string_view> wanted);

}  // namespace BACKPLANE_API
}  // namespace backplane
