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

// An item of status.typeChecking.expressionWarnings.
struct ExpressionWarning {
  std::string field_ref, warning;
};

class TypeChecker {
 public:
  explicit TypeChecker(ServedTypes& types) : types_(types) {}
  // Returns the warnings of a policy. At most ten kinds of a rule are checked. A rule whose groups or versions contain a wildcard is
  // skipped, and so is a resource that contains a wildcard or a subresource. In the texts, the name of an object type is its kind and a
  // number; upstream takes the number from the clock, here it is 0.
  Task<std::vector<ExpressionWarning>> check(Object policy);

 private:
  Task<std::vector<GroupVersionKind>> kinds_of(const Object& policy);

  ServedTypes& types_;
};

}  // namespace backplane::admissionregistration
