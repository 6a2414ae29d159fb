#include "cel/parser.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "cel/literals.hpp"
#include "cel/token_reader.hpp"
#include "cel/tree_maker.hpp"

namespace backplane::cel_detail {
namespace {

constexpr int kMostNested = 250;
constexpr std::size_t kMostCharacters = 100'000;

constexpr std::string_view kArgumentStart =
    "{'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
constexpr std::string_view kIndexStart =
    "{'[', '{', '(', '.', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
constexpr std::string_view kListStart =
    "{'[', ']', '{', '(', '.', ',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
constexpr std::string_view kMapStart =
    "{'[', '{', '}', '(', '.', ',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
constexpr std::string_view kMessageStart = "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}";

// Operators by how strongly they bind: what stands in one group associates to the left.
struct Operator {
  std::string_view sign;
  std::string_view function;
};
constexpr Operator kRelations[] = {{"<", "_<_"},   {"<=", "_<=_"}, {">=", "_>=_"}, {">", "_>_"},
                                   {"==", "_==_"}, {"!=", "_!=_"}, {"in", "@in"}};
constexpr Operator kSums[] = {{"+", "_+_"}, {"-", "_-_"}};
constexpr Operator kProducts[] = {{"*", "_*_"}, {"/", "_/_"}, {"%", "_%_"}};

// Whether no more than so many operators, members and calls of members stand inside each other.
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

// Reads by descent, rule by rule of the grammar as upstream has it.  A rule that meets what it cannot take says so, passes over what
// follows neither it nor those around it, and ends: they go on.  Null: it is too deep to go on.
class Parser : private TokenReader {
 public:
  Parser(Ast& ast, const Syntax& syntax, Problems& problems)
      : TokenReader(ast.source(), problems), ast_(ast), syntax_(syntax), problems_(problems) {}

  void parse() {
    ast_.root = expression(kEndOfText);
    if (ast_.root != nullptr && token().kind != TokenKind::kEnd) refuse_token("<EOF>", next().kind == TokenKind::kEnd);
    if (ast_.copied > Ast::kMostCopied) return problems_.add(kNowhere, "expression is too large: its macros copy too much of it");
    if (too_deep_) return problems_.add(kNowhere, "expression recursion limit exceeded: 250");
    if (ast_.root != nullptr && !fits(*ast_.root, 0)) problems_.add(kNowhere, "max recursion depth exceeded");
  }

 private:
  TreeMaker make(std::size_t offset) { return {ast_, offset}; }

  // What is wrong here does not keep the grammar from going on.
  Expr* note(std::size_t offset, std::string text) {
    problems_.add(offset, std::move(text));
    return make(offset).boolean(false);
  }

  Expr* give_up() {
    too_deep_ = true;
    return nullptr;
  }

  // A rule ends where it cannot go on.
  Expr* broken(char rule) {
    recover(rule);
    broken_ = true;
    return make(rule_begin()).boolean(false);
  }

  // One more of a rule inside the same rule, as upstream's parser counts them.
  class Level {
   public:
    explicit Level(int& depth) : depth_(depth) { ++depth_; }
    ~Level() { --depth_; }
    bool too_deep() const { return depth_ > kMostNested; }

   private:
    int& depth_;
  };

  // ---- operators

  Expr* expression(Follow follow) {
    const Within within(*this, follow);
    return rule(expressions_, [this] { return conditional(); });
  }

