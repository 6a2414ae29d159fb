#include "policies/expression_compiler.hpp"

#include <algorithm>

namespace backplane::admission::policies {
namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

// The indexes of the variables that `source` mentions. One type with all variables for each expression would need quadratic time.
ExpressionCompiler::Places ExpressionCompiler::mentioned(std::string_view source) const {
  Places out;
  for (auto at = source.begin(); at != source.end();) {
    const auto begin = std::find_if(at, source.end(), is_word);
    at = std::find_if_not(begin, source.end(), is_word);
    const auto found = places_.find(std::string_view(begin, at));
    if (found != places_.end()) out.insert(found->second);
  }
  return out;
}

std::shared_ptr<const cel::Environment> ExpressionCompiler::environment(std::string_view source, Names names) {
  Places places = mentioned(source);
  const bool same =
      last_.environment != nullptr && last_.places == places && last_.authorizer == names.authorizer && last_.patches == names.patches;
  if (same) return last_.environment;
  cel::PolicyVariables variables;
  for (const std::size_t place : places) variables.push_back(types_[place]);
  auto made = cel::policy_environment(
      {.params = params_, .authorizer = names.authorizer, .patches = names.patches, .variables = &variables, .stored = true});
  last_ = {std::move(places), names.authorizer, names.patches, made};
  return made;
}

Expression ExpressionCompiler::compile(std::string source, std::initializer_list<std::string_view> types, Names names) {
  Expression out;
  cel::Compiled compiled = environment(source, names)->compile(source);
  if (compiled.program == nullptr) {
    out.problem = (compiled.problems.starts_with("program instantiation") ? "" : "compilation failed: ") + compiled.problems;
  } else {
    out.problem = cel::result_problem(*compiled.program, types);
  }
  if (out.problem.empty()) out.program = std::move(compiled.program);
  out.source = std::move(source);
  return out;
}

void ExpressionCompiler::add_variable(std::string_view name, const std::string& source) {
  Expression made = compile(source, {"any"});
  const auto [place, added] = places_.emplace(name, variables_.size());
  if (added) {
    variables_.emplace_back();
    types_.emplace_back();
  }
  types_[place->second] = {std::string(name), cel::policy_variable(made.program.get())};
  variables_[place->second] = {std::string(name), std::move(made.program), std::move(made.problem)};
  last_ = {};
}

}  // namespace backplane::admission::policies
