// Validates typed objects against the rules of their schema, with field.Error's messages.
//
// The new object and the old one are traversed together.  Lists are traversed only if a rule inside compares values.  A path is built only
// for an error.
#include <algorithm>

#include "schema/checker.hpp"
#include "schema/old_items.hpp"

namespace backplane::schema {

void Checker::check_struct(const Type& type, const Object& object, const Object* old, const Place& place, ObjectPart part,
                           const Rules* here) {
  const Body& body = type.body();
  const auto left_out = [&](std::string_view name) {
    return part != ObjectPart::kWhole && (name == "status") != (part == ObjectPart::kStatus);
  };
  const Members members = members_of(body, object);
  const bool one_only = body.struct_rules != nullptr && body.struct_rules->is_union;
  std::string_view chosen;
  if (body.struct_rules != nullptr && part != ObjectPart::kStatus) {
    chosen = check_together(type, *body.struct_rules, object, members, old, place);
  }
  for (const std::size_t index : body.ruled) {
    const Property& property = body.properties[index];
    if (left_out(property.name)) continue;
    for (const Rules* rules = property.rules; rules != nullptr; rules = rules->next.get()) {
      const int times = rules->again && old != nullptr ? 2 : 1;
      for (int time = 0; time < times; ++time) check_property(type, property, *rules, members[index], object, old, place);
    }
  }
  if (body.struct_rules != nullptr && part != ObjectPart::kStatus) {
    check_limits(*body.struct_rules, object, place);
    check_blames(type, *body.struct_rules, object, place);
    for (const StructRules::Order& order : body.struct_rules->orders) check_order(order, object, place);
  }
  for (std::size_t index = 0; index < members.size(); ++index) {
    const Property& property = body.properties[index];
    const Value* value = members[index];
    if (value == nullptr || (property.rules == nullptr && !property.type->ruled_within()) || left_out(property.name)) continue;
    const Value* before = old != nullptr ? find(*old, property.name) : nullptr;
    if (property.rules != nullptr && is_closed(*property.rules, value, before, object, old)) continue;
    if (here != nullptr && is_closed_here(*here, property.name, value, object, old)) continue;
    if (one_only && is_alternative(property, *body.struct_rules) && property.name != chosen) continue;
    const int times = property.rules != nullptr && property.rules->again && old != nullptr ? 2 : 1;
    for (int time = 0; time < times; ++time) {
      descend(*property.type, property.rules, *value, before, place_of(property.name, property.rules, place));
    }
  }
  if (body.struct_rules == nullptr || part == ObjectPart::kStatus) return;
  for (const StructRules::Keys& keys : body.struct_rules->keys) check_keys(keys, object, place);
}

Checker::Members Checker::members_of(const Body& body, const Object& object) {
  Members members(body.properties.size(), nullptr);
  std::size_t next = 0;
  for (const auto& member : object) {
    const int found = body.find(member.key(), next);
    if (found < 0) continue;
    next = static_cast<std::size_t>(found);
    members[next++] = &member.value();
  }
  return members;
}

Place Checker::place_of(std::string_view name, const Rules* rules, const Place& holder) {
  if (rules == nullptr || (!rules->holder && rules->path.empty())) return {&holder, name, 0, Place::Step::kMember};
  if (rules->holder) return holder;
  if (rules->path.front() != '.') return {nullptr, rules->path, 0, Place::Step::kRoot};
  return {&holder, std::string_view(rules->path).substr(1), 0, Place::Step::kMember};
}

void Checker::check_property(const Type& type, const Property& property, const Rules& rules, const Value* value, const Object& object,
                             const Object* old, const Place& holder) {
  if (rules.on_create && old != nullptr) return;
  if (!is_asked(rules, value, object, old)) return;
  const Value* before = old != nullptr ? find(*old, property.name) : nullptr;
  if (rules.when_changed && old != nullptr && !differ(value, before)) return;
  const Place place = place_of(property.name, &rules, holder);
  if (rules.instead) drop_errors_at(place);
  if (old != nullptr) check_change(*property.type, property.pointer, rules, value, before, place);
  if (old != nullptr && rules.fixed != nullptr) check_fixed(*property.type, *rules.fixed, value, before, place);
  if (is_too_long(rules, value)) return check_too_long(rules, value->get_array(), place);
  if (!rules.single.empty() && (value == nullptr || !value->is_array() || value->get_array().size() != 1)) {
    errors_.required(place.path(), rules.single);
  }
  if (!rules.wrong.empty()) errors_.invalid_raw(place.path(), value ? to_json(*value) : "\"\"", rules.wrong);
  if (!rules.entries.empty()) check_entries(rules, value, place);
  if (!rules.missing.empty()) errors_.required(place.path(), rules.missing);
  if (!is_unset(value, property.pointer || property.type->struct_like())) check_not_set(type, rules, object, *value, place);
  if (rules.keeps && old != nullptr && rules.format != nullptr && !rules.format(text_of(before)).empty()) return;
  if (rules.whole && rules.refused.empty() && !rules.allowed.empty()) {
    check_choice(type, rules, object, value, place);
  } else {
    check_set(property, rules, value, place);
  }
  if (value != nullptr && value->is_array()) check_list_here(*property.type, rules, value->get_array(), place);
}

void Checker::drop_errors_at(const Place& place) {
  const std::string path = place.path();
  const auto& list = errors_.list();
  if (std::none_of(list.begin(), list.end(), [&](const FieldError& error) { return error.field == path; })) return;
  FieldErrors kept;
  for (const FieldError& error : list) {
    if (error.field != path) kept.add(error);
  }
  errors_ = std::move(kept);
}

bool Checker::is_closed(const Rules& rules, const Value* value, const Value* before, const Object& object, const Object* old) const {
  if (rules.on_create && old != nullptr) return true;
  if (rules.when_changed && old != nullptr && !differ(value, before)) return true;
  return (rules.opaque || is_too_long(rules, value)) && is_asked(rules, value, object, old);
}

bool Checker::is_closed_here(const Rules& here, std::string_view name, const Value* value, const Object& object, const Object* old) const {
  for (const auto& [member, rules] : here.members) {
    if (member == name && rules->opaque && is_asked(*rules, value, object, old)) return true;
  }
  return false;
}

bool Checker::is_asked(const Rules& rules, const Value* value, const Object& object, const Object* old) const {
  if (!hold(rules.when, object, &root_) || (!rules.unless.empty() && hold(rules.unless, object, &root_))) return false;
  if (!rules.when_was.empty() && (old == nullptr || !hold(rules.when_was, *old, old_root_))) return false;
  if (!rules.unless_was.empty() && old != nullptr && hold(rules.unless_was, *old, old_root_)) return false;
  if (rules.unless_item.empty() || value == nullptr || !value->is_array()) return true;
  return std::none_of(value->get_array().begin(), value->get_array().end(),
                      [&](const Value& item) { return item.is_object() && hold(rules.unless_item, item.get_object(), &root_); });
}

void Checker::descend(const Type& type, const Rules* rules, const Value& value, const Value* old, const Place& place, const Rules* here) {
  if (type.form() == Form::kStruct && value.is_object()) {
    const Object* before = old != nullptr ? old->if_object() : nullptr;
    if (rules != nullptr) check_members(type, *rules, value.get_object(), before, place);
    check_struct(type, value.get_object(), before, place, ObjectPart::kWhole, here);
  } else if (type.form() == Form::kList && value.is_array()) {
    check_list(type, rules, value.get_array(), old, place);
  } else if (type.form() == Form::kMap && value.is_object()) {
    check_map(type, rules, value.get_object(), old != nullptr ? old->if_object() : nullptr, place);
  }
}

void Checker::check_item(const Body& holder, const Value& value, const Value* old, const Place& place, const Array* list,
                         const Rules* here) {
  if (holder.item_rules != nullptr) {
    if (old != nullptr) check_change(*holder.items, false, *holder.item_rules, &value, old, place);
    const bool missing = holder.item_rules->required && is_unset(&value, holder.items->struct_like());
    if (missing) errors_.required(place.path(), holder.item_rules->required_text);
    if (list != nullptr && holder.item_rules->whole) {
      check_allowed_item(*holder.item_rules, value, *list, place);
    } else if (!missing || holder.item_rules->goes_on) {
      check_value(*holder.items, *holder.item_rules, &value, place);
    }
  }
  descend(*holder.items, holder.item_rules, value, old, place, here);
}

void Checker::check_members(const Type& type, const Rules& rules, const Object& object, const Object* old, const Place& place) {
  for (const auto& [name, member_rules] : rules.members) {
    const int index = type.body().find(name, 0);
    if (index < 0) continue;
    const Property& property = type.body().properties[static_cast<std::size_t>(index)];
    for (const Rules* each = member_rules.get(); each != nullptr; each = each->next.get()) {
      check_property(type, property, *each, find(object, name), object, old, place);
    }
  }
}

void Checker::check_map(const Type& type, const Rules* rules, const Object& map, const Object* old, const Place& place) {
  const Body& body = type.body();
  if (rules == nullptr && !type.ruled_within()) return;
  for (const auto& entry : map) {
    const Place at = rules != nullptr && rules->as_members ? place.member(entry.key()) : place.key(entry.key());
    if (body.items != nullptr) check_item(body, entry.value(), old != nullptr ? find(*old, entry.key()) : nullptr, at);
  }
}

void Type::check(const Object& object, const Object* old, ObjectPart part, const std::string& path, FieldErrors& errors) const {
  if (structural()) return check_structural(*this, object, old, part, errors);
  if (form_ != Form::kStruct || part == ObjectPart::kNone || !ruled_within()) return;
  const Place root{nullptr, path, 0, Place::Step::kRoot};
  Checker(object, old, errors).check_struct(*this, object, old, root, part);
}

}  // namespace backplane::schema

namespace backplane BACKPLANE_API {

void Schema::check(const Object&, const Object*, ObjectPart, const std::string&, FieldErrors&) const {}

}  // namespace BACKPLANE_API
