// Bounds of numbers, by the rules of kube-openapi: a whole number is compared with the bound's whole part, others as floats.
#include <cmath>
#include <limits>

#include "backplane/types/schema.hpp"
#include "schema/findings.hpp"
#include "text/utf8.hpp"

namespace backplane::schema {
namespace {

double as_double(const Value& value) noexcept {
  return value.is_int64()    ? static_cast<double>(value.get_int64())
         : value.is_uint64() ? static_cast<double>(value.get_uint64())
                             : value.get_double();
}

constexpr double kInt64End = 9223372036854775808.0;  // 2^63: the first whole number that an int64 cannot hold

// Go's conversion of a float64 on amd64: values outside the range of int64 become its minimum.
std::int64_t converted(double number) noexcept {
  const bool fits = number >= -kInt64End && number < kInt64End;
  return fits ? static_cast<std::int64_t>(number) : std::numeric_limits<std::int64_t>::min();
}

bool fits_integer(const Value& value, bool int32) noexcept {
  if (value.is_int64() && !int32) return true;
  const double number = as_double(value);
  if (number != std::trunc(number)) return false;
  // The shortest text of -2^63 is a smaller number.
  return int32 ? number >= -2147483648.0 && number <= 2147483647.0 : number > -kInt64End && number < kInt64End;
}

// Beyond the middle between the largest float32 and 2^128, Go's ParseFloat reports an error.  The shortest text of the middle is a smaller
// number.
bool fits_float(const Value& value) noexcept { return std::fabs(as_double(value)) <= 0x1.ffffffp+127; }

// Whether the number fits the schema's type and format.  The message has no path.
bool in_range(const Value& value, std::string_view type, std::string_view format, std::string_view prefix, const Place& place,
              Findings& out) {
  const bool integer = type == "integer", single = type == "number" && format == "float";
  if (integer ? fits_integer(value, format == "int32") : !single || fits_float(value)) return true;
  const std::string kind = std::string(type) + (format.empty() ? " (default format)" : " with format " + std::string(format));
  out.plain(std::string(prefix) + " value must be of type " + kind + " in " + place.path());
  return false;
}

struct Bound {
  const Value& limit;
  bool exclusive;
  bool upper;
};

bool breaks(double number, double limit, const Bound& bound) noexcept {
  if (bound.upper) return bound.exclusive ? number >= limit : number > limit;
  return bound.exclusive ? number <= limit : number < limit;
}
bool breaks(std::int64_t number, std::int64_t limit, const Bound& bound) noexcept {
  if (bound.upper) return bound.exclusive ? number >= limit : number > limit;
  return bound.exclusive ? number <= limit : number < limit;
}

void check_bound(const Value& value, const Bound& bound, bool native, const Place& place, Findings& out) {
  const double limit = as_double(bound.limit);
  const bool whole = native && value.is_int64();
  const bool bad = whole ? breaks(value.get_int64(), converted(limit), bound) : breaks(as_double(value), limit, bound);
  if (!bad) return;
  const std::string number = whole ? std::to_string(converted(limit)) : go_print(Value(limit));
  const std::string words = std::string(bound.upper ? "less than " : "greater than ") + (bound.exclusive ? "" : "or equal to ");
  out.invalid(place.path(), value, place.path() + " in body should be " + words + number);
}

void check_multiple(const Value& value, const Value& factor, bool native, const Place& place, Findings& out) {
  if (native && value.is_int64()) {
    const std::int64_t whole = converted(as_double(factor));
    if (whole <= 0)
      return out.invalid(place.path(), Value(whole),
                         "factor MultipleOf declared for " + place.path() + " must be positive: " + std::to_string(whole));
    if (value.get_int64() % whole != 0)
      out.invalid(place.path(), value, place.path() + " in body should be a multiple of " + std::to_string(whole));
    return;
  }
  const double step = as_double(factor), number = as_double(value);
  if (step <= 0)
    return out.invalid(place.path(), factor,
                       "factor MultipleOf declared for " + place.path() + " must be positive: " + go_print(Value(step)));
  const double quotient = step < 1 ? 1 / step * number : number / step;
  if (!is_whole(quotient)) out.invalid(place.path(), value, place.path() + " in body should be a multiple of " + go_print(Value(step)));
}

// Whether `text` is the code point `number`: so Go converts an integer to a string.
bool is_rune(std::string_view text, std::int64_t number) noexcept {
  if (text.empty()) return false;
  const Rune first = decode_rune(text);
  return first.valid && first.size == text.size() && static_cast<std::int64_t>(first.code) == number;
}

}  // namespace

bool is_allowed_value(const Value& value, const Value& allowed) {
  if (value.is_null()) return false;
  if (value.is_int64() && allowed.is_string()) return is_rune(allowed.get_string(), value.get_int64());
  if (!value.is_number() || !allowed.is_number()) return value == allowed;
  if (allowed.is_double()) return as_double(value) == allowed.get_double();
  return (value.is_int64() ? value.get_int64() : converted(as_double(value))) == allowed.get_int64();
}

void check_number(const Value& value, std::string_view type, const Constraints* rule, const Place& place, Findings& out) {
  const std::string_view format = rule ? std::string_view(rule->format) : std::string_view();
  in_range(value, type, format, "Checked", place, out);
  if (!rule) return;
  if (rule->multiple_of)
    check_multiple(value, *rule->multiple_of, in_range(*rule->multiple_of, type, format, "MultipleOf", place, out), place, out);
  if (rule->minimum) {
    const bool native = in_range(*rule->minimum, type, format, "Minimum boundary", place, out);
    check_bound(value, {*rule->minimum, rule->exclusive_minimum, false}, native, place, out);
  }
  if (rule->maximum) {
    const bool native = in_range(*rule->maximum, type, format, "Maximum boundary", place, out);
    check_bound(value, {*rule->maximum, rule->exclusive_maximum, true}, native, place, out);
  }
}

}  // namespace backplane::schema
