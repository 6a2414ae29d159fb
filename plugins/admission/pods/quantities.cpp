#include "pods/quantities.hpp"

#include <array>
#include <charconv>

namespace backplane::admission::pods {
namespace {

__extension__ typedef __int128 Wide;

constexpr Wide kWideLimit = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMostDigits = 18;  // the maximum number of digits before the suffix: with it, products with any factor fit

struct Factor {
  std::string_view suffix;
  bool binary;
  int power;  // the exponent of 2 or of 10
};
constexpr std::array<Factor, 15> kFactors = {{{"", false, 0},
                                              {"Ki", true, 10},
                                              {"Mi", true, 20},
                                              {"Gi", true, 30},
                                              {"Ti", true, 40},
                                              {"Pi", true, 50},
                                              {"Ei", true, 60},
                                              {"n", false, -9},
                                              {"u", false, -6},
                                              {"m", false, -3},
                                              {"k", false, 3},
                                              {"M", false, 6},
                                              {"G", false, 9},
                                              {"T", false, 12},
                                              {"P", false, 15}}};

// The factor of a suffix: one of the table, "E", or an exponent such as e3.
bool read_factor(std::string_view suffix, Factor& out) {
  for (const Factor& each : kFactors) {
    if (each.suffix != suffix) continue;
    out = each;
    return true;
  }
  out = {suffix, false, 18};
  if (suffix == "E") return true;
  if (suffix.empty() || (suffix.front() != 'e' && suffix.front() != 'E')) return false;
  suffix.remove_prefix(suffix.size() > 1 && suffix[1] == '+' ? 2 : 1);
  const auto [end, wrong] = std::from_chars(suffix.data(), suffix.data() + suffix.size(), out.power);
  return wrong == std::errc() && end == suffix.data() + suffix.size();
}

struct Number {
  bool negative = false;
  Wide digits = 0;
  int fraction = 0;  // the number of digits after the point
};

// Reads the digits before the suffix; false if there are too many of them.
bool read_number(std::string_view& text, Number& out) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    out.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  bool after_point = false;
  for (; !text.empty() && (text.front() == '.' || (text.front() >= '0' && text.front() <= '9')); text.remove_prefix(1)) {
    if (text.front() == '.') {
      after_point = true;
      continue;
    }
    out.digits = out.digits * 10 + (text.front() - '0');
    out.fraction += after_point ? 1 : 0;
    if (out.digits > kWideLimit || out.fraction > static_cast<int>(kMostDigits)) return false;
  }
  return true;
}

// `value` * 10^`power`, rounded up; over the limit if it exceeds 64 bits.
Wide scaled(Wide value, int power) {
  for (; power > 0 && value != 0 && value <= kWideLimit; --power) value *= 10;
  for (; power < 0 && value > 1; ++power) value = (value + 9) / 10;
  return value;
}

std::int64_t value_at(std::string_view text, int scale) {
  Number number;
  Factor factor{};
  if (!read_number(text, number) || !read_factor(text, factor)) return 0;
  const Wide base = factor.binary ? number.digits << factor.power : number.digits;
  const Wide value = scaled(base, (factor.binary ? 0 : factor.power) - number.fraction + scale);
  if (value > kWideLimit) return 0;
  return static_cast<std::int64_t>(number.negative ? -value : value);
}

}  // namespace

std::int64_t whole_value(std::string_view quantity) { return value_at(quantity, 0); }
std::int64_t milli_value(std::string_view quantity) { return value_at(quantity, 3); }

}  // namespace backplane::admission::pods
