#include "cel/program.hpp"

#include "cel/checker.hpp"
#include "cel/cost.hpp"

namespace backplane BACKPLANE_API {
namespace cel BACKPLANE_API {

using namespace cel_detail;

Compiled Environment::compile(std::string_view expression) const {
  auto program = std::make_unique<Program::State>(expression);
  program->environment = shared_from_this();
  cel_detail::Problems problems;
  parse(program->ast, state_->syntax, problems);
  if (problems.empty()) check(program->ast, *state_, program->arena, problems);
  if (problems.empty()) check_literals(program->ast, *state_, problems);
  if (!problems.empty()) return {nullptr, problems.printed(expression)};
  program->cost = estimate_cost(program->ast, *state_);
  std::string problem;
  program->plan = make_plan(program->ast, state_->options, problem);
  if (program->plan == nullptr) return {nullptr, "program instantiation failed: " + problem};
  return {std::make_shared<const Program>(std::move(program)), {}};
}

Program::Program(std::unique_ptr<State> state) : state_(std::move(state)) {}
Program::~Program() = default;

std::string_view Program::source() const noexcept { return state_->ast.source(); }
const Environment& Program::environment() const noexcept { return *state_->environment; }
std::string Program::result_type() const { return to_text(*state_->ast.type(*state_->ast.root)); }
Cost Program::cost() const { return state_->cost; }

bool Program::uses(std::string_view variable) const {
  for (const Reference* each : state_->ast.references) {
    if (each != nullptr && each->name == variable) return true;
  }
  return false;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
