// Typed objects against the rules of their schema, in the words of field.Error.
//
// One walk over the new object, and the old one beside it: into lists only where something within compares.  A path is put together only
// for what is wrong.
#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <set>

#include "backplane/kit/struct_difference.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "schema/conditions.hpp"
#include "schema/old_items.hpp"
#include "schema/place.hpp"
#include "schema/scalars.hpp"
#include "schema/type.hpp"

namespace backplane::schema {
namespace {

std::string_view text_of(const Value& value) noexcept {
  return value.is_string() ? std::string_view(value.get_string()) : std::string_view();
}

std::string_view text_of(const Value* value) noexcept { return value != nullptr ? text_of(*value) : std::string_view(); }

std::int64_t number_of(const Value* value) noexcept { return value != nullptr && value->is_int64() ? value->get_int64() : 0; }

// `whole`: only what is not there at all is unset, a zero is not.
bool is_unset(const Value* value, bool whole) noexcept { return value == nullptr || value->is_null() || (!whole && is_zero(*value)); }

bool differ(const Value* a, const Value* b) { return a != nullptr && b != nullptr ? *a != *b : a != b; }

// A list or map without content is as good as none.
bool differ_as(const Type& type, const Value* a, const Value* b) {
  const bool holder = type.form() == Form::kList || type.form() == Form::kMap;
  return differ(a, b) && !(holder && is_unset(a, false) && is_unset(b, false));
}

// Bytes of a base64 text.
std::size_t decoded_size(std::string_view text) noexcept {
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  return text.size() / 4 * 3 - (text.empty() ? 0 : padding);
}

class Checker {
 public:
  Checker(const Object& root, const Object* old_root, FieldErrors& errors) : root_(root), old_root_(old_root), errors_(errors) {}

  void check_struct(const Type& type, const Object& object, const Object* old, const Place& place, ObjectPart part) {
    const Body& body = type.body();
    const auto left_out = [&](std::string_view name) {
      return part != ObjectPart::kWhole && (name == "status") != (part == ObjectPart::kStatus);
    };
    std::string_view chosen;
    if (body.struct_rules != nullptr && part != ObjectPart::kStatus) {
      chosen = check_together(type, *body.struct_rules, object, old, place);
    }
    const bool one_only = body.struct_rules != nullptr && body.struct_rules->is_union;
    const Members members = members_of(body, object);
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
      check_blames(*body.struct_rules, object, place);
      for (const StructRules::Order& order : body.struct_rules->orders) check_order(order, object, place);
    }
    for (std::size_t index = 0; index < members.size(); ++index) {
      const Property& property = body.properties[index];
      const Value* value = members[index];
      if (value == nullptr || (property.rules == nullptr && !property.type->ruled_within()) || left_out(property.name)) continue;
      const Value* before = old != nullptr ? find(*old, property.name) : nullptr;
      if (property.rules != nullptr && is_closed(*property.rules, value, before, object, old)) continue;
      if (one_only && is_alternative(property, *body.struct_rules) && property.name != chosen) continue;
      const int times = property.rules != nullptr && property.rules->again && old != nullptr ? 2 : 1;
      for (int time = 0; time < times; ++time) {
        go_down(*property.type, property.rules, *value, before, place_of(property.name, property.rules, place));
      }
    }
    if (body.struct_rules == nullptr || part == ObjectPart::kStatus) return;
    for (const StructRules::Keys& keys : body.struct_rules->keys) check_keys(keys, object, place);
  }

 private:
  // An object's members by property index; null: it has none.
  using Members = boost::container::small_vector<const Value*, 48>;

