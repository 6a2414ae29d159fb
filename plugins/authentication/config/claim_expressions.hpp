// The CEL expressions of a JWT authenticator: compiled when the configuration is loaded, evaluated for every token.
//
// As upstream, expressions read claims as JSON: every number is a double, and a member whose name is not an identifier can be selected by
// its escaped name (claims.a__dot__b).
// Thread-safety: immutable; any thread.
// Errors:        compilation: the detail of upstream's field error. Evaluation: kUnauthorized, "expression '…' resulted in error: …".
// Source:        k8s.io/apiserver/pkg/authentication/cel, k8s.io/apiserver/plugin/pkg/authenticator/token/oidc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/types/cel.hpp"

namespace backplane::authentication {

// One compiled expression. `label`: the message of a rule, the key of an extra value; empty for other mappings.
struct ClaimExpression {
  std::shared_ptr<const cel::Program> program;
  std::string label = {};
};

enum class ExpressionOver : unsigned char { kClaims, kUser };

// The program, or the reason why the expression cannot be compiled. `must_be_bool`: true for rules. The results of mappings are checked
// only when they are evaluated.
struct CompiledExpression {
  std::shared_ptr<const cel::Program> program;
  std::string problem;
};
CompiledExpression compile_expression(std::string_view expression, ExpressionOver over, bool must_be_bool);

// True if the expression selects `claims.FIELD` or `claims.?FIELD`.
bool selects_claim(std::string_view expression, std::string_view field);

// The expressions of one JWT authenticator. A mapping that is configured by a claim name has no expression.
struct ClaimExpressions {
  std::optional<ClaimExpression> username, groups, uid;
  std::vector<ClaimExpression> extra, claim_rules, user_rules;

  // True if an expression may select members by their escaped names.
  bool escaped_names = false;

  bool over_claims() const noexcept { return username || groups || uid || !extra.empty() || !claim_rules.empty(); }
};

// The claims of one token, prepared for evaluation.
class ClaimsValue {
 public:
  ClaimsValue(const Object& claims, bool escaped_names);
  Result<Value> evaluate(const ClaimExpression& expression) const;
  // Evaluates the rules in order. The first rule that is not true is the error: "validation expression '…' failed: message".
  Status check(const std::vector<ClaimExpression>& rules) const;

 private:
  Value tree_;
};

// Like ClaimsValue::check(), for rules over the user.
Status check_user_rules(const std::vector<ClaimExpression>& rules, const UserInfo& user, bool escaped_names);

// Returns the text, or the texts of a list, without empty texts; null is an empty list.
// Errors: "expression must return a string or a list of strings".
Result<std::vector<std::string>> string_list(const Value& value);

}  // namespace backplane::authentication
