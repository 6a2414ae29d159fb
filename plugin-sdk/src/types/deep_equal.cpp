#include "backplane/types/deep_equal.hpp"

#include <algorithm>

namespace backplane BACKPLANE_API {
namespace {

bool is_none(const Value* value) noexcept {
  return value == nullptr || value->is_null() || (value->is_array() && value->get_array().empty());
}

bool equal_members(const Object& a, const Object& b) noexcept {
  const auto in_b = [&](const auto& member) { return alike(&member.value(), find(b, member.key())); };
  const auto in_a = [&](const auto& member) { return find(a, member.key()) != nullptr || is_none(&member.value()); };
  return std::all_of(a.begin(), a.end(), in_b) && std::all_of(b.begin(), b.end(), in_a);
}

}  // namespace

bool alike(const Value* a, const Value* b) noexcept {
  if (is_none(a) || is_none(b)) return is_none(a) && is_none(b);
  if (*a == *b) return true;
  if (a->is_object() && b->is_object()) return equal_members(a->get_object(), b->get_object());
  if (!a->is_array() || !b->is_array()) return false;
  const Array& left = a->get_array();
  const Array& right = b->get_array();
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const Value& x, const Value& y) { return alike(&x, &y); });
}

}  // namespace BACKPLANE_API