  static Members members_of(const Body& body, const Object& object) {
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

  // ---- one value

  // Where what is wrong with a member of the struct at `holder` is said to be.
  static Place place_of(std::string_view name, const Rules* rules, const Place& holder) {
    if (rules == nullptr || (!rules->holder && rules->path.empty())) return {&holder, name, 0, Place::Step::kMember};
    if (rules->holder) return holder;
    if (rules->path.front() != '.') return {nullptr, rules->path, 0, Place::Step::kRoot};
    return {&holder, std::string_view(rules->path).substr(1), 0, Place::Step::kMember};
  }

  void check_property(const Type& type, const Property& property, const Rules& rules, const Value* value, const Object& object,
                      const Object* old, const Place& holder) {
    if (rules.on_create && old != nullptr) return;
    if (!is_asked(rules, value, object, old)) return;
    const Value* before = old != nullptr ? find(*old, property.name) : nullptr;
    if (rules.when_changed && old != nullptr && !differ(value, before)) return;
    const Place place = place_of(property.name, &rules, holder);
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

  // Rules of the items in this place.
  void check_list_here(const Type& type, const Rules& rules, const Array& list, const Place& place) {
    if (rules.items == nullptr) return;
    const Type& items = *type.body().items;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Place item = place.item(i);
      check_value(items, *rules.items, &list[i], item);
      if (list[i].is_object()) check_members(items, *rules.items, list[i].get_object(), nullptr, item);
    }
  }

  // A map with these keys and no others.
  void check_entries(const Rules& rules, const Value* value, const Place& place) {
    const Object* map = value != nullptr ? value->if_object() : nullptr;
    const bool all = map != nullptr && map->size() == rules.entries.size() &&
                     std::all_of(rules.entries.begin(), rules.entries.end(), [&](const std::string& key) { return map->contains(key); });
    if (!all) errors_.add({FieldErrorType::kNotSupported, place.path(), unsupported(value ? to_json(*value) : "null", rules.entries)});
  }

  // What may not change is told from what may by making that the same.
  void check_fixed(const Type& type, const Fixed& fixed, const Value* value, const Value* before, const Place& place) {
    static const Object kNone;
    const Object& now = value != nullptr && value->is_object() ? value->get_object() : kNone;
    const Object& old = before != nullptr && before->is_object() ? before->get_object() : kNone;
    if (now == old) return;
    Object rest(now), before_it(old);
    for (const Fixed::Change& change : fixed.may) {
      if (!hold(change.when, now, &root_) || !hold(change.when_was, old, old_root_)) continue;
      take(change.member.names, change.shows_new ? before_it : rest, change.shows_new ? now : old);
    }
    const Type* compared = fixed.as.empty() ? &type : type.set().find_type(fixed.as);
    const auto difference = compared != nullptr ? kit::struct_difference(*compared, before_it, rest) : std::nullopt;
    if (difference) errors_.forbidden(place.path(), fixed.text + "\n" + *difference);
  }

  // Gives a member the value that it has in another object, where there is something that holds it.
  static void take(const std::vector<std::string>& names, Object& object, const Object& other) {
    Object* holder = &object;
    const Object* from = &other;
    for (std::size_t i = 0; i + 1 < names.size() && holder != nullptr; ++i) {
      from = from != nullptr ? get_object(*from, names[i]) : nullptr;
      Value* inner = find(*holder, names[i]);
      holder = inner != nullptr ? inner->if_object() : nullptr;
    }
    if (holder == nullptr) return;
    if (const Value* taken = from != nullptr ? find(*from, names.back()) : nullptr) {
      (*holder)[names.back()] = *taken;
    } else {
      erase_member(*holder, names.back());
    }
  }

  void check_families(const Rules& rules, const Array& list, const Place& place) {
    const auto six = [](const Value& item) { return text_of(item).find(':') != std::string_view::npos; };
    const bool good = list.size() < 2 || (list.size() == 2 && six(list[0]) != six(list[1]));
    if (!good) errors_.invalid_raw(place.path(), to_json(list), rules.per_family);
  }

  // Whether nothing in the value is looked at.
  bool is_closed(const Rules& rules, const Value* value, const Value* before, const Object& object, const Object* old) const {
    if (rules.on_create && old != nullptr) return true;
    if (rules.when_changed && old != nullptr && !differ(value, before)) return true;
    return (rules.opaque || is_too_long(rules, value)) && is_asked(rules, value, object, old);
  }

  static bool is_too_long(const Rules& rules, const Value* value) {
    return rules.max_items && value != nullptr && value->is_array() && std::ssize(value->get_array()) > *rules.max_items;
  }

  void check_too_long(const Rules& rules, const Array& list, const Place& place) {
    if (!rules.max_items_text.empty()) return errors_.invalid_raw(place.path(), to_json(list), rules.max_items_text);
    errors_.too_many(place.path(), static_cast<long long>(list.size()), static_cast<long long>(*rules.max_items));
  }

  bool is_asked(const Rules& rules, const Value* value, const Object& object, const Object* old) const {
    if (!hold(rules.when, object, &root_) || (!rules.unless.empty() && hold(rules.unless, object, &root_))) return false;
    if (!rules.when_was.empty() && (old == nullptr || !hold(rules.when_was, *old, old_root_))) return false;
    if (!rules.unless_was.empty() && old != nullptr && hold(rules.unless_was, *old, old_root_)) return false;
    if (rules.unless_item.empty() || value == nullptr || !value->is_array()) return true;
    return std::none_of(value->get_array().begin(), value->get_array().end(),
                        [&](const Value& item) { return item.is_object() && hold(rules.unless_item, item.get_object(), &root_); });
  }

  // As upstream quotes it, whose own structs have other names.
  static std::string printed(const Type& type, bool pointer, const Rules& rules, const Value* value) {
    if (value == nullptr) return type.form() == Form::kString && !pointer ? "\"\"" : "null";
    return value->is_object() && (rules.as_go || has_own_struct(type)) ? to_json(type.go_struct(value->get_object())) : to_json(*value);
  }

  void check_change(const Type& type, bool pointer, const Rules& rules, const Value* value, const Value* before, const Place& place) {
    if (rules.immutable && differ_as(type, value, before)) {
      errors_.invalid_raw(place.path(), rules.unquoted ? "null" : printed(type, pointer, rules, value), rules.immutable_text);
    }
    if (!rules.once.empty() && !is_unset(before, false) && differ(value, before)) errors_.forbidden(place.path(), rules.once);
    if (!rules.rising.empty() && number_of(value) < number_of(before)) {
      errors_.invalid(place.path(), static_cast<long long>(number_of(value)), rules.rising);
    }
  }

  void check_not_set(const Type& type, const Rules& rules, const Object& object, const Value& value, const Place& place) {
    if (!rules.forbidden.empty()) errors_.forbidden(place.path(), rules.forbidden);
    if (rules.refused.empty()) return;
    errors_.invalid_raw(place.path(), to_json(rules.whole ? type.go_struct(object) : value), rules.refused);
  }

  // One of a few values, of which the struct around is quoted.
  void check_choice(const Type& type, const Rules& rules, const Object& object, const Value* value, const Place& place) {
    const std::string_view text = value != nullptr ? text_of(*value) : std::string_view();
    if (text.empty() && rules.required) return errors_.required(place.path(), rules.required_text);
    if (text.empty() && rules.optional.value_or(true)) return;
    if (std::find(rules.allowed.begin(), rules.allowed.end(), text) != rules.allowed.end()) return;
    const std::string quoted_whole = to_json(type.go_struct(object));
    if (!rules.allowed_text.empty()) return errors_.invalid_raw(place.path(), quoted_whole, rules.allowed_text);
    errors_.add({FieldErrorType::kNotSupported, place.path(), unsupported(quoted_whole, rules.allowed)});
  }

  static std::string unsupported(const std::string& value, const std::vector<std::string>& allowed) {
    std::string supported;
    for (const std::string& each : allowed) supported += (supported.empty() ? "" : ", ") + quoted(each);
    return "Unsupported value: " + value + ": supported values: " + supported;
  }

  void check_set(const Property& property, const Rules& rules, const Value* value, const Place& place) {
    const bool empty = is_unset(value, property.type->struct_like());
    if (rules.required && empty) {
      errors_.required(place.path(), rules.required_text);
      if (!rules.goes_on) return;
    } else if (empty && (rules.optional.value_or(property.omit == Omit::kEmpty) || property.pointer)) {
      const bool passed_over = rules.optional.value_or(!property.pointer || is_unset(value, true));
      if (passed_over) return;
    }
    check_value(*property.type, rules, value, place);
  }

  void check_value(const Type& type, const Rules& rules, const Value* value, const Place& place) {
    switch (type.form()) {
      case Form::kString:
      case Form::kBytes:
        return check_text(rules, value != nullptr ? text_of(*value) : std::string_view(), place);
      case Form::kInt32:
      case Form::kInt64:
      case Form::kIntOrString:
        return check_number(rules, value, place);
      case Form::kQuantity:
        return check_quantity(rules, value, place);
      case Form::kStruct:
        if (rules.label_selector && value != nullptr && value->is_object()) {
          check_label_selector(value->get_object(), place);
        }
        return;
      case Form::kRawExtension:
        if (rules.json_object && value != nullptr && !value->is_null()) check_raw(rules, *value, place);
        return;
      case Form::kMap:
        if (value != nullptr && value->is_object()) check_map_here(rules, value->get_object(), place);
        return;
      case Form::kList:
        if (rules.conditions && value != nullptr && value->is_array()) check_conditions(value->get_array(), place, errors_);
        return;
      default:
        return;
    }
  }

  void check_raw(const Rules& rules, const Value& value, const Place& place) {
    if (rules.max_length && to_json(value).size() > static_cast<std::size_t>(*rules.max_length)) {
      errors_.too_long(place.path(), "", static_cast<long long>(*rules.max_length));
    } else if (!value.is_object()) {
      errors_.invalid(place.path(), "<value omitted>", "must be a valid JSON object");
    }
  }

  void check_label_selector(const Object& selector, const Place& place) {
    FieldErrors found;
    validate_label_selector(selector, {}, found);
    if (!found.empty()) validate_label_selector(selector, place.path(), errors_);
  }

  // A map as one, and its keys.
  void check_map_here(const Rules& rules, const Object& map, const Place& place) {
    if (rules.labels) validate_labels(map, place.path(), errors_);
    if (rules.max_entries && map.size() > static_cast<std::size_t>(*rules.max_entries)) {
      return errors_.too_long(place.path(), "", static_cast<long long>(*rules.max_entries));
    }
    std::size_t bytes = 0;
    for (const auto& entry : map) {
      bytes += entry.key().size() + text_of(entry.value()).size();
      if (rules.keys != nullptr) check_text(*rules.keys, entry.key(), rules.keys->holder ? place : place.key(entry.key()));
    }
    if (rules.max_bytes && bytes > static_cast<std::size_t>(*rules.max_bytes)) {
      errors_.too_long(place.path(), "", static_cast<long long>(*rules.max_bytes));
    }
  }

  void check_text(const Rules& rules, std::string_view text, const Place& place) {
    if (rules.lowered) return check_plain_text(rules, kit::lower_case(text), place);
    check_plain_text(rules, text, place);
  }

  void check_plain_text(const Rules& rules, std::string_view text, const Place& place) {
    if (!rules.non_empty.empty() && text.empty()) errors_.invalid(place.path(), text, rules.non_empty);
    if (rules.trims_dot && text.ends_with('.')) text.remove_suffix(1);
    const bool qualified = rules.or_qualified && (text.find('/') != std::string_view::npos || !is_qualified_name(text).empty());
    if (!rules.allowed.empty() && !qualified && std::find(rules.allowed.begin(), rules.allowed.end(), text) == rules.allowed.end()) {
      if (rules.allowed_text.empty()) {
        errors_.not_supported(place.path(), text, rules.allowed);
      } else {
        errors_.invalid(place.path(), text, rules.allowed_text);
      }
    }
    if (rules.max_length && text.size() > static_cast<std::size_t>(*rules.max_length)) {
      check_length(rules, text, place);
    }
    if (rules.format == nullptr) return;
    const Problems problems = rules.format(text);
    if (rules.joined && !problems.empty()) return errors_.invalid(place.path(), text, kit::joined(problems));
    for (const std::string& problem : problems) errors_.invalid(place.path(), text, problem);
  }

  // Of a text that is too long.
  void check_length(const Rules& rules, std::string_view text, const Place& place) {
    if (!rules.length_text.empty()) {
      errors_.invalid(place.path(), "", rules.length_text);
    } else if (!rules.range_text.empty()) {
      errors_.invalid(place.path(), text, rules.range_text);
    } else {
      errors_.too_long(place.path(), text, static_cast<long long>(*rules.max_length));
    }
  }

  void check_number(const Rules& rules, const Value* value, const Place& place) {
    const auto number = static_cast<long long>(number_of(value));
    if (rules.number == NumberFormat::kIntOrPercent) return check_number_or_percent(rules, value, place);
    if (rules.number == NumberFormat::kPortOrName && value != nullptr && value->is_string()) {
      for (const std::string& problem : is_valid_port_name(text_of(*value))) errors_.invalid(place.path(), text_of(*value), problem);
    } else if (rules.number != NumberFormat::kNone) {
      for (const std::string& problem : is_valid_port_num(number)) errors_.invalid(place.path(), number, problem);
    }
    if ((!rules.minimum || number >= *rules.minimum) && (!rules.maximum || number <= *rules.maximum)) return;
    errors_.invalid(place.path(), number, range_text(rules));
  }

  void check_number_or_percent(const Rules& rules, const Value* value, const Place& place) {
    const std::string_view text = text_of(value);
    if (value != nullptr && value->is_string() && !is_percent(text)) {
      errors_.invalid(place.path(), text,
                      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for "
                      "validation is '[0-9]+%')");
    } else if (number_of(value) < 0) {
      errors_.invalid(place.path(), static_cast<long long>(number_of(value)), "must be greater than or equal to 0");
    }
    if (rules.max_percent && is_percent(text) && number_or_percent(*value) > *rules.max_percent) {
      errors_.invalid(place.path(), text, "must not be greater than " + std::to_string(*rules.max_percent) + "%");
    }
  }

  static std::string range_text(const Rules& rules) {
    if (!rules.range_text.empty()) return rules.range_text;
    if (rules.minimum && rules.maximum) {
      return "must be between " + std::to_string(*rules.minimum) + " and " + std::to_string(*rules.maximum) + ", inclusive";
    }
    return rules.minimum ? "must be greater than or equal to " + std::to_string(*rules.minimum)
                         : "must be less than or equal to " + std::to_string(*rules.maximum);
  }

  void check_quantity(const Rules& rules, const Value* value, const Place& place) {
    const std::string_view text = value != nullptr ? text_of(*value) : std::string_view("0");
    const int sign = compare_quantities(text, "0");
    if (rules.not_negative && sign < 0) errors_.invalid(place.path(), text, "must be greater than or equal to 0");
    if (rules.positive && sign <= 0) {
      errors_.invalid(place.path(), text, rules.range_text.empty() ? std::string_view("must be greater than zero") : rules.range_text);
    }
  }

  // ---- what is inside

  void go_down(const Type& type, const Rules* rules, const Value& value, const Value* old, const Place& place) {
    if (type.form() == Form::kStruct && value.is_object()) {
      const Object* before = old != nullptr ? old->if_object() : nullptr;
      if (rules != nullptr) check_members(type, *rules, value.get_object(), before, place);
      check_struct(type, value.get_object(), before, place, ObjectPart::kWhole);
    } else if (type.form() == Form::kList && value.is_array()) {
      check_list(type, rules, value.get_array(), old, place);
    } else if (type.form() == Form::kMap && value.is_object()) {
      check_map(type, rules, value.get_object(), old != nullptr ? old->if_object() : nullptr, place);
    }
  }

  // An item of a list, an entry of a map.
  void check_item(const Body& holder, const Value& value, const Value* old, const Place& place, const Array* list = nullptr) {
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
    go_down(*holder.items, holder.item_rules, value, old, place);
  }

  void check_members(const Type& type, const Rules& rules, const Object& object, const Object* old, const Place& place) {
    for (const auto& [name, member_rules] : rules.members) {
      const int index = type.body().find(name, 0);
      if (index < 0) continue;
      const Property& property = type.body().properties[static_cast<std::size_t>(index)];
      for (const Rules* each = member_rules.get(); each != nullptr; each = each->next.get()) {
        check_property(type, property, *each, find(object, name), object, old, place);
      }
    }
  }

  void check_list(const Type& type, const Rules* rules, const Array& list, const Value* old, const Place& place) {
    static const ListIdentity kUntold{ListKind::kAtomic, {}};
    const Body& body = type.body();
    if (body.items == nullptr || (rules == nullptr && !type.ruled_within())) return;
    const bool whole = rules != nullptr && rules->whole_list;
    for (const Rules* each = rules; each != nullptr && list.size() > 1; each = each->next.get()) {
      check_named(*each, list, place);
      check_alone(*each, list, place);
    }
    const bool compares = old != nullptr && body.identity != nullptr && type.compares_within();
    const OldItems before(compares ? *body.identity : kUntold, old);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Place item{&place, {}, i, Place::Step::kIndex};
      check_item(body, list[i], before.of(list[i], i), whole ? place : item, &list);
    }
    for (const Rules* each = rules; each != nullptr; each = each->next.get()) {
      if (!each->per_family.empty()) check_families(*each, list, place);
      if (!each->unique_at.empty()) {
        check_unique_member(*each, list, place);
      } else if (each->unique.size() > 1) {
        check_unique_together(*body.items, *each, list, place);
      } else if (each->unique_items || !each->unique.empty()) {
        check_unique(*each, list, place);
      }
    }
  }

