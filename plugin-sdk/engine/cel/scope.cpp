#include "backplane/types/cel_scope.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "cel/host_value.hpp"
#include "cel/patch_values.hpp"
#include "cel/plan.hpp"
#include "cel/program.hpp"
#include "cel/result.hpp"

namespace backplane::cel_detail {
namespace {

constexpr std::string_view kVariables = "variables";
constexpr std::string_view kCostExceeded = "operation cancelled: actual cost limit exceeded";
constexpr std::string_view kInterrupted = "operation interrupted";

Val scope_val(Arena& arena, const cel::ScopeBinding& binding) {
  if (binding.object != nullptr) return object_val(*binding.object);
  if (binding.tree != nullptr) return tree_val(arena, *binding.tree, nullptr);
  return binding.host != nullptr ? host_val(arena, *binding.host) : null_val();
}

// The result of one evaluation.
struct Evaluated {
  Val value;
  std::uint64_t cost = 0;
  std::optional<Halt> halt;
};

std::string_view halt_text(Halt halt) noexcept { return halt == Halt::kCancelled ? kInterrupted : kCostExceeded; }

}  // namespace
}  // namespace backplane::cel_detail

namespace backplane::cel {

using namespace cel_detail;

struct Scope::State final : LazyMap {
  struct Named {
    std::string_view name;
    Val value;
  };
  enum class Progress : unsigned char { kUnread, kRunning, kDone };
  struct Slot {
    Val value;
    Progress progress = Progress::kUnread;
  };

  State(std::span<const ScopeBinding> bound, std::span<const ScopeVariable> declared, const std::function<bool()>* ends)
      : variables(declared), cancelled(ends) {
    auto* names = arena.allocate<Named>(bound.size());
    std::transform(bound.begin(), bound.end(), names, [this](const ScopeBinding& each) {
      return Named{each.name, scope_val(arena, each)};
    });
    bindings = {names, bound.size()};
    slots = arena.allocate<Slot>(variables.size());
    std::uninitialized_fill_n(slots, variables.size(), Slot());
  }

  Val value_of(std::string_view name) {
    if (name == kVariables) return lazy_val(*this);
    const auto found = std::find_if(bindings.begin(), bindings.end(), [&](const Named& each) { return each.name == name; });
    return found == bindings.end() ? unbound(name) : found->value;
  }

  Evaluated evaluate(const Program& program, std::uint64_t limit) {
    const Plan& plan = *program.state().plan;
    Evaluated out;
    Run run(arena);
    run.limit = limit;
    run.cancelled = cancelled;
    try {
      Val* values = arena.allocate<Val>(plan.variables.size());
      for (std::size_t i = 0; i < plan.variables.size(); ++i) values[i] = value_of(plan.variables[i].name);
      run.variables = {values, plan.variables.size()};
      auto* locals = arena.allocate<Local>(plan.locals);
      std::uninitialized_fill_n(locals, plan.locals, Local{});
      run.locals = {locals, plan.locals};
      out.value = plan.root->eval(run);
    } catch (const Halted& halted) {
      const Halt why = halted.why;
      out.halt = why;
    }
    // A run may also be stopped by the memory limit, before it reaches the cost limit.
    const bool exceeded = out.halt && *out.halt == Halt::kCost;
    out.cost = exceeded ? std::max(run.cost, limit + 1) : run.cost;
    return out;
  }

  // ---- the policy's variables

  std::size_t size() const noexcept override { return variables.size(); }
  std::string_view name(std::size_t at) const noexcept override { return variables[at].name; }

  bool find(std::string_view name, Val& out) override {
    const auto found = std::find_if(variables.begin(), variables.end(), [&](const ScopeVariable& each) { return each.name == name; });
    if (found == variables.end()) return false;
    Slot& slot = slots[found - variables.begin()];
    if (slot.progress == Progress::kUnread) {
      slot.progress = Progress::kRunning;
      slot.value = evaluate_variable(*found);
      slot.progress = Progress::kDone;
    }
    // The checker permits a variable to use only earlier variables.
    out = slot.progress == Progress::kRunning ? error_val("variable uses itself") : slot.value;
    return true;
  }

  Val evaluate_variable(const ScopeVariable& variable) {
    const std::string start = "composited variable \"" + variable.name + "\" fails to ";
    if (variable.program == nullptr) return error_val(arena, start + "compile: " + variable.problem);
    const Evaluated evaluated = evaluate(*variable.program, per_call);
    variables_cost += evaluated.cost;
    if (evaluated.halt) return error_val(arena, start + "evaluate: " + std::string(halt_text(*evaluated.halt)));
    if (evaluated.value.is_error()) return error_val(arena, start + "evaluate: " + std::string(evaluated.value.view()));
    return evaluated.value;
  }

  // ---- runs

