// Policies and bindings, read and compiled.
//
// Thread-safety: immutable after construction; any thread.
// Lifetime:      shared by the snapshots that contain them.
// Errors:        an expression that does not compile retains the error, which its evaluation returns.
// Source:        k8s.io/apiserver/pkg/admission/plugin/policy/{validating,mutating} (compilePolicy, accessor.go).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/selectors.hpp"
#include "backplane/types/cel_scope.hpp"
#include "policies/match_resources.hpp"

namespace backplane::admission::policies {

enum class PolicyType : unsigned char { kValidating, kMutating };

struct Expression {
  std::string source;                           // as upstream prints it in errors
  std::shared_ptr<const cel::Program> program;  // null: it does not compile, or there is none
  std::string problem;                          // why it does not compile
};

struct Validation {
  Expression expression, message;  // no message expression: neither program nor problem
  std::string text;                // the message, trimmed
  Reason reason = Reason::kInvalid;
};
struct AuditAnnotation {
  std::string key;
  Expression value;
};
struct Mutation {
  bool json_patch = false;  // false: an apply configuration
  Expression expression;
};

// The expensive values that the expressions of a policy use.
struct UsedValues {
  bool request = false, namespace_object = false, authorizer = false, managed_fields = false;
};

struct ParamKind {
  std::string api_version, kind;
  auto operator<=>(const ParamKind&) const = default;
};

struct Policy {
  std::string name;
  std::string version;  // metadata.resourceVersion
  bool ignores_failure = false;
  MatchResources match;
  std::optional<ParamKind> param_kind;
  std::vector<cel::ScopeVariable> variables;
  std::vector<Expression> conditions;
  std::vector<Validation> validations;
  std::vector<AuditAnnotation> annotations;
  std::vector<Mutation> mutations;
  bool reinvocable = false;  // reinvocationPolicy: IfNeeded
  UsedValues uses;
};
std::shared_ptr<const Policy> compile_policy(const Object& policy, PolicyType type);

struct ParamRef {
  std::string name, ns;
  std::optional<LabelSelector> selector;
  std::string problem;      // the problem of the selector; empty: none
  bool must_exist = false;  // parameterNotFoundAction: Deny
};

struct Binding {
  std::string name, policy;
  std::optional<MatchResources> match;
  std::optional<ParamRef> params;
  bool denies = false, warns = false, audits = false;
  std::vector<std::string> actions;  // in the order of the binding
};
std::shared_ptr<const Binding> read_binding(const Object& binding);

// The text without surrounding white space.
std::string_view trimmed_text(std::string_view text) noexcept;

}  // namespace backplane::admission::policies
