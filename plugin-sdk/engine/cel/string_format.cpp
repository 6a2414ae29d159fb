#include "cel/string_format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "cel/text.hpp"
#include "text/utf8.hpp"

namespace backplane::cel_detail {
namespace {

// The maximum precision: no double has more fraction digits.
constexpr int kMostDigits = 1000;
constexpr int kDigits = 6;
constexpr int kMostDepth = 64;

// A text, or an error.
struct Piece {
  std::string text;
  std::string error;
};
Piece wrong(std::string error) { return {{}, std::move(error)}; }

class Formatter {
 public:
  explicit Formatter(Arena& arena) : arena_(arena) {}

  Piece format(std::string_view format, const Val& arguments) {
    std::string out;
    std::size_t next = 0;
    while (!format.empty()) {
      const std::size_t mark = std::min(format.find('%'), format.size());
      out.append(format.substr(0, mark));
      format.remove_prefix(mark);
      if (format.empty()) break;
      if (format.substr(0, 2) == "%%") {
        out.push_back('%');
        format.remove_prefix(2);
        continue;
      }
      if (next >= list_size(arguments)) return wrong("index " + std::to_string(next) + " out of range");
      if (format.size() < 2) return wrong("unexpected end of string");
      format.remove_prefix(1);
      Piece piece = clause(format, list_at(arena_, arguments, next++));
      if (!piece.error.empty()) return piece;
      arena_.expect(out.size() + piece.text.size());
      out.append(piece.text);
    }
    return {out, {}};
  }

 private:
  // Removes one clause from the format and returns its text.
  Piece clause(std::string_view& format, const Val& value) {
    int digits = kDigits;
    std::string error = precision(format, digits);
    if (!error.empty()) return wrong("could not parse formatting clause: error while parsing precision: " + error);
    const char letter = format.empty() ? '\0' : format.front();
    const Rune rune = format.empty() ? Rune{0, 0, false} : decode_rune(format);
    Piece piece;
    switch (letter) {
      case 's':
        piece = string(value, 0);
        break;
      case 'd':
        piece = decimal(value);
        break;
      case 'f':
        piece = real(value, digits, false);
        break;
      case 'e':
        piece = real(value, digits, true);
        break;
      case 'b':
        piece = binary(value);
        break;
      case 'x':
      case 'X':
        piece = hex(value, letter == 'X');
        break;
      case 'o':
        piece = octal(value);
        break;
      default:
        return wrong("could not parse formatting clause: unrecognized formatting clause \"" +
                     std::string(format.substr(0, std::max(1u, rune.size))) + "\"");
    }
    format.remove_prefix(1);
    if (!piece.error.empty()) piece.error.insert(0, "error during formatting: ");
    return piece;
  }

  static std::string precision(std::string_view& format, int& digits) {
    if (format.empty() || format.front() != '.') return {};
    const std::size_t end = format.find_first_not_of("0123456789", 1);
    if (end == std::string_view::npos) return "could not find end of precision specifier";
    const std::string_view number = format.substr(1, end - 1);
    const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), digits);
    if (error != std::errc() || stop != number.data() + number.size() || digits > kMostDigits) {
      return "error while converting precision to integer: strconv.Atoi: parsing \"" + std::string(number) +
             (number.empty() ? "\": invalid syntax" : "\": value out of range");
    }
    format.remove_prefix(end);
    return {};
  }

  Piece string(const Val& value, int depth) {
    if (depth > kMostDepth) return wrong("value is nested too deeply");
    switch (value.kind) {
      case ValKind::kList:
        return list(value, depth);
      case ValKind::kMap:
        if (type_name(value) == "map") return map(value, depth);
        break;
      case ValKind::kNull:
        return {"null", {}};
      case ValKind::kInt:
      case ValKind::kUint:
      case ValKind::kDouble:
      case ValKind::kBool:
      case ValKind::kString:
      case ValKind::kTimestamp:
      case ValKind::kBytes:
      case ValKind::kDuration:
      case ValKind::kType: {
        const Val text = to_text_val(arena_, value);
        if (text.is_error()) return wrong("could not convert argument " + quoted(text.view()) + " to string");
        return {std::string(text.view()), {}};
      }
      default:
        break;
    }
    return wrong(
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was "
        "given " +
        std::string(type_name(value)));
  }

