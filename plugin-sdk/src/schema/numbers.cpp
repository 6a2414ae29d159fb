// Bounds of numbers, by the rules of kube-openapi: a whole number is compared with the bound's whole part, others as floats.
#include <cmath>
#include <limits>

#include "backplane/schema.hpp"
#include "schema/findings.hpp"

namespace backplane::schema {
namespace {

double as_double(const Value& value) noexcept {
  return value.is_int64()    ? static_cast<double>(value.get_int64())
         : value.is_uint64() ? static_cast<double>(value.get_uint64())
                             : value.get_double();
}

// Go's conversion of a float to int64, for bounds that fit.
std::int64_t truncated(double number) noexcept {
  if (number >= 9.2233720368547758e18) return std::numeric_limits<std::int64_t>::max();
  if (number <= -9.2233720368547758e18) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(number);
}

// Whether the number can be what the schema's type and format say.  The complaint has no path of its own.
bool in_range(const Value& value, std::string_view type, std::string_view format, std::string_view prefix, const Place& place,
              Findings& out) {
  if (type != "integer") return true;
  const double number = as_double(value);
  const bool int32 = format == "int32";
  const double least = int32 ? -2147483648.0 : -9223372036854775808.0, most = int32 ? 2147483647.0 : 9223372036854775807.0;
  const bool whole = !value.is_double() || number == std::trunc(number);
  if (whole && number >= least && number <= most) return true;
  const std::string kind = int32 || format == "int64" ? "integer with format " + std::string(format) : "integer (default format)";
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
  const bool bad = whole ? breaks(value.get_int64(), truncated(limit), bound) : breaks(as_double(value), limit, bound);
  if (!bad) return;
  const std::string number = whole ? std::to_string(truncated(limit)) : go_print(Value(limit));
  const std::string words = std::string(bound.upper ? "less than " : "greater than ") + (bound.exclusive ? "" : "or equal to ");
  out.invalid(place.path(), value, place.path() + " in body should be " + words + number);
}

void check_multiple(const Value& value, const Value& factor, bool native, const Place& place, Findings& out) {
  if (native && value.is_int64()) {
    const std::int64_t whole = truncated(as_double(factor));
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

}  // namespace

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
