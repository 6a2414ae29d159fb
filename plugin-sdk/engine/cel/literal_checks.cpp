#include <algorithm>

#include "backplane/types/regexp.hpp"
#include "cel/checker.hpp"
#include "cel/format_check.hpp"
#include "text/go_time.hpp"

namespace backplane::cel_detail {
namespace {

bool is_duration(const Literal& literal) {
  std::string error;
  return literal.kind == LiteralKind::kString && schema::parse_go_duration(literal.text, error).has_value();
}

bool is_timestamp(const Literal& literal) {
  constexpr std::int64_t kFirst = -62135596800, kLast = 253402300799;  // years 1 to 9999
  const auto within = [](std::int64_t seconds) { return seconds >= kFirst && seconds <= kLast; };
  if (literal.kind == LiteralKind::kInt) return within(literal.integer);
  std::string error;
  const auto time = literal.kind == LiteralKind::kString ? schema::parse_go_time(literal.text, false, error) : std::nullopt;
  return time && within(time->seconds);
}

bool is_pattern(const Literal& literal) { return literal.kind == LiteralKind::kString && regexp_problem(literal.text).empty(); }

struct Checked {
  std::string_view function;
  bool (*good)(const Literal& literal);
};
constexpr Checked kChecked[] = {{"duration", is_duration}, {"timestamp", is_timestamp}, {"matches", is_pattern}};

class LiteralChecker {
 public:
  LiteralChecker(const Ast& ast, const Environment::State& environment, Problems& problems)
      : ast_(ast), environment_(environment), problems_(problems) {}

  // `free`: inside format([…]), whose list may have any element types.
  void check(const Expr& expr, bool free) {
    if (expr.kind == ExprKind::kCall && environment_.checks_literals) {
      check_call(expr);
      free = free || expr.name == "format";
    }
    if (environment_.one_type_literals && !free) check_types(expr);
    if (expr.operand != nullptr) check(*expr.operand, free);
    for (const Expr* each : expr.arguments) check(*each, free);
    for (const Entry& each : expr.entries) {
      if (each.key != nullptr) check(*each.key, free);
      check(*each.value, free);
    }
    if (const Comprehension* loop = expr.comprehension) {
      for (const Expr* part : {loop->range, loop->init, loop->condition, loop->step, loop->result}) check(*part, free);
    }
  }

 private:
  void check_call(const Expr& expr) {
    if (!expr.arguments.empty() && expr.arguments[0]->kind == ExprKind::kLiteral) {
      const Expr& literal = *expr.arguments[0];
      for (const Checked& each : kChecked) {
        if (each.function != expr.name || each.good(literal.literal)) continue;
        problems_.add(ast_.offset(literal.id), "invalid " + std::string(expr.name) + " argument");
      }
    }
    check_format(ast_, expr, problems_);
  }

  const Type* type_of(const Expr& expr, bool optional) const {
    const Type* type = ast_.type(expr);
    return optional && is_optional(*type) ? type->parameters[0] : type;
  }

  // Whether the element has the type of the first one; `first` is set by the first element.
  bool agrees(const Expr& expr, const Type* type, const Type*& first) {
    if (first == nullptr) first = type;
    if (same(*first, *type)) return true;
    problems_.add(ast_.offset(expr.id), "expected type '" + to_text(*first) + "' but found '" + to_text(*type) + "'");
    return false;
  }

  void check_types(const Expr& expr) {
    if (expr.kind == ExprKind::kList) check_list(expr);
    if (expr.kind == ExprKind::kMap) check_map(expr);
  }

  void check_list(const Expr& expr) {
    const Type* first = nullptr;
    for (std::uint32_t i = 0; i < expr.arguments.size(); ++i) {
      const auto& marked = expr.optional_indices;
      const bool optional = std::find(marked.begin(), marked.end(), i) != marked.end();
      if (!agrees(*expr.arguments[i], type_of(*expr.arguments[i], optional), first)) return;
    }
  }

  void check_map(const Expr& expr) {
    const Type *key = nullptr, *value = nullptr;
    for (const Entry& each : expr.entries) {
      agrees(*each.key, ast_.type(*each.key), key);
      agrees(*each.value, type_of(*each.value, each.optional), value);
    }
  }

  const Ast& ast_;
  const Environment::State& environment_;
  Problems& problems_;
};

}  // namespace

void check_literals(const Ast& ast, const Environment::State& environment, Problems& problems) {
  if (environment.checks_literals || environment.one_type_literals) LiteralChecker(ast, environment, problems).check(*ast.root, false);
}

}  // namespace backplane::cel_detail
