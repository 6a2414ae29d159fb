#include "cel_parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace backplane::cel {
namespace {

constexpr int kMostNested = 250;
constexpr std::string_view kOperandStart =
    "'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER";

// A call that binds names: its first arguments.
struct Macro {
  std::string_view name;
  std::size_t arguments;
  std::size_t bound;
  std::string_view refused;  // said of an argument that is no name
};
constexpr std::string_view kNotSimple = "argument must be a simple name";
constexpr std::string_view kNotIdentifier = "argument is not an identifier";
constexpr Macro kMacros[] = {
    {"all", 2, 1, kNotSimple},
    {"all", 3, 2, kNotSimple},
    {"exists", 2, 1, kNotSimple},
    {"exists", 3, 2, kNotSimple},
    {"exists_one", 2, 1, kNotSimple},
    {"existsOne", 2, 1, kNotSimple},
    {"existsOne", 3, 2, kNotSimple},
    {"map", 2, 1, kNotIdentifier},
    {"map", 3, 1, kNotIdentifier},
    {"filter", 2, 1, kNotIdentifier},
    {"transformList", 3, 2, kNotSimple},
    {"transformList", 4, 2, kNotSimple},
    {"transformMap", 3, 2, kNotSimple},
    {"transformMap", 4, 2, kNotSimple},
    {"transformMapEntry", 3, 2, kNotSimple},
    {"transformMapEntry", 4, 2, kNotSimple},
    {"optMap", 2, 1, "optMap() variable name must be a simple identifier"},
    {"optFlatMap", 2, 1, "optFlatMap() variable name must be a simple identifier"},
};

// First parts of the names of functions: sets.contains(…).
constexpr std::string_view kFunctionFamilies[] = {"base64", "cidr",     "format", "ip",   "jsonpatch", "lists",
                                                  "math",   "optional", "regex",  "sets", "strings"};

constexpr std::string_view kArgumentStart =
    "{'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
constexpr std::string_view kIndexStart =
    "{'[', '{', '(', '.', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
constexpr std::string_view kListStart =
    "{'[', ']', '{', '(', '.', ',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
constexpr std::string_view kMapStart =
    "{'[', '{', '}', '(', '.', ',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
constexpr std::string_view kMessageStart = "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}";

struct Operand {
  enum class Kind : unsigned char { kName, kMember, kOther };
  Kind kind = Kind::kOther;
  std::size_t offset = 0;
  int reference = -1;  // of a name, and of members of one
};

class Parser {
 public:
  explicit Parser(std::string_view source) : tokens_(tokenize(source, out_.problems)) {}

  Parsed parse() {
    Operand whole;
    if (expression(whole) && token().kind != TokenKind::kEnd) refuse_token("<EOF>", next().kind == TokenKind::kEnd);
    return std::move(out_);
  }

 private:
  const Token& token() const { return tokens_[at_]; }
  const Token& next(std::size_t count = 1) const { return tokens_[std::min(at_ + count, tokens_.size() - 1)]; }
  static bool is_sign(const Token& token, std::string_view sign) { return token.kind == TokenKind::kSign && token.text == sign; }
  bool at_sign(std::string_view sign) const { return is_sign(token(), sign); }
  bool skip(std::string_view sign) {
    if (!at_sign(sign)) return false;
    ++at_;
    return true;
  }

  static std::string shown(const Token& token) { return token.kind == TokenKind::kEnd ? "<EOF>" : std::string(token.text); }
  bool fail(std::size_t offset, std::string text) {
    out_.problems.push_back({offset, "Syntax error: " + std::move(text)});
    return false;
  }
  void note(std::size_t offset, std::string_view text) { out_.problems.push_back({offset, std::string(text)}); }

  // `only_extra`: without this token it would go on.
  bool refuse_token(std::string_view expected, bool only_extra) {
    return fail(token().offset,
                (only_extra ? "extraneous input '" : "mismatched input '") + shown(token()) + "' expecting " + std::string(expected));
  }

