// Declared defaults of typed objects.
#include "schema/scalars.hpp"
#include "schema/typed.hpp"

namespace backplane::schema {
namespace {

void default_struct(const Body& body, Object& object) {
  bool added = false;
  for (const std::size_t index : body.with_defaults) {
    const Property& property = body.properties[index];
    Value* present = find(object, property.name);
    if (present && !present->is_null() && (property.pointer || property.type->struct_like() || !is_zero(*present))) continue;
    if (present) {
      *present = *property.default_value;
    } else {
      object.emplace(property.name, *property.default_value);
      added = true;
    }
  }
  std::size_t next = 0;
  for (auto& member : object) {
    const int found = body.find(member.key(), next);
    if (found < 0) continue;
    next = static_cast<std::size_t>(found) + 1;
    default_typed(*body.properties[static_cast<std::size_t>(found)].type, member.value());
  }
  if (added) reorder(body, object);
}

}  // namespace

void default_typed(const Type& type, Value& value) {
  if (type.form() == Form::kStruct && value.is_object()) {
    default_struct(type.body(), value.get_object());
  } else if (type.form() == Form::kList && value.is_array()) {
    const Type& items = *type.body().items;
    if (items.form() != Form::kStruct && items.form() != Form::kList && items.form() != Form::kMap) return;
    for (Value& item : value.get_array()) default_typed(items, item);
  } else if (type.form() == Form::kMap && value.is_object()) {
    const Type& values = *type.body().items;
    if (values.form() != Form::kStruct && values.form() != Form::kList && values.form() != Form::kMap) return;
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
