// resource.Quantity: parsing, the canonical text, and order, exact to any number of digits.
#include <array>
#include <charconv>

#include "backplane/types/names.hpp"
#include "text/quantity.hpp"

namespace backplane BACKPLANE_API {
namespace {

enum class Form : unsigned char { kDecimalSi, kBinarySi, kExponent };

struct Suffix {
  std::string_view text;
  int exponent;  // of 10, or of 2 in the binary family
  Form form;
};
constexpr std::array<Suffix, 17> kSuffixes = {{{"Ki", 10, Form::kBinarySi},
                                               {"Mi", 20, Form::kBinarySi},
                                               {"Gi", 30, Form::kBinarySi},
                                               {"Ti", 40, Form::kBinarySi},
                                               {"Pi", 50, Form::kBinarySi},
                                               {"Ei", 60, Form::kBinarySi},
                                               {"n", -9, Form::kDecimalSi},
                                               {"u", -6, Form::kDecimalSi},
                                               {"m", -3, Form::kDecimalSi},
                                               {"", 0, Form::kDecimalSi},
                                               {"k", 3, Form::kDecimalSi},
                                               {"M", 6, Form::kDecimalSi},
                                               {"G", 9, Form::kDecimalSi},
                                               {"T", 12, Form::kDecimalSi},
                                               {"P", 15, Form::kDecimalSi},
                                               {"E", 18, Form::kDecimalSi},
                                               {"e0", 0, Form::kExponent}}};
constexpr int kNano = -9;
constexpr int kLargestDecimalSuffix = 18;
constexpr std::string_view kMaxBinary = "9223372036854775807";
// A text longer than this is refused: real quantities have at most a few dozen digits.
constexpr std::size_t kMaxText = 1024;

// |value| = digits * 10^scale; digits has no leading zeros, empty is zero.
struct Number {
  bool negative = false;
  std::string digits;
  int scale = 0;
  Form form = Form::kDecimalSi;

  bool zero() const noexcept { return digits.empty(); }
};

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

void strip_leading_zeros(std::string& digits) { digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size())); }

// The exponent and family of a suffix; the whole text must be one.
std::optional<Suffix> find_suffix(std::string_view text) {
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.text == text && suffix.text != "e0") return suffix;
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  std::string_view number = text.substr(1);
  if (number[0] == '+') number.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), exponent);
  if (number.empty() || error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  if (exponent < -100'000 || exponent > 100'000) return std::nullopt;
  return Suffix{text, exponent, Form::kExponent};
}

// digits *= 2^exponent
void multiply_by_power_of_two(std::string& digits, int exponent) {
  for (; exponent > 0; exponent -= 10) {
    const unsigned factor = 1u << std::min(exponent, 10);
    unsigned carry = 0;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      const unsigned product = static_cast<unsigned>(*digit - '0') * factor + carry;
      *digit = static_cast<char>('0' + product % 10);
      carry = product / 10;
    }
    if (carry != 0) digits.insert(0, std::to_string(carry));
  }
}

// Rounds away from zero to whole units of 10^scale.
void round_up(Number& number, int scale) {
  if (number.zero() || number.scale >= scale) return;
  const auto drop = static_cast<std::size_t>(scale - number.scale);
  const bool inexact =
      drop >= number.digits.size() || number.digits.find_first_not_of('0', number.digits.size() - drop) != std::string::npos;
  number.digits.resize(drop >= number.digits.size() ? 0 : number.digits.size() - drop);
  number.scale = scale;
  if (!inexact) return;
  std::size_t at = number.digits.size();
  while (at > 0 && number.digits[at - 1] == '9') number.digits[--at] = '0';
  if (at > 0) {
    ++number.digits[at - 1];
  } else {
    number.digits.insert(0, "1");
  }
}

void remove_trailing_zeros(Number& number) {
  while (!number.digits.empty() && number.digits.back() == '0') {
    number.digits.pop_back();
    ++number.scale;
  }
}

// Sign of |a| - |b|.
int compare_size(Number a, Number b) {
  if (a.zero() || b.zero()) return int(!a.zero()) - int(!b.zero());
  const long long reach_a = static_cast<long long>(a.digits.size()) + a.scale, reach_b = static_cast<long long>(b.digits.size()) + b.scale;
  if (reach_a != reach_b) return reach_a < reach_b ? -1 : 1;
  const std::size_t width = std::max(a.digits.size(), b.digits.size());
  a.digits.resize(width, '0');
  b.digits.resize(width, '0');
  const int order = a.digits.compare(b.digits);
  return order < 0 ? -1 : int(order > 0);
}

// The common case: a few digits and a suffix.  Its value fits, in nanos.
__extension__ typedef __int128 Nanos;
struct Plain {
  std::int64_t digits = 0;
  const Suffix* suffix = nullptr;

