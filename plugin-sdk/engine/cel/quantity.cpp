#include "cel/quantity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "cel/text.hpp"

namespace backplane::cel_detail {
namespace {

constexpr std::size_t kMaxText = 1024;
// Limit of the distance of two numbers' digits for an exact sum.
constexpr long long kMaxDistance = 4096;
constexpr int kNano = -9;
constexpr std::string_view kMostBinary = "9223372036854775807";
constexpr std::string_view kFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// |value| = digits * 10^scale.
struct Decimal {
  bool negative = false;
  std::string digits;  // no leading zeros; empty is zero
  long long scale = 0;
};

void strip(std::string& digits) { digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size())); }

Decimal decimal_of(const QuantityVal& value) {
  Decimal out;
  out.scale = value.scale;
  if (!value.plain) {
    out.negative = value.negative;
    out.digits = value.digits;
    return out;
  }
  out.negative = value.value < 0;
  out.digits = std::to_string(out.negative ? 0 - static_cast<std::uint64_t>(value.value) : static_cast<std::uint64_t>(value.value));
  strip(out.digits);
  return out;
}

int compare_size(const Decimal& a, const Decimal& b) {
  if (a.digits.empty() || b.digits.empty()) return int(!a.digits.empty()) - int(!b.digits.empty());
  const long long reach_a = static_cast<long long>(a.digits.size()) + a.scale, reach_b = static_cast<long long>(b.digits.size()) + b.scale;
  if (reach_a != reach_b) return reach_a < reach_b ? -1 : 1;
  const std::size_t width = std::max(a.digits.size(), b.digits.size());
  for (std::size_t i = 0; i < width; ++i) {
    const char x = i < a.digits.size() ? a.digits[i] : '0', y = i < b.digits.size() ? b.digits[i] : '0';
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

// |a| + |b|, or |a| - |b| for |a| >= |b|; both have the same scale.
std::string combine(std::string a, std::string b, bool subtract) {
  const std::size_t width = std::max(a.size(), b.size()) + 1;
  a.insert(0, width - a.size(), '0');
  b.insert(0, width - b.size(), '0');
  int carry = 0;
  for (std::size_t i = width; i-- > 0;) {
    int digit = (a[i] - '0') + (subtract ? -(b[i] - '0') - carry : (b[i] - '0') + carry);
    carry = subtract ? int(digit < 0) : int(digit > 9);
    digit += subtract ? carry * 10 : -carry * 10;
    a[i] = static_cast<char>('0' + digit);
  }
  strip(a);
  return a;
}

QuantityVal keep(Arena& arena, const Decimal& value) {
  QuantityVal out{};
  out.kind = OpaqueKind::kQuantity;
  out.plain = false;
  out.negative = value.negative && !value.digits.empty();
  out.digits = arena.keep_text(value.digits);
  out.scale = static_cast<std::int32_t>(value.scale);
  return out;
}

// Computes value * 10^by; false: the result does not fit.
bool scaled(std::int64_t value, long long by, std::int64_t& out) {
  out = value;
  if (value == 0) return true;
  for (; by > 0; --by) {
    if (__builtin_mul_overflow(out, std::int64_t{10}, &out)) return false;
  }
  return true;
}

bool add_plain(const QuantityVal& a, const QuantityVal& b, QuantityVal& out) {
  out = a;
  if (b.value == 0) return true;
  if (a.value == 0) {
    out.value = b.value;
    out.scale = b.scale;
    return true;
  }
  std::int64_t x = a.value, y = b.value;
  const std::int32_t scale = std::min(a.scale, b.scale);
  if (!scaled(a.value, static_cast<long long>(a.scale) - scale, x) || !scaled(b.value, static_cast<long long>(b.scale) - scale, y))
    return false;
  out.scale = scale;
  return !__builtin_add_overflow(x, y, &out.value);
}

// ---- reading

enum class Family : unsigned char { kDecimal, kBinary };

struct Parts {
  bool negative = false;
  std::string_view whole, fraction, suffix;
};

bool split(std::string_view text, Parts& out) {
  std::size_t at = 0;
  if (text[0] == '-' || text[0] == '+') {
    out.negative = text[0] == '-';
    at = 1;
  }
  while (at < text.size() && text[at] == '0') ++at;
  if (at == text.size()) {
    out.whole = "0";
    return true;
  }
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return text.substr(begin, at - begin);
  };
  out.whole = digits();
  if (out.whole.empty()) out.whole = "0";
  if (at < text.size() && text[at] == '.') {
    ++at;
    out.fraction = digits();
  }
  const std::size_t begin = at;
  constexpr std::string_view kLetters = "eEinumkKMGTP";
  while (at < text.size() && kLetters.find(text[at]) != std::string_view::npos) ++at;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  digits();
  out.suffix = text.substr(begin, at - begin);
  return at == text.size();
}

bool interpret(std::string_view suffix, int& exponent, Family& family) {
  struct Row {
    std::string_view text;
    int exponent;
    Family family;
  };
  constexpr std::array<Row, 16> kRows = {{{"", 0, Family::kDecimal},
                                          {"n", -9, Family::kDecimal},
                                          {"u", -6, Family::kDecimal},
                                          {"m", -3, Family::kDecimal},
                                          {"k", 3, Family::kDecimal},
                                          {"M", 6, Family::kDecimal},
                                          {"G", 9, Family::kDecimal},
                                          {"T", 12, Family::kDecimal},
                                          {"P", 15, Family::kDecimal},
                                          {"E", 18, Family::kDecimal},
                                          {"Ki", 10, Family::kBinary},
                                          {"Mi", 20, Family::kBinary},
                                          {"Gi", 30, Family::kBinary},
                                          {"Ti", 40, Family::kBinary},
                                          {"Pi", 50, Family::kBinary},
                                          {"Ei", 60, Family::kBinary}}};
  for (const Row& row : kRows) {
    if (row.text != suffix) continue;
    exponent = row.exponent;
    family = row.family;
    return true;
  }
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) return false;
  const auto number = parse_int(suffix.substr(1));
  if (!number) return false;
  family = Family::kDecimal;
  exponent = static_cast<int>(*number);
  return true;
}