  // The text of a value inside a list or a map: as CEL writes it.
  Piece literal(const Val& value, int depth) {
    switch (value.kind) {
      case ValKind::kString:
        return {quoted(value.view()), {}};
      case ValKind::kBytes: {
        Piece text = string(value, depth);
        if (text.error.empty()) text.text = "b" + quoted(text.text);
        return text;
      }
      case ValKind::kTimestamp:
        return {"timestamp(" + quoted(to_text_val(arena_, value).view()) + ")", {}};
      case ValKind::kDuration:
        return {"duration(" + quoted(to_text_val(arena_, value).view()) + ")", {}};
      case ValKind::kDouble: {
        std::string text;
        append_fixed(text, value.real, kDigits);
        return {std::isfinite(value.real) ? text : quoted(text), {}};
      }
      case ValKind::kError:
      case ValKind::kOptional:
      case ValKind::kOpaque:
      case ValKind::kRaw:
        return wrong("no formatting function for " + std::string(type_name(value)));
      default:
        return string(value, depth);
    }
  }

  Piece list(const Val& value, int depth) {
    std::string out = "[";
    for (std::size_t i = 0; i < list_size(value); ++i) {
      Piece item = literal(list_at(arena_, value, i), depth + 1);
      if (!item.error.empty()) return item;
      arena_.expect(out.size() + item.text.size());
      if (i != 0) out.append(", ");
      out.append(item.text);
    }
    return {out + "]", {}};
  }

  Piece map(const Val& value, int depth) {
    std::vector<std::pair<std::string, std::string>> entries;
    std::string error;
    map_each(arena_, value, [&](const Val& key, const Val& item) {
      const bool plain = key.is(ValKind::kString) || key.is(ValKind::kBool) || key.is(ValKind::kInt) || key.is(ValKind::kUint);
      if (!plain) {
        error = "no formatting function for map key of type " + std::string(type_name(key));
        return false;
      }
      Piece text = literal(item, depth + 1);
      error = text.error;
      entries.emplace_back(literal(key, depth + 1).text, std::move(text.text));
      return error.empty();
    });
    if (!error.empty()) return wrong(error);
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string out = "{";
    for (const auto& [key, item] : entries) {
      arena_.expect(out.size() + key.size() + item.size());
      if (out.size() > 1) out.append(", ");
      out.append(key).append(":").append(item);
    }
    return {out + "}", {}};
  }

  static Piece decimal(const Val& value) {
    if (value.is(ValKind::kInt)) return {std::to_string(value.integer), {}};
    if (value.is(ValKind::kUint)) return {std::to_string(value.natural), {}};
    return wrong("decimal clause can only be used on integers, was given " + std::string(type_name(value)));
  }

  static Piece real(const Val& value, int digits, bool scientific) {
    double number = value.real;
    if (value.is(ValKind::kString) && (value.view() == "NaN" || value.view() == "Infinity" || value.view() == "-Infinity")) {
      number = *parse_real(value.view());
    } else if (!value.is(ValKind::kDouble)) {
      return wrong(std::string(scientific ? "scientific" : "fixed-point") + " clause can only be used on doubles, was given " +
                   std::string(type_name(value)));
    }
    // For a number with an exponent, upstream uses the precision as the total width.
    if (scientific) return {padded(with_exponent(number), static_cast<std::size_t>(digits)), {}};
    if (!std::isfinite(number)) return {not_finite(number), {}};
    std::string out;
    append_fixed(out, number, digits);
    // Upstream separates groups of three digits by commas (English numbers).
    const std::size_t begin = out.front() == '-' ? 1 : 0;
    for (std::size_t at = std::min(out.find('.'), out.size()); at > begin + 3; at -= 3) out.insert(at - 3, ",");
    return {out, {}};
  }