  Nanos nanos() const noexcept {
    if (suffix->form != Form::kBinarySi) return digits * power_of_ten(suffix->exponent - kNano);
    return std::min<Nanos>(static_cast<Nanos>(digits) << suffix->exponent, INT64_MAX) * power_of_ten(-kNano);
  }

 private:
  static Nanos power_of_ten(int exponent) noexcept {
    Nanos power = 1;
    for (; exponent > 0; --exponent) power *= 10;
    return power;
  }
};

std::optional<Plain> read_plain(std::string_view text) {
  constexpr std::size_t kMostDigits = 10;
  Plain out;
  std::size_t at = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    if (at == kMostDigits) return std::nullopt;
    out.digits = out.digits * 10 + (text[at] - '0');
  }
  if (at == 0) return std::nullopt;
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.form != Form::kExponent && text.substr(at) == suffix.text) out.suffix = &suffix;
  }
  return out.suffix == nullptr ? std::nullopt : std::optional(out);
}

// Whether the text is the canonical text of its value.
bool is_canonical(std::string_view text, const Plain& plain) {
  if (text.front() == '0') return text == "0";
  if (plain.suffix->form == Form::kDecimalSi) return plain.digits % 1000 != 0;
  return plain.digits % 1024 != 0 && static_cast<Nanos>(plain.digits) << plain.suffix->exponent <= INT64_MAX;
}

// The parts of a quantity's text: sign, whole digits without leading zeros, digits after the point, suffix.
struct Parts {
  std::string_view whole;
  std::string_view fraction;
  std::string_view suffix;
};

Parts split(std::string_view text) {
  Parts out;
  std::size_t at = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return text.substr(begin, at - begin);
  };
  out.whole = digits();
  out.whole.remove_prefix(std::min(out.whole.find_first_not_of('0'), out.whole.size()));
  if (at < text.size() && text[at] == '.') ++at, out.fraction = digits();
  out.suffix = text.substr(at);
  return out;
}

// resource.ParseQuantity keeps the text of a quantity whose digits fit 64 bits if it looks canonical by these rules, which also accept
// texts that are not canonical, such as 007, +1, 1.500 or 1E+3.
bool keeps_text(std::string_view text) {
  constexpr int kMostDigits = 18, kMostBinaryDigits = 14;
  const Parts parts = split(text);
  const auto suffix = find_suffix(parts.suffix);
  // A whole part of zeros counts as the digit 0; a text that begins with it is printed again.
  if (!suffix || parts.whole.empty()) return false;
  const auto count = static_cast<int>(parts.whole.size() + parts.fraction.size());
  if (suffix->form == Form::kBinarySi) {
    if (!parts.fraction.empty() || count > kMostBinaryDigits - suffix->exponent * 3 / 10) return false;
    std::uint64_t value = 0;
    std::from_chars(parts.whole.data(), parts.whole.data() + parts.whole.size(), value);
    return value % 8 != 0;
  }
  const int scale = suffix->exponent - static_cast<int>(parts.fraction.size());
  return count <= kMostDigits && scale >= kNano && scale % 3 == 0 &&
         !(std::string(parts.whole) + std::string(parts.fraction)).ends_with("000");
}

std::optional<Number> parse(std::string_view text) {
  if (text.empty() || text.size() > kMaxText) return std::nullopt;
  Number out;
  std::size_t at = 0;
  if (text[0] == '-' || text[0] == '+') {
    out.negative = text[0] == '-';
    ++at;
  }
  while (at < text.size() && is_digit(text[at])) out.digits.push_back(text[at++]);
  if (at < text.size() && text[at] == '.') {
    ++at;
    for (; at < text.size() && is_digit(text[at]); ++at, --out.scale) out.digits.push_back(text[at]);
  }
  const auto suffix = find_suffix(text.substr(at));
  if (!suffix) return std::nullopt;
  out.form = suffix->form;
  strip_leading_zeros(out.digits);
  if (suffix->form == Form::kBinarySi) {
    multiply_by_power_of_two(out.digits, suffix->exponent);
  } else {
    out.scale += suffix->exponent;
  }
  remove_trailing_zeros(out);
  round_up(out, kNano);
  remove_trailing_zeros(out);
  const Number most{false, std::string(kMaxBinary), 0, Form::kBinarySi};
  if (out.form == Form::kBinarySi && compare_size(out, most) > 0) out.digits = kMaxBinary, out.scale = 0;
  if (out.zero()) out = Number{};
  return out;
}

