// Makes nodes that have the same position in the text.
//
// Thread-safety: that of the tree.
#pragma once

#include <string_view>
#include <vector>

#include "cel/ast.hpp"

namespace backplane::cel_detail {

class TreeMaker {
 public:
  TreeMaker(Ast& ast, std::size_t offset) : ast_(ast), offset_(offset) {}

  Ast& ast() const { return ast_; }

  Expr* ident(std::string_view name) {
    Expr* out = node(ExprKind::kIdent);
    out->name = name;
    return out;
  }
  Expr* boolean(bool value) {
    Expr* out = node(ExprKind::kLiteral);
    out->literal.kind = LiteralKind::kBool;
    out->literal.boolean = value;
    return out;
  }
  Expr* integer(std::int64_t value) {
    Expr* out = node(ExprKind::kLiteral);
    out->literal.kind = LiteralKind::kInt;
    out->literal.integer = value;
    return out;
  }
  Expr* text(std::string_view value) {
    Expr* out = node(ExprKind::kLiteral);
    out->literal.kind = LiteralKind::kString;
    out->literal.text = value;
    return out;
  }
  Expr* select(Expr* operand, std::string_view name, bool test_only) {
    Expr* out = node(ExprKind::kSelect);
    out->operand = operand;
    out->name = name;
    out->test_only = test_only;
    return out;
  }
  Expr* call(std::string_view function, const std::vector<Expr*>& arguments) { return member(nullptr, function, arguments); }
  Expr* member(Expr* target, std::string_view function, const std::vector<Expr*>& arguments) {
    Expr* out = node(ExprKind::kCall);
    out->name = function;
    out->operand = target;
    out->arguments = ast_.keep(arguments);
    return out;
  }
  Expr* list(const std::vector<Expr*>& items) {
    Expr* out = node(ExprKind::kList);
    out->arguments = ast_.keep(items);
    return out;
  }
  Expr* map() { return node(ExprKind::kMap); }
  Expr* loop(const Comprehension& loop) {
    Expr* out = node(ExprKind::kComprehension);
    out->comprehension = ast_.keep_one(loop);
    return out;
  }

  // A copy with new ids and the same position.  See Ast::kMostCopied.
  Expr* copy(const Expr& of);

 private:
  Expr* node(ExprKind kind) { return ast_.make(kind, ast_.next_id(offset_)); }

  Ast& ast_;
  std::size_t offset_;
};

}  // namespace backplane::cel_detail
