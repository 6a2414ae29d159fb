#include "cel/parser.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "cel/grammar.hpp"

namespace backplane::cel_detail {
namespace {

constexpr std::size_t kMostCharacters = 100'000;

// The operators of each level of precedence.
constexpr Operator kRelations[] = {{"<", "_<_"},   {"<=", "_<=_"}, {">=", "_>=_"}, {">", "_>_"},
                                   {"==", "_==_"}, {"!=", "_!=_"}, {"in", "@in"}};
constexpr Operator kSums[] = {{"+", "_+_"}, {"-", "_-_"}};
constexpr Operator kProducts[] = {{"*", "_*_"}, {"/", "_/_"}, {"%", "_%_"}};

// Whether the nesting of operators, members and method calls is within the limit.
bool fits(const Expr& expr, int depth) {
  const bool logic = expr.kind == ExprKind::kCall && (expr.name == "_&&_" || expr.name == "_||_");
  const bool member = expr.operand != nullptr && !expr.test_only;
  const bool counts = member || expr.kind == ExprKind::kComprehension ||
                      (expr.kind == ExprKind::kCall && expr.name.starts_with('_') && expr.arguments.size() > 1 && !logic) ||
                      (expr.kind == ExprKind::kCall && expr.name == "@in");
  if (counts && ++depth > kMostNested) return false;
  if (expr.operand != nullptr && !fits(*expr.operand, depth)) return false;
  const auto inside = [&](const Expr* each) { return fits(*each, depth); };
  if (!std::all_of(expr.arguments.begin(), expr.arguments.end(), inside)) return false;
  const auto entry_fits = [&](const Entry& each) { return (each.key == nullptr || fits(*each.key, depth)) && fits(*each.value, depth); };
  if (!std::all_of(expr.entries.begin(), expr.entries.end(), entry_fits)) return false;
  const Comprehension* loop = expr.comprehension;
  return loop == nullptr || (fits(*loop->range, depth) && fits(*loop->init, depth) && fits(*loop->condition, depth) &&
                             fits(*loop->step, depth) && fits(*loop->result, depth));
}

}  // namespace

void Parser::parse() {
  ast_.root = expression(kEndOfText);
  if (ast_.root != nullptr && token().kind != TokenKind::kEnd) refuse_token("<EOF>", next().kind == TokenKind::kEnd);
  if (ast_.copied > Ast::kMostCopied) return problems_.add(kNoOffset, "expression is too large: its macros copy too much of it");
  if (too_deep_) return problems_.add(kNoOffset, "expression recursion limit exceeded: 250");
  if (ast_.root != nullptr && !fits(*ast_.root, 0)) problems_.add(kNoOffset, "max recursion depth exceeded");
}

// Adds a problem after which the parser continues.
Expr* Parser::note(std::size_t offset, std::string text) {
  problems_.add(offset, std::move(text));
  return make(offset).boolean(false);
}

Expr* Parser::fail_too_deep() {
  too_deep_ = true;
  return nullptr;
}

// Ends a rule at a token with which the rule cannot continue.
Expr* Parser::broken(char rule) {
  recover(rule);
  broken_ = true;
  return make(rule_begin()).boolean(false);
}

Expr* Parser::expression(Follow follow) {
  const Within within(*this, follow);
  return rule(expressions_, [this] { return conditional(); });
}

Expr* Parser::conditional() {
  Expr* condition = alternatives(kQuestion | kMayEnd);
  if (condition == nullptr || !at_sign("?")) return condition;
  const std::size_t offset = token().offset;
  skip("?");
  Expr* then = alternatives(kColon);
  if (then == nullptr) return nullptr;
  if (!expect(":")) return broken('e');
  Expr* otherwise = expression(kMayEnd);
  return otherwise == nullptr ? nullptr : make(offset).call("_?_:_", {condition, then, otherwise});
}

Expr* Parser::alternatives(Follow follow) {
  const Within around(*this, follow);
  const Within terms(*this, kOr | kAnd | kMayEnd);
  return chain("||", "_||_", [this] { return chain("&&", "_&&_", [this] { return relation(); }); });
}

// Terms of one operator, as a balanced tree.
template <class Term>
Expr* Parser::chain(std::string_view sign, std::string_view function, const Term& term) {
  Expr* first = term();
  if (first == nullptr || !at_sign(sign)) return first;
  std::vector<Expr*> terms = {first};
  std::vector<std::size_t> offsets;
  while (at_sign(sign)) {
    offsets.push_back(token().offset);
    skip(sign);
    terms.push_back(term());
    if (terms.back() == nullptr) return nullptr;
  }
  return balanced(function, terms, offsets, 0, offsets.size() - 1);
}

Expr* Parser::balanced(std::string_view function, const std::vector<Expr*>& terms, const std::vector<std::size_t>& offsets, std::size_t low,
                       std::size_t high) {
  const std::size_t middle = (low + high + 1) / 2;
  Expr* left = middle == low ? terms[middle] : balanced(function, terms, offsets, low, middle - 1);
  Expr* right = middle == high ? terms[middle + 1] : balanced(function, terms, offsets, middle + 1, high);
  return make(offsets[middle]).call(function, {left, right});
}

Expr* Parser::relation() {
  const Within within(*this, kRelation | kMayEnd);
  return rule(relations_, [this] { return left_associative(kRelations, relations_, [this] { return calculation(); }); });
}

// As in upstream's grammar, sums and products are one rule.
Expr* Parser::calculation() {
  const Within within(*this, kSum | kProduct | kMayEnd);
  return rule(calculations_, [this] { return left_associative(kSums, calculations_, [this] { return product(); }); });
}

Expr* Parser::product() {
  return left_associative(kProducts, calculations_, [this] { return unary(); });
}

template <class Reading>
Expr* Parser::rule(int& depth, const Reading& reading) {
  const Level level(depth);
  return level.too_deep() ? fail_too_deep() : reading();
}

template <std::size_t count, class Term>
Expr* Parser::left_associative(const Operator (&operators)[count], int& depth, const Term& term) {
  Expr* out = term();
  while (out != nullptr) {
    const auto* found = std::find_if(operators, operators + count, [&](const Operator& each) { return at_sign(each.sign); });
    if (found == operators + count) return out;
    const std::size_t offset = token().offset;
    skip(found->sign);
    Expr* right = rule(depth, term);
    out = right == nullptr ? nullptr : make(offset).call(found->function, {out, right});
  }
  return out;
}

// A single sign before a number belongs to the number.
Expr* Parser::unary() {
  const Within within(*this, kMayEnd);
  if (!begins_operand(token()) && !drop("{" + std::string(kOperandStart) + "}", begins_operand(next()))) return broken('u');
  const bool negation = at_sign("-");
  const std::size_t offset = token().offset;
  std::size_t signs = 0;
  if (negation && !minus_signs(signs)) return broken('u');
  if (!negation) exclamation_marks(signs);
  Expr* of = member();
  if (of == nullptr || signs % 2 == 0) return of;
  return make(offset).call(negation ? "-_" : "!_", {of});
}

bool Parser::minus_signs(std::size_t& signs) {
  for (; at_sign("-"); ++signs) {
    if (signs == 0 && is_number(next())) return true;
    if (!is_sign(next(), "-") && !begins_primary(next())) return no_viable_alternative();
    skip("-");
  }
  return true;
}

void Parser::exclamation_marks(std::size_t& signs) {
  while (skip("!")) {
    ++signs;
    if (begins_operand(token())) continue;
    refuse_token("{" + std::string(kOperandStart) + "}", true);
    pass_to_operand();
  }
}

bool is_reserved(std::string_view word) {
  static constexpr std::array<std::string_view, 18> kReserved = {"as",        "break",  "const",  "continue", "else",  "for",
                                                                 "function",  "if",     "import", "let",      "loop",  "package",
                                                                 "namespace", "return", "var",    "void",     "while", "in"};
  return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

void parse(Ast& ast, const Syntax& syntax, Problems& problems) {
  if (const std::size_t size = characters_of(ast.source()); size > kMostCharacters) {
    return problems.add(kNoOffset, "expression code point size exceeds limit: size: " + std::to_string(size) + ", limit " +
                                       std::to_string(kMostCharacters));
  }
  Parser(ast, syntax, problems).parse();
}

}  // namespace backplane::cel_detail
