// Compiles the expressions of one policy: an expression may use the variables that were added before it.
//
// Thread-safety: one thread.
// Errors:        Expression::problem, with upstream's text ("compilation failed: ERROR: …", "must evaluate to bool but got int").
// Source:        k8s.io/apiserver/pkg/admission/plugin/cel (compile.go, composition.go).
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/types/cel_policy.hpp"
#include "policies/policy.hpp"

namespace backplane::admission::policies {

class ExpressionCompiler {
 public:
  // `params`: whether the policy has a paramKind.
  explicit ExpressionCompiler(bool params) : params_(params) {}

  struct Names {
    bool authorizer = true;
    bool patches = false;
  };
  // `types`: the allowed types of the result.
  Expression compile(std::string source, std::initializer_list<std::string_view> types, Names names = {true, false});
  // If several variables have one name, the last one counts.
  void add_variable(std::string_view name, const std::string& source);
  std::vector<cel::ScopeVariable> take_variables() { return std::move(variables_); }

 private:
  using Places = std::set<std::size_t>;
  Places mentioned(std::string_view source) const;
  std::shared_ptr<const cel::Environment> environment(std::string_view source, Names names);

  const bool params_;
  std::vector<cel::ScopeVariable> variables_;
  cel::PolicyVariables types_;  // the types of variables_
  std::map<std::string, std::size_t, std::less<>> places_;
  // The last environment, for expressions that mention the same variables.
  struct Last {
    Places places;
    bool authorizer = false, patches = false;
    std::shared_ptr<const cel::Environment> environment;
  } last_;
};

}  // namespace backplane::admission::policies
