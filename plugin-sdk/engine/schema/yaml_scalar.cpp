#include "schema/yaml_scalar.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <string>

namespace backplane::schema {
namespace {

constexpr std::string_view kTrue[] = {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
constexpr std::string_view kFalse[] = {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};
constexpr std::string_view kNull[] = {"", "~", "null", "Null", "NULL"};
constexpr std::string_view kSpecialFloats[] = {".nan",  ".NaN",  ".NAN",  ".inf",  ".Inf",  ".INF",
                                               "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"};

template <class List>
bool is_one_of(std::string_view text, const List& list) noexcept {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Like strconv.ParseInt with base 0; the underscores have been removed.
std::optional<Value> parse_integer(std::string_view text, const json::storage_ptr& storage) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = static_cast<char>(text[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    text.remove_prefix(mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1);
  }
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  constexpr std::uint64_t kMost = std::uint64_t(1) << 63;
  if (negative) return number <= kMost ? std::optional(Value(static_cast<std::int64_t>(~number + 1), storage)) : std::nullopt;
  if (number < kMost) return Value(static_cast<std::int64_t>(number), storage);
  return Value(number, storage);
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool has_float_shape(std::string_view text) noexcept {
  std::size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  auto digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - begin;
  };
  const std::size_t whole = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (digits() == 0 && whole == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

std::optional<Value> parse_number(std::string_view text, const json::storage_ptr& storage) {
  std::string plain(text);
  std::erase(plain, '_');
  if (auto integer = parse_integer(plain, storage)) return integer;
  if (!has_float_shape(plain)) return std::nullopt;
  const char* begin = plain.c_str() + (plain.front() == '+' ? 1 : 0);
  double number = 0;
  const auto result = std::from_chars(begin, plain.c_str() + plain.size(), number);
  // An underflow is zero; an overflow is not a number.
  const std::size_t exponent = plain.find_first_of("eE");
  const bool tiny = result.ec == std::errc::result_out_of_range && exponent != std::string::npos && plain[exponent + 1] == '-';
  if (tiny) return Value(plain.front() == '-' ? -0.0 : 0.0, storage);
  if (result.ec != std::errc() || !std::isfinite(number)) return std::nullopt;
  return Value(number, storage);
}

// Four digits, a dash, a month, a dash, a day, and perhaps a time: go-yaml reads it as a timestamp.
bool is_timestamp(std::string_view text) noexcept {
  std::size_t at = 0;
  auto digits = [&](std::size_t least, std::size_t most) {
    const std::size_t begin = at;
    while (at < text.size() && at - begin < most && is_digit(text[at])) ++at;
    return at - begin >= least;
  };
  auto literal = [&](std::string_view any) { return at < text.size() && any.find(text[at]) != std::string_view::npos && (++at, true); };
  if (!digits(4, 4) || !literal("-") || !digits(1, 2) || !literal("-") || !digits(1, 2)) return false;
  if (at == text.size()) return true;
  if (!literal("Tt ") || !digits(1, 2) || !literal(":") || !digits(1, 2) || !literal(":") || !digits(1, 2)) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits(1, 9)) return false;
  }
  while (at < text.size() && text[at] == ' ') ++at;
  if (at == text.size()) return true;
  if (literal("Z")) return at == text.size();
  return literal("+-") && digits(1, 2) && literal(":") && digits(2, 2) && at == text.size();
}

// 190:20:30, a number of YAML 1.1 that go-yaml does not read but quotes.
bool is_base60(std::string_view text) noexcept {
  if (text.empty() || !(text[0] == '+' || text[0] == '-' || is_digit(text[0])) || text.find(':') == std::string_view::npos) return false;
  std::size_t at = is_digit(text[0]) ? 0 : 1;
  bool colon = false;
  if (at >= text.size() || !is_digit(text[at])) return false;
  for (; at < text.size() && text[at] != '.'; ++at) {
    if (text[at] == ':') {
      colon = true;
      if (at + 1 >= text.size() || text[at + 1] < '0' || text[at + 1] > '9') return false;
    } else if (!is_digit(text[at]) && text[at] != '_') {
      return false;
    }
  }
  return colon;
}

}  // namespace

Value resolve_plain(std::string_view text, const json::storage_ptr& storage) {
  if (is_one_of(text, kNull)) return Value(nullptr, storage);
  if (is_one_of(text, kTrue)) return Value(true, storage);
  if (is_one_of(text, kFalse)) return Value(false, storage);
  const bool numeric = is_digit(text[0]) || text[0] == '+' || text[0] == '-' || text[0] == '.';
  if (numeric) {
    if (auto number = parse_number(text, storage)) return std::move(*number);
  }
  return Value(text, storage);
}

bool is_special_float(std::string_view text) noexcept { return is_one_of(text, kSpecialFloats); }

std::string go_special_float(std::string_view text) {
  if ((text.back() | 0x20) == 'n') return "NaN";
  return text.front() == '-' ? "-Inf" : "+Inf";
}

std::string key_of_special_float(std::string_view text) {
  if ((text.back() | 0x20) == 'n') return ".nan";
  return text.front() == '-' ? "-.inf" : ".inf";
}

std::string key_of_float(double number) {
  // From here on a double is nearer to 2^128 than to the largest float32.
  constexpr double kInfinite = 3.4028235677973366e38;
  constexpr double kMost = std::numeric_limits<float>::max();
  if (std::fabs(number) >= kInfinite) return number < 0 ? "-.inf" : ".inf";
  const auto real = static_cast<float>(std::clamp(number, -kMost, kMost));
  char text[64];
  const auto end = std::to_chars(text, std::end(text), real, std::chars_format::scientific).ptr;
  int exponent = 0;
  const char* digits = std::find(text, end, 'e') + 1;
  std::from_chars(digits + (*digits == '+' ? 1 : 0), end, exponent);
  if (exponent < -4 || exponent >= 6) return {text, end};
  return {text, std::to_chars(text, std::end(text), real, std::chars_format::fixed).ptr};
}

bool is_plain_text(std::string_view text) {
  if (text == "<<" || is_special_float(text) || is_timestamp(text) || is_base60(text)) return false;
  return resolve_plain(text, {}).is_string();
}

}  // namespace backplane::schema
