#include "config/claim_expressions.hpp"

#include <algorithm>
#include <array>

namespace backplane::authentication {
namespace {

std::shared_ptr<const cel::Environment> environment_with(std::string name, cel::TypeRef type, std::string type_name) {
  cel::EnvironmentOptions options;
  options.stored = true;
  options.variables = {{std::move(name), std::move(type), std::move(type_name)}};
  return cel::Environment::make(std::move(options));
}

cel::TypeRef user_type() {
  const auto text = cel::named_type("string");
  const auto texts = cel::list_type(text);
  return cel::object_type("kubernetes.UserInfo",
                          {{"username", text}, {"uid", text}, {"groups", texts}, {"extra", cel::map_type(text, texts)}});
}

// Upstream checks expressions with values of the type "any" (`checked`). This type does not admit null, but claims may be null. Therefore
// programs run with values of the type "dyn" (`run`).
struct Environments {
  std::shared_ptr<const cel::Environment> checked, run;
};

const Environments& environments(ExpressionOver over) {
  static const auto claims_of = [](const char* values) {
    return environment_with("claims", cel::map_type(cel::named_type("string"), cel::named_type(values)), {});
  };
  static const Environments claims{claims_of("any"), claims_of("dyn")};
  static const Environments user = [] {
    const auto made = environment_with("user", user_type(), "kubernetes.UserInfo");
    return Environments{made, made};
  }();
  return over == ExpressionOver::kClaims ? claims : user;
}

Value cel_tree(const Value& value, bool escaped_names);

Object cel_object(const Object& object, bool escaped_names) {
  Object out;
  for (const auto& member : object) {
    out.emplace(member.key(), cel_tree(member.value(), escaped_names));
    const std::string escaped = escaped_names ? cel::escape(member.key()) : std::string();
    if (!escaped.empty() && escaped != std::string_view(member.key())) out.emplace(escaped, cel_tree(member.value(), escaped_names));
  }
  return out;
}

Value cel_tree(const Value& value, bool escaped_names) {
  if (value.is_int64()) return static_cast<double>(value.get_int64());
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  if (value.is_object()) return cel_object(value.get_object(), escaped_names);
  if (!value.is_array()) return value;
  Array out;
  for (const Value& item : value.get_array()) out.push_back(cel_tree(item, escaped_names));
  return out;
}

Object user_tree(const UserInfo& user) {
  Object out, extra;
  for (const auto& [key, values] : user.extra) extra.emplace(key, Array(values.begin(), values.end()));
  out.emplace("username", user.name);
  out.emplace("uid", user.uid);
  out.emplace("groups", Array(user.groups.begin(), user.groups.end()));
  out.emplace("extra", std::move(extra));
  return out;
}

// Returns true for a result of a type that JSON does not have. Such a result arrives as a text, but it is not a string.
bool is_text_of_another_type(const cel::Program& program, const Value& value) {
  constexpr std::array<std::string_view, 5> kOther{"bytes", "duration", "timestamp", "google.protobuf.Duration",
                                                   "google.protobuf.Timestamp"};
  return value.is_string() && std::find(kOther.begin(), kOther.end(), program.result_type()) != kOther.end();
}

Result<Value> evaluate_over(const ClaimExpression& expression, std::string_view name, const Value& tree) {
  cel::Budget budget;
  const cel::Binding binding{name, &tree};
  cel::Outcome outcome = cel::run(*expression.program, {&binding, 1}, budget);
  if (outcome.end != cel::Outcome::End::kValue) {
    const std::string why = outcome.message.empty() ? "the cost limit is exceeded" : outcome.message;
    return unauthorized("expression '" + std::string(expression.program->source()) + "' resulted in error: " + why);
  }
  if (is_text_of_another_type(*expression.program, outcome.value)) return Value(Object());
  return std::move(outcome.value);
}

Status check_rules(const std::vector<ClaimExpression>& rules, std::string_view name, const Value& tree) {
  std::vector<Value> results;
  for (const ClaimExpression& rule : rules) {
    auto result = evaluate_over(rule, name, tree);
    if (!result.ok()) return std::move(result).status();
    results.push_back(std::move(*result));
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (!results[i].is_bool()) return unauthorized("validation expression must return a boolean");
    if (!results[i].get_bool())
      return unauthorized("validation expression '" + std::string(rules[i].program->source()) + "' failed: " + rules[i].label);
  }
  return {};
}

}  // namespace

CompiledExpression compile_expression(std::string_view expression, ExpressionOver over, bool must_be_bool) {
  const Environments& use = environments(over);
  cel::Compiled compiled = use.checked->compile(expression);
  if (compiled.program == nullptr) return {nullptr, "compilation failed: " + compiled.problems};
  if (must_be_bool && compiled.program->result_type() != "bool") return {nullptr, "must evaluate to bool"};
  if (use.run == use.checked) return {std::move(compiled.program), {}};
  cel::Compiled runnable = use.run->compile(expression);
  if (runnable.program == nullptr) return {nullptr, "compilation failed: " + runnable.problems};
  return {std::move(runnable.program), {}};
}

ClaimsValue::ClaimsValue(const Object& claims, bool escaped_names) : tree_(cel_object(claims, escaped_names)) {}

Result<Value> ClaimsValue::evaluate(const ClaimExpression& expression) const { return evaluate_over(expression, "claims", tree_); }

Status ClaimsValue::check(const std::vector<ClaimExpression>& rules) const { return check_rules(rules, "claims", tree_); }

Status check_user_rules(const std::vector<ClaimExpression>& rules, const UserInfo& user, bool escaped_names) {
  return check_rules(rules, "user", Value(cel_object(user_tree(user), escaped_names)));
}

Result<std::vector<std::string>> string_list(const Value& value) {
  const auto wrong = [] { return unauthorized("expression must return a string or a list of strings"); };
  std::vector<std::string> out;
  if (value.is_null()) return out;
  if (value.is_string()) {
    if (!value.get_string().empty()) out.emplace_back(value.get_string());
    return out;
  }
  if (!value.is_array()) return wrong();
  for (const Value& item : value.get_array()) {
    if (!item.is_string()) return wrong();
    if (!item.get_string().empty()) out.emplace_back(item.get_string());
  }
  return out;
}

}  // namespace backplane::authentication