// Reads a value that upstream stores as an integer with a power of ten; false: upstream stores it otherwise.
bool read_plain(const Parts& parts, int exponent, Family family, QuantityVal& out) {
  long long precision = 18 - static_cast<long long>(parts.whole.size() + parts.fraction.size()), scale = exponent;
  std::int64_t factor = 1;
  if (family == Family::kBinary) {
    scale = 0;
    if (!parts.fraction.empty()) return false;
    factor = std::int64_t{1} << exponent;
    precision = 15 - static_cast<long long>(parts.whole.size()) - static_cast<long long>(static_cast<float>(exponent) * 3 / 10) - 1;
  }
  scale -= static_cast<long long>(parts.fraction.size());
  if (precision < 0 || scale < kNano) return false;
  const auto value = parse_int(std::string(parts.whole) + std::string(parts.fraction));
  std::int64_t product = 0;
  if (!value || __builtin_mul_overflow(*value, factor, &product)) return false;
  out.plain = true;
  out.value = parts.negative ? -product : product;
  out.scale = static_cast<std::int32_t>(scale);
  return true;
}

void multiply_by_power_of_two(std::string& digits, int exponent) {
  for (int i = 0; i < exponent; ++i) digits = combine(digits, digits, false);
}

// Rounds to whole nanos, away from zero.
void round_up(Decimal& value) {
  if (value.digits.empty() || value.scale >= kNano) return;
  const auto drop = static_cast<std::size_t>(std::min<long long>(kNano - value.scale, static_cast<long long>(value.digits.size()) + 1));
  const std::size_t kept = drop >= value.digits.size() ? 0 : value.digits.size() - drop;
  const bool inexact = value.digits.find_first_not_of('0', kept) != std::string::npos;
  value.digits.resize(kept);
  value.scale = kNano;
  if (inexact) value.digits = combine(value.digits, "1", false);
}

}  // namespace

