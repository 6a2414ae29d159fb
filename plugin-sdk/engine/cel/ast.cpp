#include "cel/ast.hpp"

#include <cstring>

#include "cel/tree_maker.hpp"

namespace backplane::cel_detail {

Ast::Ast(std::string_view source) : source_(keep(source)), offsets_(1, 0) {}

ExprId Ast::next_id(std::size_t offset) {
  offsets_.push_back(offset);
  return static_cast<ExprId>(offsets_.size() - 1);
}

Expr* Ast::make(ExprKind kind, ExprId id) {
  Expr* out = keep_one(Expr{});
  out->kind = kind;
  out->id = id;
  return out;
}

std::string_view Ast::keep(std::string_view text) {
  if (text.empty()) return {};
  char* copy = allocate<char>(text.size());
  std::memcpy(copy, text.data(), text.size());
  return {copy, text.size()};
}

Expr* TreeMaker::copy(const Expr& of) {
  if (++ast_.copied > Ast::kMostCopied) return const_cast<Expr*>(&of);
  Expr* out = ast_.keep_one(of);
  out->id = ast_.next_id(ast_.offset(of.id));
  if (of.operand != nullptr) out->operand = copy(*of.operand);
  std::vector<Expr*> arguments;
  for (const Expr* each : of.arguments) arguments.push_back(copy(*each));
  out->arguments = ast_.keep(arguments);
  std::vector<Entry> entries(of.entries.begin(), of.entries.end());
  for (Entry& each : entries) {
    each.id = ast_.next_id(ast_.offset(each.id));
    if (each.key != nullptr) each.key = copy(*each.key);
    each.value = copy(*each.value);
  }
  out->entries = ast_.keep(entries);
  if (of.comprehension != nullptr) {
    Comprehension loop = *of.comprehension;
    for (Expr** part : {&loop.range, &loop.init, &loop.condition, &loop.step, &loop.result}) *part = copy(**part);
    out->comprehension = ast_.keep_one(loop);
  }
  return out;
}

std::string qualified_name(const Expr& expr) {
  if (expr.kind == ExprKind::kIdent) return std::string(expr.name);
  if (expr.kind != ExprKind::kSelect || expr.test_only) return {};
  const std::string before = qualified_name(*expr.operand);
  return before.empty() ? before : before + "." + std::string(expr.name);
}

}  // namespace backplane::cel_detail
