// quantity() and semver().
#include "cel/functions.hpp"
#include "cel/quantity.hpp"
#include "cel/semver.hpp"

namespace backplane::cel_detail {
namespace {

// ---- quantities

Val quantity(Call& call) {
  QuantityVal out;
  std::string error;
  if (!parse_quantity(call.arena, call.text(0), out, error)) return error_val(call.arena, error);
  return opaque_val(call.arena.keep(out));
}
Val is_quantity(Call& call) {
  QuantityVal out;
  std::string error;
  return bool_val(parse_quantity(call.arena, call.text(0), out, error));
}

const QuantityVal& quantity_at(Call& call, std::size_t i) { return as<QuantityVal>(call[i]); }

Val sign(Call& call) { return int_val(sign_of(quantity_at(call, 0))); }
Val quantity_greater(Call& call) { return bool_val(compare_quantity(quantity_at(call, 0), quantity_at(call, 1)) > 0); }
Val quantity_less(Call& call) { return bool_val(compare_quantity(quantity_at(call, 0), quantity_at(call, 1)) < 0); }
Val quantity_compare(Call& call) { return int_val(compare_quantity(quantity_at(call, 0), quantity_at(call, 1))); }
Val as_float(Call& call) { return double_val(to_real(quantity_at(call, 0))); }

bool whole(const QuantityVal& value, std::int64_t& out) {
  if (!value.plain || value.scale < 0) return false;
  out = value.value;
  for (std::int32_t i = 0; i < value.scale && out != 0; ++i) {
    if (__builtin_mul_overflow(out, std::int64_t{10}, &out)) return false;
  }
  return true;
}
Val is_integer(Call& call) {
  std::int64_t ignored = 0;
  return bool_val(whole(quantity_at(call, 0), ignored));
}
Val as_integer(Call& call) {
  std::int64_t out = 0;
  return whole(quantity_at(call, 0), out) ? int_val(out) : error_val("cannot convert value to integer");
}

template <bool kSubtract>
Val add(Call& call) {
  const QuantityVal other = call[1].is(ValKind::kInt) ? whole_quantity(call[1].integer) : quantity_at(call, 1);
  QuantityVal out;
  if (!add_quantities(call.arena, quantity_at(call, 0), other, kSubtract, out))
    return error_val("quantities are too far apart to be added");
  return opaque_val(call.arena.keep(out));
}

constexpr Implementation kQuantities[] = {
    {"string_to_quantity", quantity},
    {"is_quantity_string", is_quantity},
    {"quantity_sign", sign},
    {"quantity_is_greater_than", quantity_greater},
    {"quantity_is_less_than", quantity_less},
    {"quantity_compare_to", quantity_compare},
    {"quantity_get_float", as_float},
    {"quantity_get_int", as_integer},
    {"quantity_is_integer", is_integer},
    {"quantity_add", add<false>},
    {"quantity_add_int", add<false>},
    {"quantity_sub", add<true>},
    {"quantity_sub_int", add<true>},
};

// ---- versions

Val semver(Call& call) {
  SemverVal out;
  std::string error;
  const bool normalize = call.size() > 1 && call[1].boolean;
  if (!parse_semver(call.arena, call.text(0), normalize, out, error)) return error_val(call.arena, error);
  return opaque_val(call.arena.keep(out));
}
Val is_semver(Call& call) {
  SemverVal out;
  std::string error;
  return bool_val(parse_semver(call.arena, call.text(0), call.size() > 1 && call[1].boolean, out, error));
}
const SemverVal& version_at(Call& call, std::size_t i) { return as<SemverVal>(call[i]); }
Val major(Call& call) { return int_val(static_cast<std::int64_t>(version_at(call, 0).major)); }
Val minor(Call& call) { return int_val(static_cast<std::int64_t>(version_at(call, 0).minor)); }
Val patch(Call& call) { return int_val(static_cast<std::int64_t>(version_at(call, 0).patch)); }
Val semver_greater(Call& call) { return bool_val(compare_semver(version_at(call, 0), version_at(call, 1)) > 0); }
Val semver_less(Call& call) { return bool_val(compare_semver(version_at(call, 0), version_at(call, 1)) < 0); }
Val semver_compare(Call& call) { return int_val(compare_semver(version_at(call, 0), version_at(call, 1))); }

constexpr Implementation kVersions[] = {
    {"string_to_semver", semver},
    {"string_bool_to_semver", semver},
    {"is_semver_string", is_semver},
    {"is_semver_string_bool", is_semver},
    {"semver_major", major},
    {"semver_minor", minor},
    {"semver_patch", patch},
    {"semver_is_greater_than", semver_greater},
    {"semver_is_less_than", semver_less},
    {"semver_compare_to", semver_compare},
};

}  // namespace

std::span<const Implementation> quantity_functions() { return kQuantities; }
std::span<const Implementation> semver_functions() { return kVersions; }

}  // namespace backplane::cel_detail
