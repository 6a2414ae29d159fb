// Numbers, beyond the operators.
#include <cmath>
#include <limits>

#include "cel/equality.hpp"
#include "cel/functions.hpp"

namespace backplane::cel_detail {
namespace {

Val same(Call& call) { return call[0]; }

// The error of a failed comparison, with the name of the function.
Val named_error(Call& call, const Val& error, std::string_view name) {
  if (error.view().find(name) != std::string_view::npos) return error;
  return error_val(call.arena, std::string(error.view()) + ": " + std::string(name));
}

template <int kSign>
Val pick(Call& call, const Val& a, const Val& b) {
  const Val order = compare(a, b);
  if (order.is_error()) return named_error(call, order, kSign > 0 ? "math.@min" : "math.@max");
  return order.integer == kSign ? b : a;
}
template <int kSign>
Val pick_pair(Call& call) {
  return pick<kSign>(call, call[0], call[1]);
}
template <int kSign>
Val pick_of_list(Call& call) {
  const std::string name = kSign > 0 ? "math.@min" : "math.@max";
  const std::size_t size = list_size(call[0]);
  if (size == 0) return error_val(call.arena, name + "(list) argument must not be empty");
  Val out = list_at(call.arena, call[0], 0);
  for (std::size_t i = 1; i < size && !out.is_error(); ++i) out = pick<kSign>(call, out, list_at(call.arena, call[0], i));
  const bool number = out.is(ValKind::kInt) || out.is(ValKind::kUint) || out.is(ValKind::kDouble);
  return number ? out : error_val(call.arena, "no such overload: " + name);
}
constexpr Function min_pair = pick_pair<1>;
constexpr Function max_pair = pick_pair<-1>;
constexpr Function min_list = pick_of_list<1>;
constexpr Function max_list = pick_of_list<-1>;

Val ceil(Call& call) { return double_val(std::ceil(call[0].real)); }
Val floor(Call& call) { return double_val(std::floor(call[0].real)); }
Val round(Call& call) { return double_val(std::round(call[0].real)); }
Val trunc(Call& call) { return double_val(std::trunc(call[0].real)); }
Val is_inf(Call& call) { return bool_val(std::isinf(call[0].real)); }
Val is_nan(Call& call) { return bool_val(std::isnan(call[0].real)); }
Val is_finite(Call& call) { return bool_val(std::isfinite(call[0].real)); }
Val abs_double(Call& call) { return double_val(std::fabs(call[0].real)); }
Val abs_int(Call& call) {
  const std::int64_t value = call[0].integer;
  if (value == std::numeric_limits<std::int64_t>::min()) return error_val("integer overflow");
  return int_val(value < 0 ? -value : value);
}
Val sign_double(Call& call) {
  const double value = call[0].real;
  return std::isnan(value) ? call[0] : double_val(value > 0 ? 1.0 : value < 0 ? -1.0 : 0.0);
}
Val sign_int(Call& call) { return int_val(call[0].integer < 0 ? -1 : int(call[0].integer > 0)); }
Val sign_uint(Call& call) { return uint_val(call[0].natural == 0 ? 0 : 1); }
Val sqrt_double(Call& call) { return double_val(std::sqrt(call[0].real)); }
Val sqrt_int(Call& call) { return double_val(std::sqrt(static_cast<double>(call[0].integer))); }
Val sqrt_uint(Call& call) { return double_val(std::sqrt(static_cast<double>(call[0].natural))); }

// int and uint share their bits in the union.
Val with_bits(const Val& like, std::uint64_t bits) {
  Val out = like;
  out.natural = bits;
  return out;
}
Val bit_and(Call& call) { return with_bits(call[0], call[0].natural & call[1].natural); }
Val bit_or(Call& call) { return with_bits(call[0], call[0].natural | call[1].natural); }
Val bit_xor(Call& call) { return with_bits(call[0], call[0].natural ^ call[1].natural); }
Val bit_not(Call& call) { return with_bits(call[0], ~call[0].natural); }
Val shift_left(Call& call) {
  const std::int64_t by = call[1].integer;
  if (by < 0) return error_val(call.arena, "math.bitShiftLeft() negative offset: " + std::to_string(by));
  return with_bits(call[0], by > 63 ? 0 : call[0].natural << by);
}
Val shift_right(Call& call) {
  const std::int64_t by = call[1].integer;
  if (by < 0) return error_val(call.arena, "math.bitShiftRight() negative offset: " + std::to_string(by));
  return with_bits(call[0], by > 63 ? 0 : call[0].natural >> by);
}

constexpr Implementation kFunctions[] = {
    {"math_@min_double", same},
    {"math_@min_int", same},
    {"math_@min_uint", same},
    {"math_@min_double_double", min_pair},
    {"math_@min_int_int", min_pair},
    {"math_@min_uint_uint", min_pair},
    {"math_@min_int_uint", min_pair},
    {"math_@min_int_double", min_pair},
    {"math_@min_double_int", min_pair},
    {"math_@min_double_uint", min_pair},
    {"math_@min_uint_int", min_pair},
    {"math_@min_uint_double", min_pair},
    {"math_@min_list_double", min_list},
    {"math_@min_list_int", min_list},
    {"math_@min_list_uint", min_list},
    {"math_@max_double", same},
    {"math_@max_int", same},
    {"math_@max_uint", same},
    {"math_@max_double_double", max_pair},
    {"math_@max_int_int", max_pair},
    {"math_@max_uint_uint", max_pair},
    {"math_@max_int_uint", max_pair},
    {"math_@max_int_double", max_pair},
    {"math_@max_double_int", max_pair},
    {"math_@max_double_uint", max_pair},
    {"math_@max_uint_int", max_pair},
    {"math_@max_uint_double", max_pair},
    {"math_@max_list_double", max_list},
    {"math_@max_list_int", max_list},
    {"math_@max_list_uint", max_list},
    {"math_ceil_double", ceil},
    {"math_floor_double", floor},
    {"math_round_double", round},
    {"math_trunc_double", trunc},
    {"math_isInf_double", is_inf},
    {"math_isNaN_double", is_nan},
    {"math_isFinite_double", is_finite},
    {"math_abs_double", abs_double},
    {"math_abs_int", abs_int},
    {"math_abs_uint", same},
    {"math_sign_double", sign_double},
    {"math_sign_int", sign_int},
    {"math_sign_uint", sign_uint},
    {"math_sqrt_double", sqrt_double},
    {"math_sqrt_int", sqrt_int},
    {"math_sqrt_uint", sqrt_uint},
    {"math_bitAnd_int_int", bit_and},
    {"math_bitAnd_uint_uint", bit_and},
    {"math_bitOr_int_int", bit_or},
    {"math_bitOr_uint_uint", bit_or},
    {"math_bitXor_int_int", bit_xor},
    {"math_bitXor_uint_uint", bit_xor},
    {"math_bitNot_int_int", bit_not},
    {"math_bitNot_uint_uint", bit_not},
    {"math_bitShiftLeft_int_int", shift_left},
    {"math_bitShiftLeft_uint_int", shift_left},
    {"math_bitShiftRight_int_int", shift_right},
    {"math_bitShiftRight_uint_int", shift_right},
};

}  // namespace

std::span<const Implementation> math_functions() { return kFunctions; }

}  // namespace backplane::cel_detail