  static std::string not_finite(double number) {
    if (std::isnan(number)) return "NaN";
    return number < 0 ? "-\xE2\x88\x9E" : "\xE2\x88\x9E";
  }

  static std::string padded(std::string text, std::size_t width) {
    const std::size_t size = rune_count(text);
    return size < width ? std::string(width - size, ' ') + text : text;
  }

  // "1.500000\u00d710\u207b\u00b3"
  static std::string with_exponent(double number) {
    if (!std::isfinite(number)) return not_finite(number);
    std::array<char, 64> text{};
    const int size = std::snprintf(text.data(), text.size(), "%.*e", kDigits, number);
    const std::string_view printed(text.data(), static_cast<std::size_t>(size));
    const std::size_t mark = printed.find('e');
    return std::string(printed.substr(0, mark)) + "\xC3\x97" + "10" + superscript(printed.substr(mark + 1));
  }

  static std::string superscript(std::string_view exponent) {
    constexpr std::array<std::string_view, 10> kDigitsUp = {"\xE2\x81\xB0", "\xC2\xB9",     "\xC2\xB2",     "\xC2\xB3",     "\xE2\x81\xB4",
                                                            "\xE2\x81\xB5", "\xE2\x81\xB6", "\xE2\x81\xB7", "\xE2\x81\xB8", "\xE2\x81\xB9"};
    std::string out;
    for (const char c : exponent) {
      if (c == '-') out.append("\xE2\x81\xBB");
      if (c >= '0' && c <= '9') out.append(kDigitsUp[static_cast<std::size_t>(c - '0')]);
    }
    return out;
  }

  template <class T>
  static std::string in_base(T number, int base) {
    std::array<char, 72> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number, base).ptr};
  }

  static Piece binary(const Val& value) {
    if (value.is(ValKind::kInt)) return {in_base(value.integer, 2), {}};
    if (value.is(ValKind::kUint)) return {in_base(value.natural, 2), {}};
    if (value.is(ValKind::kBool)) return {value.boolean ? "1" : "0", {}};
    return wrong("only integers and bools can be formatted as binary, was given " + std::string(type_name(value)));
  }

  static Piece octal(const Val& value) {
    if (value.is(ValKind::kInt)) return {in_base(value.integer, 8), {}};
    if (value.is(ValKind::kUint)) return {in_base(value.natural, 8), {}};
    return wrong("octal clause can only be used on integers, was given " + std::string(type_name(value)));
  }

  Piece hex(const Val& value, bool upper) {
    std::string out;
    if (value.is(ValKind::kInt)) {
      out = in_base(value.integer, 16);
    } else if (value.is(ValKind::kUint)) {
      out = in_base(value.natural, 16);
    } else if (value.is(ValKind::kString) || value.is(ValKind::kBytes)) {
      constexpr std::string_view kHex = "0123456789abcdef";
      arena_.expect(value.size * std::size_t{2});
      for (const char c : value.view()) {
        out.push_back(kHex[static_cast<unsigned char>(c) >> 4]);
        out.push_back(kHex[static_cast<unsigned char>(c) & 15]);
      }
    } else {
      return wrong("only integers, byte buffers, and strings can be formatted as hex, was given " + std::string(type_name(value)));
    }
    if (upper) std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'a' ? static_cast<char>(c - 32) : c; });
    return {out, {}};
  }

  Arena& arena_;
};

}  // namespace

Val format_text(Call& call) {
  const Piece piece = Formatter(call.arena).format(call.text(0), call[1]);
  return piece.error.empty() ? kept_string(call.arena, piece.text) : error_val(call.arena, piece.error);
}

}  // namespace backplane::cel_detail
