#include "rule_checks.hpp"

#include <algorithm>

#include "definition.hpp"
#include "field_path.hpp"
#include "go_text.hpp"
#include "rule_compiler.hpp"
#include "rule_metrics.hpp"
#include "schema_rules.hpp"

namespace backplane::apiextensions {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n\r\v\f");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\n\r\v\f") - begin + 1));
}
bool has_newline(std::string_view text) { return text.find_first_of("\n\r") != std::string_view::npos; }

void check_form(const Object& rule, const Object& schema, const std::string& path, FieldErrors& errors) {
  const std::string_view message = get_string(rule, "message");
  const std::string text = trimmed(get_string(rule, "rule"));
  if (text.empty())
    errors.required(path + ".rule", "rule is not specified");
  else if (!message.empty() && trimmed(message).empty())
    errors.invalid(path + ".message", message, "must be non-empty if specified");
  else if (has_newline(trimmed(message)))
    errors.invalid(path + ".message", message, "must not contain line breaks");
  else if (has_newline(text) && trimmed(message).empty())
    errors.required(path + ".message", "message must be specified if rule contains line breaks");

  const std::string_view expression = get_string(rule, "messageExpression");
  if (!expression.empty() && trimmed(expression).empty()) {
    errors.required(path + ".messageExpression", "messageExpression must be non-empty if specified");
  }
  static const std::vector<std::string> kReasons = {"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid",
                                                    "FieldValueRequired"};
  const std::string_view reason = get_string(rule, "reason");
  if (find(rule, "reason") != nullptr && std::find(kReasons.begin(), kReasons.end(), reason) == kReasons.end()) {
    errors.not_supported(path + ".reason", reason, kReasons);
  }
  const std::string_view field_path = get_string(rule, "fieldPath");
  if (!field_path.empty() && trimmed(field_path).empty()) errors.invalid(path + ".fieldPath", field_path, "must be non-empty if specified");
  if (has_newline(field_path)) errors.invalid(path + ".fieldPath", field_path, "must not contain line breaks");
  // A schema that is not structural has no paths.
  const bool wrong = !field_path.empty() && structural_problem(schema).empty() && !follow_path(field_path, schema, true).problem.empty();
  if (wrong) errors.invalid(path + ".fieldPath", field_path, "must be a valid path");
}

// Checks the cost limits of a rule; check_message_cost() checks those of its message.
void check_cost(const CompiledRule& rule, const std::string& path, const RuleScope& scope, bool any_cost, FieldErrors& errors) {
  const std::uint64_t cost = scope.cost_of(rule.cost);
  if (!any_cost && cost > kCostOfRule) errors.forbidden(path + ".rule", cost_problem("estimated rule cost", cost, kCostOfRule));
  scope.total().add(path + ".rule", cost);
}

void check_message_cost(const CompiledRule& rule, const std::string& path, const RuleScope& scope, bool any_cost, FieldErrors& errors) {
  if (!any_cost && rule.message_cost > kCostOfRule)
    errors.forbidden(path + ".messageExpression", cost_problem("estimated messageExpression cost", rule.message_cost, kCostOfRule));
  scope.total().add(path + ".messageExpression", rule.message_cost);
}

}  // namespace

KnownRules known_rules(const Object* old) {
  KnownRules out;
  for (const Object* version : old != nullptr ? versions_of(*old) : std::vector<const Object*>()) {
    const Object* schema = schema_of(*version);
    if (schema == nullptr) continue;
    any_schema(*schema, [&out](const Object& part) {
      for (const Object* rule : objects(part, "x-kubernetes-validations")) {
        out.rules.emplace(get_string(*rule, "rule"));
        out.messages.emplace(get_string(*rule, "messageExpression"));
      }
      return false;
    });
  }
  return out;
}

void check_rule_forms(const Object& schema, const std::string& path, FieldErrors& errors) {
  std::size_t i = 0;
  for (const Object* rule : objects(schema, "x-kubernetes-validations"))
    check_form(*rule, schema, index_path(path, "x-kubernetes-validations", i++), errors);
}

void check_rules(const Object& schema, const std::string& path, const RuleScope& scope, const std::string& uncorrelated,
                 const KnownRules& known, FieldErrors& errors) {
  const std::vector<const Object*> rules = objects(schema, "x-kubernetes-validations");
  if (rules.empty()) return;
  const cel::TypeRef type = scope.type();
  if (type == nullptr) {
    errors.internal(path + ".x-kubernetes-validations",
                    "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural "
                    "schema to CEL declarations");
    return;
  }
  const RuleTimer timer(rule_compilations());
  RuleCompiler compiler(type);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Object& rule = *rules[i];
    const std::string at = index_path(path, "x-kubernetes-validations", i);
    const CompiledRule compiled = compiler.compile(rule, known.rules.contains(get_string(rule, "rule")),
                                                   known.messages.contains(get_string(rule, "messageExpression")));
    check_cost(compiled, at, scope, known.any_cost, errors);
    if (!compiled.problem.empty()) errors.invalid_raw(at + ".rule", rule_text(rule), compiled.problem);
    if (!compiled.message_problem.empty())
      errors.invalid_raw(at + ".messageExpression", rule_text(rule), compiled.message_problem);
    else if (compiled.message != nullptr)
      check_message_cost(compiled, at, scope, known.any_cost, errors);
    const Value* optional_old = find(rule, "optionalOldSelf");
    if (compiled.uses_old && !uncorrelated.empty()) {
      errors.invalid(at + ".rule", get_string(rule, "rule"),
                     "oldSelf cannot be used on the uncorrelatable portion of the schema within " + uncorrelated);
    } else if (!compiled.uses_old && optional_old != nullptr && optional_old->is_bool()) {
      errors.invalid_raw(at + ".optionalOldSelf", to_json(*optional_old), "may not be set if oldSelf is not used in rule");
    }
  }
}

}  // namespace backplane::apiextensions