  // The value; if there is none, the outcome has the reason.
  Val run(const Program& program, Budget& budget, Outcome& out) {
    per_call = budget.per_call;
    variables_cost = 0;
    const Evaluated evaluated = evaluate(program, budget.per_call);
    out.cost = evaluated.cost + variables_cost;
    if (evaluated.halt) {
      out.end = *evaluated.halt == Halt::kCancelled ? Outcome::End::kCancelled : Outcome::End::kCallLimit;
      out.message = halt_text(*evaluated.halt);
    } else if (evaluated.value.is_error()) {
      out.end = Outcome::End::kFailed;
      out.message = evaluated.value.view();
    }
    if (out.cost > budget.left) {
      out.end = Outcome::End::kNoBudget;
      out.message = kCostExceeded;
    }
    budget.left -= std::min(out.cost, budget.left);
    return evaluated.value;
  }

  Arena arena;
  std::span<const Named> bindings;
  std::span<const ScopeVariable> variables;
  Slot* slots = nullptr;  // the slots of the variables
  const std::function<bool()>* cancelled;
  std::uint64_t per_call = kCostPerCall;
  std::uint64_t variables_cost = 0;
};

}  // namespace backplane::cel

namespace backplane BACKPLANE_API {
namespace cel BACKPLANE_API {

Scope::Scope(std::span<const ScopeBinding> bindings, std::span<const ScopeVariable> variables, const std::function<bool()>* cancelled)
    : state_(std::make_unique<State>(bindings, variables, cancelled)) {}
Scope::~Scope() = default;

Outcome Scope::run(const Program& program, Budget& budget) {
  Outcome out;
  const Val value = state_->run(program, budget, out);
  if (out.end == Outcome::End::kValue) out.value = result_of(state_->arena, value);
  return out;
}

Outcome Scope::run_object(const Program& program, Budget& budget, std::vector<GoValue>* go_values) {
  Outcome out;
  const Val value = state_->run(program, budget, out);
  if (out.end != Outcome::End::kValue) return out;
  const std::string problems = type_name_problems(value);
  if (problems.empty()) {
    out.value = result_of(state_->arena, value);
    if (go_values != nullptr) *go_values = go_values_in(state_->arena, value);
  } else {
    out.end = Outcome::End::kFailed;
    out.message = "type mismatch: " + problems;
  }
  return out;
}

Outcome Scope::run_patch(const Program& program, Budget& budget) {
  Outcome out;
  const Val value = state_->run(program, budget, out);
  if (out.end != Outcome::End::kValue) return out;
  std::string problem;
  out.value = patch_operations(state_->arena, value, problem);
  if (!problem.empty()) {
    out.end = Outcome::End::kFailed;
    out.message = std::move(problem);
  }
  return out;
}

// ---- fields that an expression reads

namespace {

using Path = std::vector<std::string_view>;

// The names from a variable to the member, if the expression is only a member selection; `end`: the variable.
const Expr& walk_down(const Expr& expr, Path& names) {
  const Expr* at = &expr;
  for (;;) {
    const bool index = at->kind == ExprKind::kCall && (at->name == "_[_]" || at->name == "_?._" || at->name == "_[?_]");
    if (at->kind == ExprKind::kSelect) {
      names.push_back(at->name);
      at = at->operand;
    } else if (index && at->arguments.size() == 2 && at->arguments[1]->kind == ExprKind::kLiteral) {
      names.push_back(at->arguments[1]->literal.text);
      at = at->arguments[0];
    } else {
      break;
    }
  }
  std::reverse(names.begin(), names.end());
  return *at;
}

class Reads {
 public:
  Reads(std::span<const std::string_view> variables, std::span<const std::string_view> path) : variables_(variables), path_(path) {}

  bool any(const Expr& expr) const {
    Path names;
    const Expr& base = walk_down(expr, names);
    if (base.kind == ExprKind::kIdent && std::find(variables_.begin(), variables_.end(), base.name) != variables_.end()) {
      const std::size_t common = std::min(names.size(), path_.size());
      return std::equal(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(common), path_.begin());
    }
    if (&base != &expr) return any(base);
    if (expr.operand != nullptr && any(*expr.operand)) return true;
    for (const Expr* argument : expr.arguments) {
      if (any(*argument)) return true;
    }
    return in_entries(expr) || in_loop(expr);
  }

 private:
  bool in_entries(const Expr& expr) const {
    return std::any_of(expr.entries.begin(), expr.entries.end(),
                       [&](const Entry& entry) { return (entry.key != nullptr && any(*entry.key)) || any(*entry.value); });
  }
  bool in_loop(const Expr& expr) const {
    const Comprehension* loop = expr.comprehension;
    if (loop == nullptr) return false;
    const std::array<const Expr*, 5> parts = {loop->range, loop->init, loop->condition, loop->step, loop->result};
    return std::any_of(parts.begin(), parts.end(), [&](const Expr* part) { return any(*part); });
  }

  std::span<const std::string_view> variables_, path_;
};

}  // namespace

bool may_read(const Program& program, std::initializer_list<std::string_view> variables, std::initializer_list<std::string_view> path) {
  return Reads({variables.begin(), variables.size()}, {path.begin(), path.size()}).any(*program.state().ast.root);
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