  static bool begins_operand(const Token& token) {
    if (token.kind == TokenKind::kSign) {
      return std::any_of(std::begin(kStartSigns), std::end(kStartSigns), [&](std::string_view sign) { return sign == token.text; });
    }
    return token.kind != TokenKind::kEnd && token.kind != TokenKind::kEscaped;
  }

  // Passes over a token without which it goes on, as upstream's parser does.
  bool drop(std::string_view expected, bool goes_on) {
    if (!goes_on || token().kind == TokenKind::kEnd) return refuse_token(expected, false);
    refuse_token(expected, true);
    ++at_;
    return true;
  }

  bool expect(std::string_view sign) {
    if (skip(sign)) return true;
    const std::string quoted = "'" + std::string(sign) + "'";
    if (is_sign(next(), sign)) return drop(quoted, true) && skip(sign);
    const bool end = token().kind == TokenKind::kEnd;
    if (sign == ":" && begins_operand(token())) {
      fail(token().offset, "missing ':' at '" + shown(token()) + "'");
      return true;
    }
    if (end && sign != ":") return fail(token().offset, "missing " + quoted + " at '<EOF>'");
    return refuse_token(quoted, false);
  }

  // The end of a list or a map, or one more item.
  bool item_ends(std::string_view close, bool& more) {
    const auto ends = [&](const Token& each) { return is_sign(each, ",") || is_sign(each, close); };
    if (!ends(token()) && !drop("{'" + std::string(close) + "', ','}", ends(next()))) return false;
    more = skip(",") && !at_sign(close);
    return more || skip(close) || refuse_token("'" + std::string(close) + "'", false);
  }

  // ---- operators: which binds more makes no difference here

  bool expression(Operand& out) {
    if (++depth_ > kMostNested) {
      out_.too_deep = true;
      return false;
    }
    const bool read = conditional(out);
    --depth_;
    return read;
  }

  bool conditional(Operand& out) {
    if (!operation(out)) return false;
    if (!at_sign("?")) return true;
    out = {Operand::Kind::kOther, token().offset, -1};
    ++at_;
    Operand other;
    return operation(other) && expect(":") && expression(other);
  }

  bool operation(Operand& out) {
    if (!unary(out)) return false;
    while (is_operator(token())) {
      out = {Operand::Kind::kOther, token().offset, -1};
      ++at_;
      Operand right;
      if (!unary(right)) return false;
    }
    return true;
  }

  static bool is_operator(const Token& token) {
    static constexpr std::array<std::string_view, 14> kOperators = {"||", "&&", "==", "!=", "<", "<=", ">",
                                                                    ">=", "in", "+",  "-",  "*", "/",  "%"};
    return token.kind == TokenKind::kSign && std::find(kOperators.begin(), kOperators.end(), token.text) != kOperators.end();
  }

  static bool is_number(const Token& token) { return token.kind == TokenKind::kInt || token.kind == TokenKind::kFloat; }

  bool unary(Operand& out) {
    const std::size_t begin = at_;
    const std::string_view sign = at_sign("!") ? "!" : "-";
    while (at_sign(sign) && !(sign == "-" && is_number(next()))) ++at_;
    const std::size_t signs = at_ - begin;
    if (!member(out)) return false;
    if (signs > 0) out = {Operand::Kind::kOther, tokens_[begin].offset, -1};
    return true;
  }

  // ---- members, calls and indexes

  bool member(Operand& out) {
    if (!primary(out)) return false;
    while (true) {
      if (at_sign(".")) {
        if (!select(out)) return false;
      } else if (at_sign("[")) {
        out = {Operand::Kind::kOther, token().offset, -1};
        ++at_;
        if (!skip("?") && !begins_operand(token()) && !drop(kIndexStart, begins_operand(next()))) return false;
        Operand index;
        if (!expression(index) || !expect("]")) return false;
      } else {
        return true;
      }
    }
  }

