// Equality of values for field management.
#include <algorithm>

#include "engine/object_fields.hpp"

namespace backplane BACKPLANE_API {
namespace {

double as_double(const Value& value) noexcept {
  return value.is_double()  ? value.get_double()
         : value.is_int64() ? static_cast<double>(value.get_int64())
                            : static_cast<double>(value.get_uint64());
}

bool same_number(const Value& one, const Value& other) noexcept {
  if (one.is_int64() && other.is_int64()) return one.get_int64() == other.get_int64();
  if (one.is_uint64() && other.is_uint64()) return one.get_uint64() == other.get_uint64();
  return as_double(one) == as_double(other);
}

}  // namespace

bool same_value(const Value& one, const Value& other) noexcept {
  if (one.is_number() && other.is_number()) return same_number(one, other);
  if (one.kind() != other.kind()) return false;
  switch (one.kind()) {
    case json::kind::string:
      return one.get_string() == other.get_string();
    case json::kind::bool_:
      return one.get_bool() == other.get_bool();
    case json::kind::array:
      return one.get_array().size() == other.get_array().size() &&
             std::equal(one.get_array().begin(), one.get_array().end(), other.get_array().begin(),
                        [](const Value& x, const Value& y) { return same_value(x, y); });
    case json::kind::object:
      return same_value(one.get_object(), other.get_object());
    default:
      return true;
  }
}

bool same_value(const Object& one, const Object& other) noexcept {
  if (one.size() != other.size()) return false;
  auto at = other.begin();
  for (const auto& member : one) {
    // Both objects mostly have the same order.
    const Value* match = at->key() == member.key() ? &at->value() : find(other, member.key());
    ++at;
    if (match == nullptr || !same_value(member.value(), *match)) return false;
  }
  return true;
}

}  // namespace BACKPLANE_API
