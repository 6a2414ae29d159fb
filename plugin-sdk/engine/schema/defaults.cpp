// Declared defaults of typed objects.
#include <boost/container/small_vector.hpp>

#include "schema/rules.hpp"
#include "schema/scalars.hpp"
#include "schema/typed.hpp"

namespace backplane::schema {
namespace {

// Whether a member has a value that a default does not replace.
bool is_set(const Property& property, const Value* present) {
  // Go's IntOrString (80 or "http") is a struct, and unset if it is zero.
  const bool whole = property.pointer || (property.type->struct_like() && property.type->form() != Form::kIntOrString);
  return present != nullptr && !present->is_null() && (whole || !is_zero(*present));
}

// Sets an unset member to `value`.
void set_member(const Property& property, const Value* value, Object& object) {
  Value* present = find(object, property.name);
  if (value == nullptr || is_set(property, present)) return;
  if (present != nullptr) {
    *present = Value(*value, object.storage());
  } else {
    object.emplace(property.name, Value(*value, object.storage()));
  }
}

// Adds the members of a default struct that the existing struct lacks.
void fill_struct(const Property& property, Object& object) {
  Value* present = find(object, property.name);
  if (present == nullptr || !present->is_object() || property.type->form() != Form::kStruct) return;
  const Body& body = property.type->body();
  Object& filled = present->get_object();
  for (const auto& [name, value] : property.default_value->get_object()) {
    const int index = body.find(name, 0);
    if (index >= 0) set_member(body.properties[static_cast<std::size_t>(index)], &value, filled);
  }
}

void default_with_conditions(const Property& property, Object& object) {
  const ConditionalDefault& conditional = *property.conditional;
  if (conditional.fills && property.default_value != nullptr) fill_struct(property, object);
  set_member(property, conditional.from.empty() ? property.default_value : find(object, conditional.from), object);
}

void default_struct(const Body& body, Object& object) {
  // Conditions are evaluated before any of these defaults is set.
  boost::container::small_vector<const Property*, 8> met;
  for (const std::size_t index : body.with_defaults) {
    const Property& property = body.properties[index];
    if (property.conditional == nullptr) set_member(property, property.default_value, object);
  }
  for (const std::size_t index : body.with_defaults) {
    const Property& property = body.properties[index];
    if (property.conditional != nullptr && hold(property.conditional->when, object)) met.push_back(&property);
  }
  for (const Property* property : met) default_with_conditions(*property, object);
  if (!body.derived.empty()) derive_members(body, object);
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