  bool select(Operand& out) {
    const std::size_t dot = token().offset;
    ++at_;
    skip("?");
    if (token().kind != TokenKind::kIdentifier && token().kind != TokenKind::kEscaped) {
      return fail(token().offset, "no viable alternative at input '." + std::string(token().text) + "'");
    }
    const Token name = token();
    ++at_;
    if (at_sign("(") && name.kind == TokenKind::kIdentifier) return call(name, &out, out);
    if (out.kind == Operand::Kind::kName && out.reference >= 0) {
      Reference& reference = out_.references[static_cast<std::size_t>(out.reference)];
      reference.member = name.kind == TokenKind::kEscaped ? name.text.substr(1, name.text.size() - 2) : name.text;
      reference.member_offset = dot;
    }
    out = {Operand::Kind::kMember, dot, out.reference};
    return true;
  }

  // `receiver`: null for a global function.
  bool call(const Token& name, const Operand* receiver, Operand& out) {
    if (receiver != nullptr && receiver->reference >= 0) {
      Reference& family = out_.references[static_cast<std::size_t>(receiver->reference)];
      if (std::find(std::begin(kFunctionFamilies), std::end(kFunctionFamilies), family.name) != std::end(kFunctionFamilies))
        family.bound = true;
    }
    const bool of_receiver = receiver != nullptr;
    const std::size_t open = token().offset;
    ++at_;
    std::vector<Operand> arguments;
    std::vector<std::size_t> first;  // reference of each argument
    if (!at_sign(")") && !begins_operand(token()) && !drop(kArgumentStart, is_sign(next(), ")") || begins_operand(next()))) return false;
    for (bool more = !at_sign(")"); more; more = skip(",")) {
      first.push_back(out_.references.size());
      if (!expression(arguments.emplace_back())) return false;
    }
    if (!expect(")")) return false;
    if (of_receiver) bind(name.text, arguments, first);
    if (!of_receiver && name.text == "has" && arguments.size() == 1 && arguments[0].kind != Operand::Kind::kMember) {
      note(arguments[0].offset, "invalid argument to has() macro");
    }
    out = {Operand::Kind::kOther, open, -1};
    return true;
  }

  // What a macro names is nothing of the surroundings.
  void bind(std::string_view name, const std::vector<Operand>& arguments, const std::vector<std::size_t>& first) {
    const auto* macro = std::find_if(std::begin(kMacros), std::end(kMacros),
                                     [&](const Macro& each) { return each.name == name && each.arguments == arguments.size(); });
    if (macro == std::end(kMacros)) return;
    for (std::size_t i = 0; i < macro->bound; ++i) {
      const Operand& argument = arguments[i];
      if (argument.kind != Operand::Kind::kName || argument.reference < 0) return note(argument.offset, macro->refused);
      const std::string_view bound = out_.references[static_cast<std::size_t>(argument.reference)].name;
      for (std::size_t each = first[i]; each < out_.references.size(); ++each) {
        if (out_.references[each].name == bound) out_.references[each].bound = true;
      }
    }
  }

  // ---- what stands on its own

  bool primary(Operand& out) {
    if (!begins_operand(token()) && !drop("{" + std::string(kOperandStart) + "}", begins_operand(next()))) return false;
    out = {Operand::Kind::kOther, token().offset, -1};
    if (skip("(")) return expression(out) && expect(")");
    if (skip("[")) return list();
    if (skip("{")) return entries(false);
    if (at_sign(".") || token().kind == TokenKind::kIdentifier) return name(out);
    return literal();
  }

