// Checks the validations of a ValidatingAdmissionPolicy against the types of the kinds that its rules name: status.typeChecking.
//
// Thread-safety: as ServedTypes.
// Lifetime:      borrows `types`.
// Errors:        none: a kind without a schema is not checked.
// Source:        k8s.io/apiserver/pkg/admission/plugin/policy/validating/typechecking.go.
#pragma once

#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "typing/served_types.hpp"

namespace backplane::admissionregistration {

// As in status.typeChecking.expressionWarnings.
struct ExpressionWarning {
  std::string field_ref, warning;
};

class TypeChecker {
 public:
  explicit TypeChecker(ServedTypes& types) : types_(types) {}
  // The warnings of a policy: at most ten kinds of each rule are checked, and rules with wildcards are left out. Names of object types in
  // the texts are the kind and a number, which upstream takes from the clock and which is 0 here.
  Task<std::vector<ExpressionWarning>> check(Object policy);

 private:
  Task<std::vector<GroupVersionKind>> kinds_of(const Object& policy);

  ServedTypes& types_;
};

}  // namespace backplane::admissionregistration