  // Quotes the whole list.
  void check_allowed_item(const Rules& rules, const Value& item, const Array& list, const Place& place) {
    const bool allowed = std::find(rules.allowed.begin(), rules.allowed.end(), text_of(item)) != rules.allowed.end();
    if (!allowed) errors_.invalid_raw(place.path(), to_json(list), rules.allowed_text);
  }

  void check_named(const Rules& rules, const Array& list, const Place& place) {
    for (std::size_t i = 0; i < list.size() && !rules.named.empty(); ++i) {
      if (!list[i].is_object() || !is_unset(find(list[i].get_object(), rules.named), false)) continue;
      const Place item{&place, {}, i, Place::Step::kIndex};
      errors_.required(Place{&item, rules.named, 0, Place::Step::kMember}.path());
    }
  }

  void check_alone(const Rules& rules, const Array& list, const Place& place) {
    if (rules.alone.empty() || std::find(list.begin(), list.end(), Value("*")) == list.end()) return;
    errors_.invalid_raw(place.path(), to_json(list), rules.alone);
  }

  void check_unique(const Rules& rules, const Array& list, const Place& place) {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Value* key = &list[i];
      if (!rules.unique_items) key = list[i].is_object() ? find(list[i].get_object(), rules.unique[0]) : nullptr;
      const std::string_view text = text_of(key);
      if ((text.empty() && !rules.empty_too) || seen.insert(text).second) continue;
      const Place item = rules.whole_list ? place : place.item(i);
      errors_.duplicate(rules.unique_items ? item.path() : item.member(rules.unique[0]).path(), text);
    }
  }