  bool name(Operand& out) {
    const bool from_root = skip(".");
    if (token().kind != TokenKind::kIdentifier) {
      return fail(token().offset, "no viable alternative at input '." + std::string(token().text) + "'");
    }
    if (is_message()) {
      at_ = message_begin_ + 1;
      return entries(true);
    }
    const Token word = token();
    ++at_;
    if (is_reserved(word.text)) note(out.offset, "reserved identifier: " + std::string(word.text));
    if (at_sign("(")) return call(word, nullptr, out);
    if (from_root) return true;
    out = {Operand::Kind::kName, word.offset, static_cast<int>(out_.references.size())};
    out_.references.push_back({word.text, word.offset});
    return true;
  }

  // Whether names with dots and a brace follow: Object.spec{…}.
  bool is_message() {
    std::size_t i = at_;
    while (tokens_[i].kind == TokenKind::kIdentifier && is_sign(tokens_[i + 1], ".")) i += 2;
    if (tokens_[i].kind != TokenKind::kIdentifier || !is_sign(tokens_[i + 1], "{")) return false;
    message_begin_ = i + 1;
    return true;
  }

  bool list() {
    if (skip(",")) return expect("]");
    if (skip("]")) return true;
    if (!at_sign("?") && !begins_operand(token()) && !drop(kListStart, begins_operand(next()))) return false;
    for (bool more = true; more;) {
      skip("?");
      Operand item;
      if (!expression(item) || !item_ends("]", more)) return false;
    }
    return true;
  }

  // Of a map, or of a message, whose keys are names.
  bool entries(bool named) {
    if (skip(",")) return expect("}");
    if (skip("}")) return true;
    for (bool more = true; more;) {
      skip("?");
      Operand value;
      if (!(named ? field_name() : map_key()) || !expect(":") || !expression(value) || !item_ends("}", more)) return false;
    }
    return true;
  }

  bool field_name() {
    const auto is_name = [](const Token& each) { return each.kind == TokenKind::kIdentifier || each.kind == TokenKind::kEscaped; };
    if (!is_name(token()) && !drop(kMessageStart, is_name(next()))) return false;
    ++at_;
    return true;
  }

  bool map_key() {
    Operand key;
    return (begins_operand(token()) || drop(kMapStart, begins_operand(next()))) && expression(key);
  }

  bool literal() {
    const std::size_t begin = token().offset;
    const bool negative = at_sign("-") && is_number(next());
    if (negative) ++at_;
    const Token& number = token();
    if (number.kind == TokenKind::kSign) return refuse_token("{" + std::string(kOperandStart) + "}", begins_operand(next()));
    if (number.kind == TokenKind::kInt && !is_whole<std::int64_t>(number.text, negative)) note(begin, "invalid int literal");
    const std::string_view digits = number.text.substr(0, number.text.size() - 1);
    if (number.kind == TokenKind::kUint && !is_whole<std::uint64_t>(digits, false)) note(begin, "invalid uint literal");
    if (number.kind == TokenKind::kFloat && std::isinf(std::strtod(std::string(number.text).c_str(), nullptr))) {
      note(begin, "invalid double literal");
    }
    ++at_;
    return true;
  }

  template <class Number>
  static bool is_whole(std::string_view text, bool negative) {
    const bool hex = text.starts_with("0x");
    const std::string digits = (negative ? "-" : "") + std::string(hex ? text.substr(2) : text);
    Number number{};
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
    return error == std::errc() && end == digits.data() + digits.size();
  }

  static constexpr std::array<std::string_view, 6> kStartSigns = {"[", "{", "(", ".", "-", "!"};

  Parsed out_;
  const std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t message_begin_ = 0;
  int depth_ = 0;
};

}  // namespace

bool is_reserved(std::string_view word) {
  static constexpr std::array<std::string_view, 18> kReserved = {"as",        "break",  "const",  "continue", "else",  "for",
                                                                 "function",  "if",     "import", "let",      "loop",  "package",
                                                                 "namespace", "return", "var",    "void",     "while", "in"};
  return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

Parsed parse(std::string_view source) { return Parser(source).parse(); }

}  // namespace backplane::cel
