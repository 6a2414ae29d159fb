// The grammar of expressions with upstream's rules; parser.cpp has the operators, parser_operands.cpp their operands.
//
// Thread-safety: an instance belongs to one expression and one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cel/parser.hpp"
#include "cel/token_reader.hpp"
#include "cel/tree_maker.hpp"

namespace backplane::cel_detail {

inline constexpr int kMostNested = 250;

// An operator with its precedence; operators of the same precedence associate to the left.
struct Operator {
  std::string_view sign;
  std::string_view function;
};

// A recursive-descent parser with upstream's rules.  A rule that meets an unexpected token reports it, skips tokens that can follow
// neither the rule nor an enclosing one, and returns; the enclosing rules continue.  Null: the nesting is too deep to continue.
class Parser : private TokenReader {
 public:
  Parser(Ast& ast, const Syntax& syntax, Problems& problems)
      : TokenReader(ast.source(), problems), ast_(ast), syntax_(syntax), problems_(problems) {}

  void parse();

 private:
  TreeMaker make(std::size_t offset) { return {ast_, offset}; }

  Expr* note(std::size_t offset, std::string text);
  Expr* fail_too_deep();
  Expr* broken(char rule);

  // Counts the recursion of a rule, as upstream's parser does.
  class Level {
   public:
    explicit Level(int& depth) : depth_(depth) { ++depth_; }
    ~Level() { --depth_; }
    bool too_deep() const { return depth_ > kMostNested; }

   private:
    int& depth_;
  };

  // ---- operators

  Expr* expression(Follow follow);
  Expr* conditional();
  Expr* alternatives(Follow follow);
  template <class Term>
  Expr* chain(std::string_view sign, std::string_view function, const Term& term);
  Expr* balanced(std::string_view function, const std::vector<Expr*>& terms, const std::vector<std::size_t>& offsets, std::size_t low,
                 std::size_t high);
  Expr* relation();
  Expr* calculation();
  Expr* product();
  template <class Reading>
  Expr* rule(int& depth, const Reading& reading);
  template <std::size_t count, class Term>
  Expr* left_associative(const Operator (&operators)[count], int& depth, const Term& term);

  static bool is_number(const Token& token) { return token.kind == TokenKind::kInt || token.kind == TokenKind::kFloat; }

  // Whether the token begins the operand that follows the signs.
  static bool begins_primary(const Token& token) { return begins_operand(token) && !is_sign(token, "-") && !is_sign(token, "!"); }

  Expr* unary();
  bool minus_signs(std::size_t& signs);
  void exclamation_marks(std::size_t& signs);

  // ---- members, calls and indexes

  Expr* member();
  Expr* index(Expr* of);
  Expr* select(Expr* of);

  static bool is_name(const Token& token) { return token.kind == TokenKind::kIdentifier || token.kind == TokenKind::kEscaped; }

  bool marked_name();
  std::string_view member_name(const Token& name);
  Expr* call(std::string_view name, Expr* target);

  // ---- primary expressions

  Expr* primary();
  Expr* nested();
  Expr* name();
  bool is_message() const;
  Expr* message(bool from_root);
  Expr* list(std::size_t offset);
  bool optional_mark();
  Expr* entries(std::size_t offset, std::string_view message);

  enum class Read : unsigned char { kWhole, kBroken, kNotBegun, kTooDeep };
  Read read_entry(Entry& entry, bool map);
  bool field_name(Entry& entry);
  bool begins_key(bool marked);

  // ---- literals

  Expr* literal();
  Expr* value(std::size_t begin, const Token& token, bool negative);
  Expr* quoted(std::size_t begin, const Token& token);
  Expr* literal_node(std::size_t offset, const Literal& literal);

  Ast& ast_;
  const Syntax& syntax_;
  Problems& problems_;
  int expressions_ = 0, relations_ = 0, calculations_ = 0;
  bool too_deep_ = false;
  bool broken_ = false;  // the last rule has ended with an error
};

}  // namespace backplane::cel_detail