  // One member is blamed, and quoted, for what it and others say twice.
  void check_unique_member(const Rules& rules, const Array& list, const Place& place) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Value* blamed = list[i].is_object() ? find(list[i].get_object(), rules.unique_at) : nullptr;
      if (is_unset(blamed, false)) continue;
      std::string key;
      for (const std::string& name : rules.unique) {
        if (const Value* value = find(list[i].get_object(), name)) key += to_json(*value);
      }
      const Place item = place.item(i);
      if (!seen.insert(std::move(key)).second) errors_.duplicate_raw(item.member(rules.unique_at).path(), to_json(*blamed));
    }
  }

  void check_unique_together(const Type& items, const Rules& rules, const Array& list, const Place& place) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].is_object()) continue;
      Object compared;
      for (const std::string& name : rules.unique) {
        if (const Value* value = find(list[i].get_object(), name)) compared[name] = *value;
      }
      if (seen.insert(to_json(compared)).second) continue;
      const std::string path = Place{&place, {}, i, Place::Step::kIndex}.path();
      const bool whole = rules.whole || !rules.unique_text.empty();
      const std::string text = to_json(items.go_struct(whole ? list[i].get_object() : compared));
      errors_.duplicate_raw(path, rules.unique_text.empty() ? text : text + ": " + rules.unique_text);
    }
  }

  void check_map(const Type& type, const Rules* rules, const Object& map, const Object* old, const Place& place) {
    const Body& body = type.body();
    if (rules == nullptr && !type.ruled_within()) return;
    for (const auto& entry : map) {
      const Place at = place.key(entry.key());
      if (body.items != nullptr) check_item(body, entry.value(), old != nullptr ? find(*old, entry.key()) : nullptr, at);
    }
  }

  // ---- members together

  static bool is_alternative(const Property& property, const StructRules& rules) {
    return property.pointer && property.type->form() == Form::kStruct &&
           std::find(rules.union_except.begin(), rules.union_except.end(), property.name) == rules.union_except.end();
  }

  // Returns the alternative that was chosen, where the struct is a union.
  std::string_view check_together(const Type& type, const StructRules& rules, const Object& object, const Object* old, const Place& place) {
    if (old != nullptr && !rules.frozen_by.empty()) check_frozen(rules, object, *old, place);
    if (old != nullptr && !rules.frozen_text.empty()) check_thawed(type, rules, object, *old, place);
    if (!rules.distinct.empty()) check_distinct(rules, object, place);
    if (!rules.any_of.empty()) check_any(rules, object, place);
    if (!rules.counted.empty()) check_size(type, rules, object, place);
    return rules.is_union ? check_union(type, rules, object, place) : std::string_view();
  }

  std::string_view check_union(const Type& type, const StructRules& rules, const Object& object, const Place& place) {
    if (!rules.union_by.empty()) return check_named_union(rules, object, place);
    std::string_view chosen;
    for (const Property& property : type.body().properties) {
      const Value* value = is_alternative(property, rules) ? find(object, property.name) : nullptr;
      if (value == nullptr || value->is_null()) continue;
      if (chosen.empty()) {
        chosen = property.name;
      } else {
        errors_.forbidden(place.member(property.name).path(), rules.many_text);
      }
    }
    if (chosen.empty() && !rules.none_text.empty()) errors_.required(place.path(), rules.none_text);
    return chosen;
  }

  std::string_view check_named_union(const StructRules& rules, const Object& object, const Place& place) {
    std::string_view named;
    std::vector<std::string_view> present;
    for (const auto& [value, alternative] : rules.union_of) {
      if (value == get_string(object, rules.union_by)) named = alternative;
      if (!is_unset(find(object, alternative), true)) present.push_back(alternative);
    }
    if (!named.empty() && std::find(present.begin(), present.end(), named) == present.end()) {
      errors_.required(place.member(named).path(), rules.none_text);
    }
    for (const std::string_view alternative : present) {
      if (present.size() > 1 && alternative != named) errors_.forbidden(place.member(alternative).path(), rules.many_text);
    }
    return present.empty() ? std::string_view() : present.front();
  }

  void check_frozen(const StructRules& rules, const Object& object, const Object& old, const Place& place) {
    if (!get_bool(old, rules.frozen_by).value_or(false)) return;
    const std::string text = "field is immutable when `" + rules.frozen_by + "` is set";
    const auto forbid = [&](std::string_view name) { errors_.forbidden(Place{&place, name, 0, Place::Step::kMember}.path(), text); };
    if (!get_bool(object, rules.frozen_by).value_or(false)) forbid(rules.frozen_by);
    for (const std::string& name : rules.frozen) {
      if (differ(find(object, name), find(old, name))) forbid(name);
    }
  }

  void check_thawed(const Type& type, const StructRules& rules, const Object& object, const Object& old, const Place& place) {
    const auto changed = [&](const Property& property) {
      const bool may = std::find(rules.thawed.begin(), rules.thawed.end(), property.name) != rules.thawed.end();
      return !may && differ(find(object, property.name), find(old, property.name));
    };
    const auto& properties = type.body().properties;
    if (std::any_of(properties.begin(), properties.end(), changed)) errors_.forbidden(place.path(), rules.frozen_text);
  }

  void check_any(const StructRules& rules, const Object& object, const Place& place) {
    if (!hold(rules.any_when, object, &root_)) return;
    const auto filled = [&](const std::string& name) { return !is_unset(find_path(object, name), false); };
    if (std::none_of(rules.any_of.begin(), rules.any_of.end(), filled)) errors_.required(place.path(), rules.any_text);
  }

  static bool is_beyond(StructRules::Limit::Side side, std::int64_t number, std::int64_t limit) {
    switch (side) {
      case StructRules::Limit::Side::kNotAbove:
        return number > limit;
      case StructRules::Limit::Side::kNotBelow:
        return number < limit;
      case StructRules::Limit::Side::kAbove:
        return number <= limit;
    }
    return false;
  }

  void check_limits(const StructRules& rules, const Object& object, const Place& place) {
    using Side = StructRules::Limit::Side;
    for (const StructRules::Limit& row : rules.limits) {
      const Value* limit = find(object, row.limit);
      if (row.side == Side::kNotBelow && (is_unset(limit, true) || limit->is_string())) continue;
      for (const std::string& name : row.members) {
        const Value* value = find(object, name);
        if (row.side != Side::kNotAbove && is_unset(value, true)) continue;
        if (!is_beyond(row.side, number_of(value), number_of(limit))) continue;
        errors_.invalid(place.member(name).path(), static_cast<long long>(number_of(row.quotes_limit ? limit : value)), row.text);
      }
    }
  }

  void check_blames(const StructRules& rules, const Object& object, const Place& place) {
    using Kind = StructRules::Blame::Kind;
    for (const StructRules::Blame& row : rules.blames) {
      if (!hold(row.when, object, &root_) || (!row.unless.empty() && hold(row.unless, object, &root_))) continue;
      if (row.kind == Kind::kRequired) errors_.required(place.path(), row.text);
      if (row.kind == Kind::kForbidden) errors_.forbidden(place.path(), row.text);
      if (row.kind != Kind::kInvalid) continue;
      const Value* quoted_member = row.quotes.empty() ? nullptr : find(object, row.quotes);
      const std::string printed_value = row.quotes.empty() ? "\"\"" : quoted_member != nullptr ? to_json(*quoted_member) : "null";
      errors_.invalid_raw(place.path(), printed_value, row.text);
    }
  }

  // {low} and {high} of the text are the two amounts.
  void check_order(const StructRules::Order& order, const Object& object, const Place& place) {
    const Object* low = get_object(object, order.low);
    const Object* high = get_object(object, order.high);
    if (low == nullptr || high == nullptr) return;
    for (const auto& entry : *low) {
      const std::string_view amount = text_of(entry.value()), limit = text_of(find(*high, entry.key()));
      if (limit.empty() || compare_quantities(amount, limit) <= 0) continue;
      std::string text = order.text;
      for (const auto& [word, shown] : {std::pair{std::string_view("{low}"), amount}, std::pair{std::string_view("{high}"), limit}}) {
        if (const auto begin = text.find(word); begin != std::string::npos) text.replace(begin, word.size(), shown);
      }
      const Place map = place.member(order.blames_high ? order.high : order.low);
      errors_.invalid(map.key(entry.key()).path(), order.shows_high ? limit : amount, text);
    }
  }

  void check_keys(const StructRules::Keys& rule, const Object& object, const Place& place) {
    if (!hold(rule.when, object, &root_)) return;
    const Value* found = find_path(object, rule.map);
    static const Object kEmpty;
    const Object& map = found != nullptr && found->is_object() ? found->get_object() : kEmpty;
    const Place at = place.member(rule.map);
    const auto require = [&](const std::string& key) { errors_.required(at.key(key).path()); };
    for (const std::string& key : rule.there) {
      if (!map.contains(key)) require(key);
    }
    for (const std::string& key : rule.filled) {
      if (get_string(map, key).empty()) require(key);
    }
    const bool one = std::any_of(rule.one_of.begin(), rule.one_of.end(), [&](const std::string& key) { return map.contains(key); });
    if (!one) std::for_each(rule.one_of.begin(), rule.one_of.end(), require);
  }

  void check_distinct(const StructRules& rules, const Object& object, const Place& place) {
    const Object* map = get_object(object, rules.distinct);
    const Object* other = get_object(object, rules.distinct_from);
    if (map == nullptr || other == nullptr) return;
    const Place member{&place, rules.distinct, 0, Place::Step::kMember};
    for (const auto& entry : *map) {
      if (!other->contains(entry.key())) continue;
      errors_.invalid(Place{&member, entry.key(), 0, Place::Step::kKey}.path(), std::string_view(entry.key()),
                      "duplicate of key present in " + rules.distinct_from);
    }
  }

  void check_size(const Type& type, const StructRules& rules, const Object& object, const Place& place) {
    std::size_t total = 0;
    for (const std::string& name : rules.counted) {
      const Object* map = get_object(object, name);
      const int index = type.body().find(name, 0);
      if (map == nullptr || index < 0) continue;
      const Type* values = type.body().properties[static_cast<std::size_t>(index)].type->body().items;
      const bool bytes = values != nullptr && values->form() == Form::kBytes;
      for (const auto& entry : *map) total += bytes ? decoded_size(text_of(entry.value())) : text_of(entry.value()).size();
    }
    if (total <= static_cast<std::size_t>(rules.max_bytes)) return;
    const Place member{&place, rules.counted_path, 0, Place::Step::kMember};
    errors_.too_long(member.path(), "", static_cast<long long>(rules.max_bytes));
  }

  const Object& root_;
  const Object* old_root_;
  FieldErrors& errors_;
};

}  // namespace

void Type::check(const Object& object, const Object* old, ObjectPart part, const std::string& path, FieldErrors& errors) const {
  if (structural() || form_ != Form::kStruct || part == ObjectPart::kNone || !ruled_within()) return;
  const Place root{nullptr, path, 0, Place::Step::kRoot};
  Checker(object, old, errors).check_struct(*this, object, old, root, part);
}

}  // namespace backplane::schema

namespace backplane BACKPLANE_API {

void Schema::check(const Object&, const Object*, ObjectPart, const std::string&, FieldErrors&) const {}

}  // namespace BACKPLANE_API
