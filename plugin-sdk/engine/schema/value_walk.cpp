#include "schema/value_walk.hpp"

#include <algorithm>

namespace backplane::schema {

void ValueWalk::walk(const Value& value, const Type& type, const Place& place) {
  const bool list = value.is_array() && type.form() == Form::kList;
  if (left_ == 0 || (!list && (!value.is_object() || type.form() == Form::kList))) return;
  const Body& body = type.body();
  if (body.constraints) check_value(value, *body.constraints, place);
  if (list) {
    const Array& array = value.get_array();
    for (std::size_t i = 0; body.items != nullptr && i < array.size(); ++i) walk(array[i], *body.items, place.item(i));
    return;
  }
  for (const auto& member : value.get_object()) {
    const int index = body.find(member.key(), 0);
    if (index >= 0) {
      walk(member.value(), *body.properties[static_cast<std::size_t>(index)].type, place.member(member.key()));
    } else if (body.items != nullptr) {
      walk(member.value(), *body.items, place.key(member.key()));
    }
  }
}

void ValueWalk::check_value(const Value& value, const Constraints& rule, const Place& place) {
  FieldErrors found;
  check_(value, rule, place, found);
  left_ -= std::min(left_, bytes_of(found));
  errors_.add(found);
}

}  // namespace backplane::schema
