// Members that defaulting converts: two names of one field, maps that fill each other.
#include "backplane/core/json_access.hpp"
#include "schema/rules.hpp"
#include "schema/scalars.hpp"
#include "schema/typed.hpp"
#include "text/base64.hpp"
#include "text/quantity.hpp"

namespace backplane::schema {
namespace {

std::string_view text_of(const Value* value) noexcept {
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

// Makes two members equal that are names of one field: a text, and the first item of a list. The text has priority.
void name_both(std::string_view name, const std::string& list_name, Object& object) {
  const std::string one(text_of(find(object, name)));
  const Array* list = get_array(object, list_name);
  const std::string first(list != nullptr && !list->empty() ? text_of(&list->front()) : std::string_view());
  if (one == first) return;
  if (one.empty()) {
    object[name] = first;
  } else {
    object[list_name] = Array{one};
  }
}

// Moves the entries of a map of texts to another map, converted to its value type.
void move_entries(const Body& body, std::string_view name, const std::string& target_name, Object& object) {
  Value* found = find(object, name);
  if (found == nullptr) return;
  const Value entries = std::move(*found);
  erase_member(object, name);
  const int index = body.find(target_name, 0);
  if (index < 0 || !entries.is_object() || entries.get_object().empty()) return;
  const Type* values = body.properties[static_cast<std::size_t>(index)].type->body().items;
  const bool bytes = values != nullptr && values->form() == Form::kBytes;
  Object& target = ensure_object(object, target_name);
  for (const auto& entry : entries.get_object()) {
    target[entry.key()] = bytes ? Value(encode_base64(text_of(&entry.value()))) : entry.value();
  }
}

void fill_map(std::string_view name, const Derived& derived, Object& object) {
  for (const std::string& source_name : derived.from) {
    const Object* source = get_object(object, source_name);
    if (source == nullptr || source->empty()) continue;
    const Object copy(*source);
    Object& target = ensure_object(object, name);
    for (const auto& entry : copy) {
      if (!target.contains(entry.key())) target[entry.key()] = entry.value();
    }
  }
}

void round_quantities(Object& map) {
  constexpr int kMilli = -3;
  for (auto& entry : map) {
    const std::string_view text = text_of(&entry.value());
    // Only a text with micro or nano parts, an exponent or a point can be finer than a thousandth.
    if (text.find_first_of("uneE.") == std::string_view::npos) continue;
    if (std::string rounded = round_quantity_up(text, kMilli); rounded != text) entry.value() = rounded;
  }
}

void derive(const Body& body, const Property& property, Object& object) {
  const Derived& derived = *property.derived;
  if (!derived.dropped.empty() && hold(derived.dropped, object)) erase_member(object, property.name);
  if (derived.thousandths) {
    if (Value* found = find(object, property.name); found != nullptr && found->is_object()) round_quantities(found->get_object());
  }
  if (!derived.item_keywords.empty()) {
    each_mutable(object, property.name, [&](Object& item) {
      for (const auto& [name, value] : derived.item_keywords) item[name] = value;
    });
  }
  if (!derived.list.empty()) name_both(property.name, derived.list, object);
  if (!derived.into.empty()) move_entries(body, property.name, derived.into, object);
  if (!derived.from.empty() && hold(derived.when, object)) fill_map(property.name, derived, object);
}

}  // namespace

void derive_members(const Body& body, Object& object) {
  for (const std::size_t index : body.derived) derive(body, body.properties[index], object);
}

}  // namespace backplane::schema
