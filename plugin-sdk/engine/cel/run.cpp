// Evaluates a compiled program.
#include <vector>

#include "backplane/types/cel.hpp"
#include "cel/host_value.hpp"
#include "cel/plan.hpp"
#include "cel/program.hpp"
#include "cel/result.hpp"

namespace backplane::cel_detail {
namespace {

Val binding_val(Arena& arena, const Plan::Variable& variable, std::span<const cel::Binding> bindings) {
  const bool optional = variable.decl != nullptr && variable.decl->form == cel::DeclType::Form::kOptional;
  for (const cel::Binding& binding : bindings) {
    if (binding.name != variable.name) continue;
    if (binding.bare && binding.tree == nullptr) return unbound(variable.name);
    if (binding.bare && optional) return tree_val(arena, *binding.tree, variable.decl->items.get());
    if (binding.host != nullptr) return host_val(arena, *binding.host);
    if (binding.tree != nullptr) return tree_val(arena, *binding.tree, variable.decl);
    return optional ? none_val() : null_val();
  }
  return optional ? none_val() : unbound(variable.name);
}

cel::Outcome::End end_of(Halt halt) { return halt == Halt::kCancelled ? cel::Outcome::End::kCancelled : cel::Outcome::End::kCallLimit; }

// Runs the program with the budget of one call, without the total budget of several calls.
cel::Outcome run_alone(const Plan& plan, std::span<const cel::Binding> bindings, const cel::Budget& budget) {
  Arena arena;
  Run run(arena);
  run.limit = budget.per_call;
  if (budget.cancelled) run.cancelled = &budget.cancelled;
  cel::Outcome out;
  try {
    Val* variables = run.arena.allocate<Val>(plan.variables.size());
    for (std::size_t i = 0; i < plan.variables.size(); ++i) variables[i] = binding_val(run.arena, plan.variables[i], bindings);
    run.variables = {variables, plan.variables.size()};
    auto* locals = run.arena.allocate<Local>(plan.locals);
    std::uninitialized_fill_n(locals, plan.locals, Local{});
    run.locals = {locals, plan.locals};
    const Val value = plan.root->eval(run);
    if (value.is_error()) {
      out.end = cel::Outcome::End::kFailed;
      out.message = value.view();
    } else {
      out.value = result_of(run.arena, value);
    }
  } catch (const Halted& halted) {
    const Halt halt = halted.why;
    out.end = end_of(halt);
    out.message = halt == Halt::kCancelled ? "operation interrupted" : "operation cancelled: actual cost limit exceeded";
  }
  // A run may also be stopped by the memory limit, before it reaches the cost limit.
  const bool exceeded = out.end == cel::Outcome::End::kCallLimit;
  out.cost = exceeded ? std::max(run.cost, run.limit + 1) : run.cost;
  return out;
}

}  // namespace
}  // namespace backplane::cel_detail

namespace backplane BACKPLANE_API {
namespace cel BACKPLANE_API {

Outcome run(const Program& program, std::span<const Binding> bindings, Budget& budget) {
  Outcome out = cel_detail::run_alone(*program.state().plan, bindings, budget);
  if (out.cost > budget.left) {
    out.end = Outcome::End::kNoBudget;
    out.value = nullptr;
    out.message = "operation cancelled: actual cost limit exceeded";
  }
  budget.left -= std::min(out.cost, budget.left);
  return out;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
