#include "rule_compiler.hpp"

#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

// A problem from the compiler has a position. A problem without a position is from the planner, which checks compiled rules.
std::string problem_of(std::string_view compiling, std::string_view planning, std::string_view problems) {
  constexpr std::string_view kPlanner = "program instantiation failed: ";
  if (problems.starts_with("ERROR: ")) return std::string(compiling) + " failed: " + std::string(problems);
  if (problems.starts_with(kPlanner)) problems.remove_prefix(kPlanner.size());
  return std::string(planning) + " failed: " + std::string(problems);
}

}  // namespace

const cel::Environment& RuleCompiler::environment(bool optional_old, bool stored) {
  auto& slot = environments_[optional_old ? 1 : 0][stored ? 1 : 0];
  if (slot == nullptr) {
    cel::EnvironmentOptions options;
    options.stored = stored;
    options.variables.push_back({"self", type_});
    options.variables.push_back({"oldSelf", optional_old ? cel::optional_type(type_) : type_});
    slot = cel::Environment::make(std::move(options));
  }
  return *slot;
}

CompiledRule RuleCompiler::compile(const Object& rule, bool rule_is_stored, bool message_is_stored) {
  CompiledRule out;
  const std::string_view text = get_string(rule, "rule");
  if (text.find_first_not_of(" \t\n\r\v\f") == std::string_view::npos) return out;
  const bool optional_old = get_bool(rule, "optionalOldSelf").value_or(false);
  cel::Compiled compiled = environment(optional_old, rule_is_stored).compile(text);
  if (compiled.program == nullptr) {
    out.problem = problem_of("compilation", "program instantiation", compiled.problems);
    return out;
  }
  if (compiled.program->result_type() != "bool") {
    out.problem = "cel expression must evaluate to a bool";
    return out;
  }
  out.uses_old = compiled.program->uses("oldSelf");
  out.cost = compiled.program->cost().max;
  out.program = std::move(compiled.program);

  const std::string_view message = get_string(rule, "messageExpression");
  if (message.empty()) return out;
  cel::Compiled words = environment(optional_old, message_is_stored).compile(message);
  if (words.program == nullptr) {
    out.message_problem = problem_of("messageExpression compilation", "messageExpression instantiation", words.problems);
  } else if (words.program->result_type() != "string") {
    out.message_problem = "messageExpression must evaluate to a string";
  } else {
    out.message_cost = words.program->cost().max;
    out.message = std::move(words.program);
  }
  return out;
}

}  // namespace backplane::apiextensions
