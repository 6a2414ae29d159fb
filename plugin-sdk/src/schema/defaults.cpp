// Declared defaults of typed objects.
#include "schema/rules.hpp"
#include "schema/scalars.hpp"
#include "schema/typed.hpp"

namespace backplane::schema {
namespace {

// What an unset member of the object becomes; null: it stays unset.
const Value* default_of(const Property& property, const Object& object) {
  if (property.conditional == nullptr) return property.default_value;
  if (!hold(property.conditional->when, object)) return nullptr;
  return property.conditional->from.empty() ? property.default_value : find(object, property.conditional->from);
}

void default_member(const Property& property, Object& object) {
  Value* present = find(object, property.name);
  // Go's 80 or "http" is a struct, too, and unset when it is zero.
  const bool whole = property.pointer || (property.type->struct_like() && property.type->form() != Form::kIntOrString);
  if (present && !present->is_null() && (whole || !is_zero(*present))) return;
  const Value* value = default_of(property, object);
  if (value == nullptr) return;
  if (present) {
    *present = Value(*value, object.storage());
  } else {
    object.emplace(property.name, Value(*value, object.storage()));
  }
}

void default_struct(const Body& body, Object& object) {
  for (const bool conditional : {false, true}) {
    for (const std::size_t index : body.with_defaults) {
      const Property& property = body.properties[index];
      if ((property.conditional != nullptr) == conditional) default_member(property, object);
    }
  }
  std::size_t next = 0;
  for (auto& member : object) {
    const int found = body.find(member.key(), next);
    if (found < 0) continue;
    next = static_cast<std::size_t>(found) + 1;
    default_typed(*body.properties[static_cast<std::size_t>(found)].type, member.value());
  }
}

}  // namespace

void default_typed(const Type& type, Value& value) {
  if (!type.defaulted_within()) return;
  if (type.form() == Form::kStruct && value.is_object()) {
    default_struct(type.body(), value.get_object());
  } else if (type.form() == Form::kList && value.is_array()) {
    const Type& items = *type.body().items;
    for (Value& item : value.get_array()) default_typed(items, item);
  } else if (type.form() == Form::kMap && value.is_object()) {
    const Type& values = *type.body().items;
    for (auto& member : value.get_object()) default_typed(values, member.value());
  }
}

void Type::apply_defaults(Value& value) const {
  if (structural()) {
    default_structural(*this, value);
  } else {
    default_typed(*this, value);
  }
}

}  // namespace backplane::schema
