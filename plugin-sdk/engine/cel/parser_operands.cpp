// Operands: members, calls, indexes, names, lists, maps, messages, literals.
#include "cel/grammar.hpp"
#include "cel/literals.hpp"

namespace backplane::cel_detail {
namespace {

constexpr std::string_view kArgumentStart =
    "{'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
constexpr std::string_view kIndexStart =
    "{'[', '{', '(', '.', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
constexpr std::string_view kListStart =
    "{'[', ']', '{', '(', '.', ',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
constexpr std::string_view kMapStart =
    "{'[', '{', '}', '(', '.', ',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
constexpr std::string_view kMessageStart = "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}";

}  // namespace

// ---- members, calls and indexes

Expr* Parser::member() {
  const Within within(*this, kMayEnd);
  Expr* out = primary();
  broken_ = false;
  while (out != nullptr && !broken_ && (at_sign(".") || at_sign("["))) out = at_sign(".") ? select(out) : index(out);
  broken_ = false;
  return out;
}

Expr* Parser::index(Expr* of) {
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

Expr* Parser::select(Expr* of) {
  const std::size_t dot = token().offset;
  const bool optional = is_sign(next(), "?");
  if (!optional && !is_name(next())) {
    no_viable_alternative();
    broken('m');
    return of;  // the missing member is left out
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

// A name must follow a question mark.
bool Parser::marked_name() {
  skip("?");
  const std::size_t offset = token().offset;
  if (is_name(token()) || drop("{IDENTIFIER, ESC_IDENTIFIER}", is_name(next()))) return true;
  const Within within(*this, kDot | kBracket | kMayEnd);
  recover('i');
  note(offset, "unsupported ident kind");
  return false;
}

std::string_view Parser::member_name(const Token& name) {
  if (name.kind != TokenKind::kEscaped) return name.text;
  if (!syntax_.escaped_names) note(name.offset, "unsupported syntax: '`'");
  return name.text.substr(1, name.text.size() - 2);
}

// `target`: null for a global function.
Expr* Parser::call(std::string_view name, Expr* target) {
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

// ---- primary expressions

Expr* Parser::primary() {
  const Within within(*this, kDot | kBracket | kMayEnd);
  if (!begins_operand(token()) && !drop("{" + std::string(kOperandStart) + "}", begins_operand(next()))) return broken('p');
  const std::size_t offset = token().offset;
  if (skip("(")) return nested();
  if (skip("[")) return list(offset);
  if (skip("{")) return entries(offset, {});
  if (at_sign(".") || token().kind == TokenKind::kIdentifier) return name();
  return literal();
}

Expr* Parser::nested() {
  Expr* inner = expression(kCloseParenthesis);
  return inner == nullptr || expect(")") ? inner : broken('p');
}

Expr* Parser::name() {
  const std::size_t begin = token().offset;
  if (at_sign(".") && next().kind != TokenKind::kIdentifier) {
    no_viable_alternative();
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
bool Parser::is_message() const {
  std::size_t i = 0;
  while (next(i).kind == TokenKind::kIdentifier && is_sign(next(i + 1), ".")) i += 2;
  return next(i).kind == TokenKind::kIdentifier && is_sign(next(i + 1), "{");
}

Expr* Parser::message(bool from_root) {
  std::string name = from_root ? "." : "";
  while (!at_sign("{")) name += take().text;
  const std::size_t offset = token().offset;
  skip("{");
  return entries(offset, ast_.keep(name));
}

Expr* Parser::list(std::size_t offset) {
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

bool Parser::optional_mark() {
  const std::size_t offset = token().offset;
  if (!skip("?")) return false;
  if (!syntax_.optional) note(offset, "unsupported syntax '?'");
  return true;
}

// Entries of a map, or of a message, whose keys are names.
Expr* Parser::entries(std::size_t offset, std::string_view message) {
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

Parser::Read Parser::read_entry(Entry& entry, bool map) {
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

bool Parser::field_name(Entry& entry) {
  if (!is_name(token()) && !entry.optional && !drop(kMessageStart, is_name(next()))) return false;
  if (!is_name(token()) && !drop("{IDENTIFIER, ESC_IDENTIFIER}", is_name(next()))) {
    const Within within(*this, kColon);
    recover('i');
    return true;
  }
  entry.field = member_name(take());
  return true;
}

// After a question mark, the rule of the key reports the problem.
bool Parser::begins_key(bool marked) { return marked || begins_operand(token()) || drop(kMapStart, begins_operand(next())); }

// ---- literals

Expr* Parser::literal() {
  const std::size_t begin = token().offset;
  const bool negative = at_sign("-") && is_number(next());
  if (negative) skip("-");
  if (token().kind == TokenKind::kSign) {
    no_viable_alternative();
    return broken('p');
  }
  return value(begin, take(), negative);
}

Expr* Parser::value(std::size_t begin, const Token& token, bool negative) {
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

Expr* Parser::quoted(std::size_t begin, const Token& token) {
  const bool bytes = token.kind == TokenKind::kBytes;
  const Unquoted text = unquote(bytes ? token.text.substr(1) : token.text, bytes);
  if (!text.problem.empty()) return note(begin, std::string(text.problem));
  Literal out;
  out.kind = bytes ? LiteralKind::kBytes : LiteralKind::kString;
  out.text = ast_.keep(text.text);
  return literal_node(begin, out);
}

Expr* Parser::literal_node(std::size_t offset, const Literal& literal) {
  Expr* out = ast_.make(ExprKind::kLiteral, ast_.next_id(offset));
  out->literal = literal;
  return out;
}

}  // namespace backplane::cel_detail