  Expr* conditional() {
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

  Expr* alternatives(Follow follow) {
    const Within around(*this, follow);
    const Within terms(*this, kOr | kAnd | kMayEnd);
    return chain("||", "_||_", [this] { return chain("&&", "_&&_", [this] { return relation(); }); });
  }

  // Terms of one sign, as a tree that is no deeper than it must be.
  template <class Term>
  Expr* chain(std::string_view sign, std::string_view function, const Term& term) {
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

  Expr* balanced(std::string_view function, const std::vector<Expr*>& terms, const std::vector<std::size_t>& offsets, std::size_t low,
                 std::size_t high) {
    const std::size_t middle = (low + high + 1) / 2;
    Expr* left = middle == low ? terms[middle] : balanced(function, terms, offsets, low, middle - 1);
    Expr* right = middle == high ? terms[middle + 1] : balanced(function, terms, offsets, middle + 1, high);
    return make(offsets[middle]).call(function, {left, right});
  }

  Expr* relation() {
    const Within within(*this, kRelation | kMayEnd);
    return rule(relations_, [this] { return left_associative(kRelations, relations_, [this] { return calculation(); }); });
  }
  // Sums and products are one rule.
  Expr* calculation() {
    const Within within(*this, kSum | kProduct | kMayEnd);
    return rule(calculations_, [this] { return left_associative(kSums, calculations_, [this] { return product(); }); });
  }
  Expr* product() {
    return left_associative(kProducts, calculations_, [this] { return unary(); });
  }

  template <class Read>
  Expr* rule(int& depth, const Read& read) {
    const Level level(depth);
    return level.too_deep() ? give_up() : read();
  }

  template <std::size_t count, class Term>
  Expr* left_associative(const Operator (&operators)[count], int& depth, const Term& term) {
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

  static bool is_number(const Token& token) { return token.kind == TokenKind::kInt || token.kind == TokenKind::kFloat; }

  // What stands behind signs.
  static bool begins_primary(const Token& token) { return begins_operand(token) && !is_sign(token, "-") && !is_sign(token, "!"); }

  // A sign before a number is the number's, if it stands alone.
  Expr* unary() {
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

  bool minus_signs(std::size_t& signs) {
    for (; at_sign("-"); ++signs) {
      if (signs == 0 && is_number(next())) return true;
      if (!is_sign(next(), "-") && !begins_primary(next())) return no_way();
      skip("-");
    }
    return true;
  }

  void exclamation_marks(std::size_t& signs) {
    while (skip("!")) {
      ++signs;
      if (begins_operand(token())) continue;
      refuse_token("{" + std::string(kOperandStart) + "}", true);
      pass_to_operand();
    }
  }

  // ---- members, calls and indexes

  Expr* member() {
    const Within within(*this, kMayEnd);
    Expr* out = primary();
    broken_ = false;
    while (out != nullptr && !broken_ && (at_sign(".") || at_sign("["))) out = at_sign(".") ? select(out) : index(out);
    broken_ = false;
    return out;
  }

  Expr* index(Expr* of) {
    const std::size_t offset = token().offset;
    skip("[");
    const bool optional = skip("?");
    if (!optional && !begins_operand(token()) && !drop(kIndexStart, begins_operand(next()))) return broken('m');
    Expr* at = expression(kCloseBracket);
    broken_ = false;
    if (at == nullptr) return nullptr;
    if (!expect("]")) return broken('m');
    if (optional && !syntax_.optional) return note(offset, "unsupported syntax '[?'");
    return make(offset).call(optional ? "_[?_]" : "_[_]", {of, at});
  }

  Expr* select(Expr* of) {
    const std::size_t dot = token().offset;
    const bool optional = is_sign(next(), "?");
    if (!optional && !is_name(next())) {
      no_way();
      return broken('m');
    }
    skip(".");
    if (optional && !marked_name()) return of;
    const Token name = take();
    if (!optional && at_sign("(") && name.kind == TokenKind::kIdentifier) return call(name.text, of);
    const std::string_view field = member_name(name);
    if (!optional) return make(dot).select(of, field, false);
    if (!syntax_.optional) return note(dot, "unsupported syntax '.?'");
    return make(dot).call("_?._", {of, make(name.offset).text(field)});
  }

  static bool is_name(const Token& token) { return token.kind == TokenKind::kIdentifier || token.kind == TokenKind::kEscaped; }

  // Behind a question mark there must be a name.
  bool marked_name() {
    skip("?");
    const std::size_t offset = token().offset;
    if (is_name(token()) || drop("{IDENTIFIER, ESC_IDENTIFIER}", is_name(next()))) return true;
    const Within within(*this, kDot | kBracket | kMayEnd);
    recover('i');
    note(offset, "unsupported ident kind");
    return false;
  }

  std::string_view member_name(const Token& name) {
    if (name.kind != TokenKind::kEscaped) return name.text;
    if (!syntax_.escaped_names) note(name.offset, "unsupported syntax: '`'");
    return name.text.substr(1, name.text.size() - 2);
  }

  // `target`: null for a global function.
  Expr* call(std::string_view name, Expr* target) {
    const std::size_t open = token().offset;
    skip("(");
    std::vector<Expr*> arguments;
    if (!at_sign(")") && !begins_operand(token()) && !drop(kArgumentStart, is_sign(next(), ")") || begins_operand(next())))
      return broken('c');
    {
      const Within within(*this, kCloseParenthesis);
      for (bool more = !at_sign(")"); more; more = skip(",")) {
        arguments.push_back(expression(kComma | kMayEnd));
        if (arguments.back() == nullptr) return nullptr;
      }
    }
    broken_ = false;
    if (!expect(")")) return broken('c');
    const MacroCall macro{name, target, ast_.keep(arguments), open};
    Expr* out = nullptr;
    switch (expand_macro(ast_, syntax_.macros, macro, problems_, out)) {
      case Expansion::kDone:
        return out;
      case Expansion::kRefused:
        return make(open).boolean(false);
      case Expansion::kNone:
        break;
    }
    return make(open).member(target, name, arguments);
  }

  // ---- what stands on its own

  Expr* primary() {
    const Within within(*this, kDot | kBracket | kMayEnd);
    if (!begins_operand(token()) && !drop("{" + std::string(kOperandStart) + "}", begins_operand(next()))) return broken('p');
    const std::size_t offset = token().offset;
    if (skip("(")) return nested();
    if (skip("[")) return list(offset);
    if (skip("{")) return entries(offset, {});
    if (at_sign(".") || token().kind == TokenKind::kIdentifier) return name();
    return literal();
  }

  Expr* nested() {
    Expr* inner = expression(kCloseParenthesis);
    return inner == nullptr || expect(")") ? inner : broken('p');
  }

  Expr* name() {
    const std::size_t begin = token().offset;
    if (at_sign(".") && next().kind != TokenKind::kIdentifier) {
      no_way();
      return broken('p');
    }
    const bool from_root = skip(".");
    if (is_message()) return message(from_root);
    const Token word = take();
    const std::string_view whole = from_root ? ast_.keep("." + std::string(word.text)) : word.text;
    if (is_reserved(word.text)) {
      note(begin, "reserved identifier: " + std::string(word.text));
      return at_sign("(") ? call(whole, nullptr) : make(begin).boolean(false);
    }
    return at_sign("(") ? call(whole, nullptr) : make(word.offset).ident(whole);
  }

  // Whether names with dots and a brace follow: Object.spec{…}.
  bool is_message() const {
    std::size_t i = 0;
    while (next(i).kind == TokenKind::kIdentifier && is_sign(next(i + 1), ".")) i += 2;
    return next(i).kind == TokenKind::kIdentifier && is_sign(next(i + 1), "{");
  }

  Expr* message(bool from_root) {
    std::string name = from_root ? "." : "";
    while (!at_sign("{")) name += take().text;
    const std::size_t offset = token().offset;
    skip("{");
    return entries(offset, ast_.keep(name));
  }

  Expr* list(std::size_t offset) {
    std::vector<Expr*> items;
    std::vector<std::uint32_t> optional;
    if (skip(",")) return expect("]") ? make(offset).list({}) : broken('p');
    if (skip("]")) return make(offset).list({});
    if (!at_sign("?") && !begins_operand(token()) && !drop(kListStart, begins_operand(next()))) return broken('p');
    for (bool more = true; more;) {
      if (optional_mark()) optional.push_back(static_cast<std::uint32_t>(items.size()));
      items.push_back(expression(kComma | kCloseBracket));
      if (items.back() == nullptr) return nullptr;
      if (!item_ends("]", more)) return broken('p');
    }
    Expr* out = make(offset).list(items);
    out->optional_indices = ast_.keep(optional);
    return out;
  }

  bool optional_mark() {
    const std::size_t offset = token().offset;
    if (!skip("?")) return false;
    if (!syntax_.optional) note(offset, "unsupported syntax '?'");
    return true;
  }

  // Of a map, or of a message, whose keys are names.
  Expr* entries(std::size_t offset, std::string_view message) {
    Expr* out = ast_.make(message.empty() ? ExprKind::kMap : ExprKind::kStruct, ast_.next_id(offset));
    out->name = message;
    if (skip(",")) return expect("}") ? out : broken('p');
    if (skip("}")) return out;
    std::vector<Entry> all;
    for (bool more = true; more;) {
      switch (read_entry(all.emplace_back(), message.empty())) {
        case Read::kTooDeep:
          return nullptr;
        case Read::kNotBegun:
          return broken('p');
        case Read::kBroken:
          skip(",");
          return expect("}") ? out : broken('p');
        case Read::kWhole:
          break;
      }
      if (!item_ends("}", more)) return broken('p');
    }
    out->entries = ast_.keep(all);
    return out;
  }

  enum class Read : unsigned char { kWhole, kBroken, kNotBegun, kTooDeep };

  Read read_entry(Entry& entry, bool map) {
    const Within within(*this, kComma | kCloseBrace);
    entry.optional = optional_mark();
    if (map ? !begins_key(entry.optional) : !field_name(entry)) return Read::kNotBegun;
    if (map && (entry.key = expression(kColon)) == nullptr) return Read::kTooDeep;
    const std::size_t colon = token().offset;
    if (!expect(":")) {
      recover('i');
      return Read::kBroken;
    }
    entry.id = ast_.next_id(colon);
    entry.value = expression(kComma | kMayEnd);
    return entry.value == nullptr ? Read::kTooDeep : Read::kWhole;
  }

  bool field_name(Entry& entry) {
    if (!is_name(token()) && !entry.optional && !drop(kMessageStart, is_name(next()))) return false;
    if (!is_name(token()) && !drop("{IDENTIFIER, ESC_IDENTIFIER}", is_name(next()))) {
      const Within within(*this, kColon);
      recover('i');
      return true;
    }
    entry.field = member_name(take());
    return true;
  }

  // Behind a question mark it is the key's own business.
  bool begins_key(bool marked) { return marked || begins_operand(token()) || drop(kMapStart, begins_operand(next())); }

  // ---- literals

  Expr* literal() {
    const std::size_t begin = token().offset;
    const bool negative = at_sign("-") && is_number(next());
    if (negative) skip("-");
    if (token().kind == TokenKind::kSign) {
      no_way();
      return broken('p');
    }
    return value(begin, take(), negative);
  }

  Expr* value(std::size_t begin, const Token& token, bool negative) {
    Literal out;
    switch (token.kind) {
      case TokenKind::kConstant:
        out.kind = token.text == "null" ? LiteralKind::kNull : LiteralKind::kBool;
        out.boolean = token.text == "true";
        break;
      case TokenKind::kInt: {
        long long number = 0;
        if (!read_int(token.text, negative, number)) return note(begin, "invalid int literal");
        out.kind = LiteralKind::kInt;
        out.integer = number;
        break;
      }
      case TokenKind::kUint: {
        unsigned long long number = 0;
        if (!read_uint(token.text.substr(0, token.text.size() - 1), number)) return note(begin, "invalid uint literal");
        out.kind = LiteralKind::kUint;
        out.natural = number;
        break;
      }
      case TokenKind::kFloat: {
        double number = 0;
        if (!read_double(token.text, number)) return note(begin, "invalid double literal");
        out.kind = LiteralKind::kDouble;
        out.real = negative ? -number : number;
        break;
      }
      default:
        return quoted(begin, token);
    }
    return literal_node(begin, out);
  }

  Expr* quoted(std::size_t begin, const Token& token) {
    const bool bytes = token.kind == TokenKind::kBytes;
    const Unquoted text = unquote(bytes ? token.text.substr(1) : token.text, bytes);
    if (!text.problem.empty()) return note(begin, std::string(text.problem));
    Literal out;
    out.kind = bytes ? LiteralKind::kBytes : LiteralKind::kString;
    out.text = ast_.keep(text.text);
    return literal_node(begin, out);
  }

  Expr* literal_node(std::size_t offset, const Literal& literal) {
    Expr* out = ast_.make(ExprKind::kLiteral, ast_.next_id(offset));
    out->literal = literal;
    return out;
  }

  Ast& ast_;
  const Syntax& syntax_;
  Problems& problems_;
  int expressions_ = 0, relations_ = 0, calculations_ = 0;
  bool too_deep_ = false;
  bool broken_ = false;  // the rule that has just ended could not go on
};

}  // namespace

bool is_reserved(std::string_view word) {
  static constexpr std::array<std::string_view, 18> kReserved = {"as",        "break",  "const",  "continue", "else",  "for",
                                                                 "function",  "if",     "import", "let",      "loop",  "package",
                                                                 "namespace", "return", "var",    "void",     "while", "in"};
  return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

void parse(Ast& ast, const Syntax& syntax, Problems& problems) {
  if (const std::size_t size = characters_of(ast.source()); size > kMostCharacters) {
    return problems.add(
        kNowhere, "expression code point size exceeds limit: size: " + std::to_string(size) + ", limit " + std::to_string(kMostCharacters));
  }
  Parser(ast, syntax, problems).parse();
}

}  // namespace backplane::cel_detail