bool parse_quantity(Arena& arena, std::string_view text, QuantityVal& out, std::string& error) {
  out = {};
  out.kind = OpaqueKind::kQuantity;
  Parts parts;
  int exponent = 0;
  Family family{};
  if (text.empty() || text.size() > kMaxText || !split(text, parts)) {
    error = kFormat;
    return false;
  }
  if (!interpret(parts.suffix, exponent, family)) {
    error = "unable to parse quantity's suffix";
    return false;
  }
  if (read_plain(parts, exponent, family, out)) return true;
  Decimal value;
  value.digits = std::string(parts.whole) + std::string(parts.fraction);
  strip(value.digits);
  value.scale = -static_cast<long long>(parts.fraction.size());
  if (family == Family::kBinary) {
    multiply_by_power_of_two(value.digits, exponent);
  } else {
    value.scale += exponent;
  }
  round_up(value);
  const Decimal most{false, std::string(kMostBinary), 0};
  if (family == Family::kBinary && compare_size(value, most) > 0) value = most;
  value.negative = parts.negative;
  out = keep(arena, value);
  return true;
}

QuantityVal whole_quantity(std::int64_t value) noexcept {
  QuantityVal out{};
  out.kind = OpaqueKind::kQuantity;
  out.value = value;
  return out;
}

bool add_quantities(Arena& arena, const QuantityVal& a, const QuantityVal& b, bool subtract, QuantityVal& out) {
  if (a.plain && b.plain) {
    QuantityVal other = b;
    if (subtract) other.value = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(b.value));
    if (add_plain(a, other, out)) return true;
  }
  Decimal x = decimal_of(a), y = decimal_of(b);
  if (subtract) y.negative = !y.negative;
  const long long scale = std::min(x.scale, y.scale);
  if (std::max(x.scale, y.scale) - scale > kMaxDistance) return false;
  x.digits.append(x.digits.empty() ? 0 : static_cast<std::size_t>(x.scale - scale), '0');
  y.digits.append(y.digits.empty() ? 0 : static_cast<std::size_t>(y.scale - scale), '0');
  x.scale = y.scale = scale;
  if (x.digits.size() > 2 * kMaxDistance || y.digits.size() > 2 * kMaxDistance) return false;
  Decimal sum;
  sum.scale = scale;
  if (x.negative == y.negative) {
    sum.negative = x.negative;
    sum.digits = combine(x.digits, y.digits, false);
  } else {
    const bool first = compare_size(x, y) >= 0;
    sum.negative = first ? x.negative : y.negative;
    sum.digits = first ? combine(x.digits, y.digits, true) : combine(y.digits, x.digits, true);
  }
  out = keep(arena, sum);
  return true;
}

int sign_of(const QuantityVal& value) noexcept {
  if (value.plain) return value.value < 0 ? -1 : int(value.value > 0);
  return value.digits.empty() ? 0 : value.negative ? -1 : 1;
}

double to_real(const QuantityVal& value) {
  const double base = value.plain ? static_cast<double>(value.value)
                                  : (value.negative ? -1 : 1) * std::strtod(("0" + std::string(value.digits)).c_str(), nullptr);
  if (value.scale == 0) return base;
  if (value.scale < -323) return base * 0.0;
  return base * std::strtod(("1e" + std::to_string(value.scale)).c_str(), nullptr);
}

int compare_quantity(const QuantityVal& a, const QuantityVal& b) {
  if (a.plain && b.plain && a.scale == b.scale) return a.value < b.value ? -1 : int(a.value > b.value);
  const int sign = sign_of(a), other = sign_of(b);
  if (sign != other || sign == 0) return sign < other ? -1 : int(sign > other);
  return sign * compare_size(decimal_of(a), decimal_of(b));
}

}  // namespace backplane::cel_detail