// Prints a whole number with the largest suffix of its family that leaves it whole.
std::string print_decimal(Number number) {
  int exponent = number.scale;
  while (exponent % 3 != 0 || (number.form != Form::kExponent && exponent > kLargestDecimalSuffix)) {
    number.digits.push_back('0');
    --exponent;
  }
  std::string out = (number.negative ? "-" : "") + number.digits;
  if (number.form == Form::kExponent) return exponent == 0 ? out : out + "e" + std::to_string(exponent);
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.form == Form::kDecimalSi && suffix.exponent == exponent) return out.append(suffix.text);
  }
  return out;
}

std::string print_binary(const Number& number) {
  std::string whole = number.digits;
  whole.append(static_cast<std::size_t>(number.scale), '0');
  std::uint64_t value = 0;
  std::from_chars(whole.data(), whole.data() + whole.size(), value);
  int exponent = 0;
  for (; value % 1024 == 0 && exponent < 60; exponent += 10) value /= 1024;
  std::string out = (number.negative ? "-" : "") + std::to_string(value);
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.form == Form::kBinarySi && suffix.exponent == exponent) return out.append(suffix.text);
  }
  return out;
}

std::string print(Number number) {
  if (number.zero()) return "0";
  if (number.form == Form::kBinarySi) {
    const Number unit{false, "1024", 0, Form::kBinarySi};
    if (number.scale >= 0 && compare_size(number, unit) >= 0) return print_binary(number);
    number.form = Form::kDecimalSi;
  }
  return print_decimal(std::move(number));
}

// a + b, or a - b for a >= b; without signs, and with the same number of digits.
std::string combine(std::string a, const std::string& b, bool subtract) {
  int carry = 0;
  for (std::size_t i = a.size(); i-- > 0;) {
    const int x = a[i] - '0', y = b[i] - '0' + carry;
    const int digit = subtract ? x - y : x + y;
    carry = subtract ? int(digit < 0) : int(digit > 9);
    a[i] = static_cast<char>('0' + (digit + 10) % 10);
  }
  if (carry != 0) a.insert(0, 1, '1');
  strip_leading_zeros(a);
  return a;
}

// The sum, in the format of `a`.
Number sum(Number a, Number b) {
  const int scale = std::min(a.scale, b.scale);
  for (Number* each : {&a, &b}) each->digits.append(static_cast<std::size_t>(each->scale - scale), '0'), each->scale = scale;
  if (compare_size(a, b) < 0) std::swap(a.digits, b.digits), std::swap(a.negative, b.negative);
  b.digits.insert(0, a.digits.size() - b.digits.size(), '0');
  a.digits = combine(std::move(a.digits), b.digits, a.negative != b.negative);
  remove_trailing_zeros(a);
  const Number most{false, std::string(kMaxBinary), 0, Form::kBinarySi};
  if (a.form == Form::kBinarySi && compare_size(a, most) > 0) a.digits = kMaxBinary, a.scale = 0;
  return a;
}

}  // namespace

std::optional<std::string> canonical_quantity(std::string_view text) {
  if (const auto plain = read_plain(text); plain && is_canonical(text, *plain)) return std::string(text);
  auto number = parse(text);
  if (!number) return std::nullopt;
  if (keeps_text(text)) return std::string(text);
  return print(std::move(*number));
}

std::string round_quantity_up(std::string_view text, int scale) {
  const auto plain = read_plain(text);
  if (plain && (plain->suffix->form == Form::kBinarySi || plain->suffix->exponent >= scale)) return std::string(text);
  auto number = parse(text);
  if (!number || number->zero() || number->scale >= scale) return std::string(text);
  round_up(*number, scale);
  remove_trailing_zeros(*number);
  return print(std::move(*number));
}

bool is_whole_quantity(std::string_view text) {
  if (const auto plain = read_plain(text); plain && (plain->suffix->form == Form::kBinarySi || plain->suffix->exponent >= 0)) return true;
  const auto number = parse(text);
  return !number || number->zero() || number->scale >= 0;
}

std::string sum_of_quantities(std::string_view a, std::string_view b) {
  Number left = parse(a).value_or(Number{}), right = parse(b).value_or(Number{});
  if (left.zero()) return print(std::move(right));
  return print(right.zero() ? std::move(left) : sum(std::move(left), std::move(right)));
}

int compare_quantities(std::string_view a, std::string_view b) {
  if (a == b) return 0;
  if (const auto x = read_plain(a), y = read_plain(b); x && y) return x->nanos() < y->nanos() ? -1 : int(x->nanos() > y->nanos());
  const Number left = parse(a).value_or(Number{}), right = parse(b).value_or(Number{});
  if (left.zero() && right.zero()) return 0;
  if (left.negative != right.negative) {
    if (left.zero()) return right.negative ? 1 : -1;
    if (right.zero()) return left.negative ? -1 : 1;
    return left.negative ? -1 : 1;
  }
  const int order = compare_size(left, right);
  return left.negative ? -order : order;
}

}  // namespace BACKPLANE_API
