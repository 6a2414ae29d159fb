#include "cel/format_check.hpp"

#include <algorithm>
#include <initializer_list>

#include "cel/types.hpp"

namespace backplane::cel_detail {
namespace {

using enum TypeKind;

constexpr std::string_view kTexts =
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps";

bool is_one_of(const Type& type, std::initializer_list<TypeKind> kinds) {
  return type.kind == kDyn || std::find(kinds.begin(), kinds.end(), type.kind) != kinds.end();
}

std::string runtime_name(const Type& type) {
  switch (type.kind) {
    case kDuration:
      return "google.protobuf.Duration";
    case kTimestamp:
      return "google.protobuf.Timestamp";
    case kNull:
      return "null_type";
    default:
      break;
  }
  const std::string text = to_text(type);
  return text.substr(0, text.find('('));
}

class FormatChecker {
 public:
  FormatChecker(const Ast& ast, const Expr& call, Problems& problems)
      : ast_(ast), call_(call), arguments_(call.arguments[0]->arguments), problems_(problems) {}

  void run() {
    const std::string_view text = call_.operand->literal.text;
    for (at_ = 0; at_ < text.size(); ++at_) {
      if (text[at_] != '%') continue;
      if (++at_ >= text.size()) return refuse("unexpected end of string");
      if (text[at_] != '%' && !clause(text)) return;
    }
    if (arguments_.size() > used_) {
      refuse("too many arguments supplied to string.format (expected " + std::to_string(used_) + ", got " +
             std::to_string(arguments_.size()) + ")");
    }
  }

 private:
  void refuse(std::string problem) { problems_.add(ast_.offset(call_.id), std::move(problem)); }
  bool refuse_clause(std::string_view problem) {
    refuse("could not parse formatting clause: " + std::string(problem));
    return false;
  }

  // Reads a clause: `text` starts after the percent sign and ends at the clause's letter.
  bool clause(std::string_view text) {
    if (used_ >= arguments_.size()) {
      refuse("index " + std::to_string(used_) + " out of range");
      return false;
    }
    const Expr& argument = *arguments_[used_++];
    if (text[at_] == '.' && !precision(text)) return false;
    return fits(text[at_], argument);
  }

  bool precision(std::string_view text) {
    const std::size_t begin = ++at_;
    while (at_ < text.size() && text[at_] >= '0' && text[at_] <= '9') ++at_;
    if (at_ >= text.size()) return refuse_clause("error while parsing precision: could not find end of precision specifier");
    if (at_ - begin > 0 && at_ - begin < 19) return true;
    const std::string digits(text.substr(begin, at_ - begin));
    return refuse_clause("error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing \"" + digits +
                         (digits.empty() ? "\": invalid syntax" : "\": value out of range"));
  }

  bool fits(char letter, const Expr& argument) {
    const Type& type = *ast_.type(argument);
    switch (letter) {
      case 's':
        return text_fits(argument);
      case 'd':
        return must(argument, is_one_of(type, {kInt, kUint}), "decimal clause can only be used on integers");
      case 'f':
        return must(argument, is_one_of(type, {kDouble, kString}), "fixed-point clause can only be used on doubles");
      case 'e':
        return must(argument, is_one_of(type, {kDouble, kString}), "scientific clause can only be used on doubles");
      case 'b':
        return must(argument, is_one_of(type, {kInt, kUint, kBool}), "only integers and bools can be formatted as binary");
      case 'x':
      case 'X':
        return must(argument, is_one_of(type, {kInt, kUint, kString, kBytes}),
                    "only integers, byte buffers, and strings can be formatted as hex");
      case 'o':
        return must(argument, is_one_of(type, {kInt, kUint}), "octal clause can only be used on integers");
      default:
        return refuse_clause("unrecognized formatting clause \"" + shown(letter) + "\"");
    }
  }

  // A byte as the code point of the same number.
  static std::string shown(char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x80) return std::string(1, letter);
    return {static_cast<char>(0xC0 | (byte >> 6)), static_cast<char>(0x80 | (byte & 0x3F))};
  }

  bool must(const Expr& argument, bool good, std::string_view otherwise) {
    if (good) return true;
    problems_.add(ast_.offset(argument.id),
                  "error during formatting: " + std::string(otherwise) + ", was given " + runtime_name(*ast_.type(argument)));
    return false;
  }

  // Literals inside lists and maps are checked too.
  bool text_fits(const Expr& argument) {
    if (!must(argument,
              is_one_of(*ast_.type(argument),
                        {kList, kMap, kInt, kUint, kDouble, kBool, kString, kTimestamp, kBytes, kDuration, TypeKind::kType, kNull}),
              kTexts)) {
      return false;
    }
    if (argument.kind == ExprKind::kList) {
      return std::all_of(argument.arguments.begin(), argument.arguments.end(), [&](const Expr* each) { return text_fits(*each); });
    }
    if (argument.kind != ExprKind::kMap) return true;
    return std::all_of(argument.entries.begin(), argument.entries.end(),
                       [&](const Entry& each) { return text_fits(*each.key) && text_fits(*each.value); });
  }

  const Ast& ast_;
  const Expr& call_;
  const std::span<Expr*> arguments_;
  Problems& problems_;
  std::size_t at_ = 0, used_ = 0;
};

}  // namespace

void check_format(const Ast& ast, const Expr& call, Problems& problems) {
  if (call.name != "format" || call.operand == nullptr || call.arguments.size() != 1) return;
  const bool text = call.operand->kind == ExprKind::kLiteral && call.operand->literal.kind == LiteralKind::kString;
  const Reference* reference = ast.reference(call.id);
  const bool own = reference != nullptr && std::any_of(reference->overloads.begin(), reference->overloads.end(),
                                                       [](const Overload* each) { return each->id == "string_format"; });
  if (text && own && call.arguments[0]->kind == ExprKind::kList) FormatChecker(ast, call, problems).run();
}

}  // namespace backplane::cel_detail
