// Rules of one value: presence, mutability, allowed values, format.
#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/text.hpp"
#include "backplane/types/domain_path.hpp"
#include "backplane/types/resource_names.hpp"
#include "backplane/types/struct_difference.hpp"
#include "engine/raw_json.hpp"
#include "schema/checker.hpp"
#include "schema/conditions.hpp"

namespace backplane::schema {
namespace {

// Whether the values differ; an empty list or map equals an absent one.
bool differ_as(const Type& type, const Value* a, const Value* b) {
  const bool holder = type.form() == Form::kList || type.form() == Form::kMap;
  return differ(a, b) && !(holder && is_unset(a, false) && is_unset(b, false));
}

// Whether one list has an item that the other lacks.
bool differ_as_sets(const Value* a, const Value* b) {
  static const Array none;
  const Array& left = a != nullptr && a->is_array() ? a->get_array() : none;
  const Array& right = b != nullptr && b->is_array() ? b->get_array() : none;
  const auto within = [](const Array& some, const Array& all) {
    return std::all_of(some.begin(), some.end(), [&](const Value& item) { return std::find(all.begin(), all.end(), item) != all.end(); });
  };
  return !within(left, right) || !within(right, left);
}

// The value as upstream quotes it: upstream's internal structs have different field names.
std::string printed(const Type& type, bool pointer, const Rules& rules, const Value* value) {
  if (value == nullptr) return type.form() == Form::kString && !pointer ? "\"\"" : "null";
  return value->is_object() && (rules.as_go || has_own_struct(type)) ? to_json(type.go_struct(value->get_object())) : to_json(*value);
}

std::string unsupported(const std::string& value, const std::vector<std::string>& allowed) {
  std::string supported;
  for (const std::string& each : allowed) supported += (supported.empty() ? "" : ", ") + quoted(each);
  return "Unsupported value: " + value + ": supported values: " + supported;
}

// Whether the text, or the key of the map, has a named type in Go.
bool is_named(const Type& type) { return type.form() == Form::kMap ? type.go_type() == "v1.ResourceList" : type.go_type() != "string"; }

std::string range_text(const Rules& rules) {
  if (!rules.range_text.empty()) return rules.range_text;
  if (rules.minimum && rules.maximum) {
    return "must be between " + std::to_string(*rules.minimum) + " and " + std::to_string(*rules.maximum) + ", inclusive";
  }
  return rules.minimum ? "must be greater than or equal to " + std::to_string(*rules.minimum)
                       : "must be less than or equal to " + std::to_string(*rules.maximum);
}

// Copies a member from another object, if the enclosing objects exist.
void take(const std::vector<std::string>& names, Object& object, const Object& other) {
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

}  // namespace

void Checker::check_change(const Type& type, bool pointer, const Rules& rules, const Value* value, const Value* before,
                           const Place& place) {
  if (rules.immutable && (rules.as_set ? differ_as_sets(value, before) : differ_as(type, value, before))) {
    errors_.invalid_raw(place.path(), rules.unquoted ? "null" : printed(type, pointer, rules, value), rules.immutable_text);
  }
  if (!rules.once.empty() && !is_unset(before, false) && differ(value, before)) errors_.forbidden(place.path(), rules.once);
  if (!rules.stays.empty() && differ_as(type, value, before)) errors_.forbidden(place.path(), rules.stays);
  if (!rules.rising.empty() && !(pointer && is_unset(before, true)) && number_of(value) < number_of(before)) {
    errors_.invalid(place.path(), static_cast<long long>(number_of(value)), rules.rising);
  }
}

void Checker::check_not_set(const Type& type, const Rules& rules, const Object& object, const Value& value, const Place& place) {
  if (!rules.forbidden.empty()) errors_.forbidden(place.path(), rules.forbidden);
  if (rules.refused.empty()) return;
  errors_.invalid_raw(place.path(), to_json(rules.whole ? type.go_struct(object) : value), rules.refused);
}

void Checker::check_choice(const Type& type, const Rules& rules, const Object& object, const Value* value, const Place& place) {
  const std::string_view text = value != nullptr ? text_of(*value) : std::string_view();
  if (text.empty() && rules.required) return errors_.required(place.path(), rules.required_text);
  if (text.empty() && rules.optional.value_or(true)) return;
  if (std::find(rules.allowed.begin(), rules.allowed.end(), text) != rules.allowed.end()) return;
  const std::string quoted_whole = to_json(type.go_struct(object));
  if (!rules.allowed_text.empty()) return errors_.invalid_raw(place.path(), quoted_whole, rules.allowed_text);
  errors_.add({FieldErrorType::kNotSupported, place.path(), unsupported(quoted_whole, rules.allowed)});
}

void Checker::check_set(const Property& property, const Rules& rules, const Value* value, const Place& place) {
  const bool empty = is_unset(value, property.type->struct_like());
  if (rules.required && empty) {
    errors_.required(place.path(), rules.required_text);
    if (!rules.goes_on) return;
  } else if (empty && (rules.optional.value_or(property.omit == Omit::kEmpty) || property.pointer)) {
    const bool is_skipped = rules.optional.value_or(!property.pointer || is_unset(value, true));
    if (is_skipped) return;
  }
  check_value(*property.type, rules, value, place);
}

void Checker::check_value(const Type& type, const Rules& rules, const Value* value, const Place& place) {
  switch (type.form()) {
    case Form::kString:
    case Form::kBytes:
      return check_text(type, rules, value != nullptr ? text_of(*value) : std::string_view(), place);
    case Form::kInt32:
    case Form::kInt64:
    case Form::kIntOrString:
      return check_number(rules, value, place);
    case Form::kQuantity:
      return check_quantity(rules, value, place);
    case Form::kStruct:
      if (rules.label_selector && value != nullptr && value->is_object()) {
        check_label_selector(rules, value->get_object(), place);
      }
      return;
    case Form::kRawExtension:
      if (rules.json_object && value != nullptr && !value->is_null()) check_raw(rules, *value, place);
      return;
    case Form::kMap:
      if (value != nullptr && value->is_object()) check_map_here(type, rules, value->get_object(), place);
      return;
    case Form::kList:
      if (rules.conditions && value != nullptr && value->is_array()) check_conditions(value->get_array(), place, errors_);
      return;
    default:
      return;
  }
}

void Checker::check_raw(const Rules& rules, const Value& value, const Place& place) {
  const std::string printed = is_raw(value) ? std::string() : to_json(value);
  const std::string_view text = is_raw(value) ? raw_text(value) : std::string_view(printed);
  if (rules.max_length && text.size() > static_cast<std::size_t>(*rules.max_length)) {
    errors_.too_long(place.path(), "", static_cast<long long>(*rules.max_length));
  } else if (text.starts_with('{')) {
    return;
  } else if (!rules.json_object_text.empty()) {
    errors_.required(place.path(), rules.json_object_text);
  } else {
    errors_.invalid(place.path(), "<value omitted>", "must be a valid JSON object");
  }
}

void Checker::check_label_selector(const Rules& rules, const Object& selector, const Place& place) {
  FieldErrors found;
  validate_label_selector(selector, {}, found);
  if (found.empty()) return;
  validate_label_selector(selector, place.path(), errors_);
  if (!rules.selector_text.empty()) errors_.invalid_raw(place.path(), "null", rules.selector_text);
}

void Checker::check_map_here(const Type& type, const Rules& rules, const Object& map, const Place& place) {
  if (rules.labels) validate_labels(map, place.path(), errors_);
  if (rules.max_entries && map.size() > static_cast<std::size_t>(*rules.max_entries)) {
    return errors_.too_long(place.path(), "", static_cast<long long>(*rules.max_entries));
  }
  std::size_t bytes = 0;
  for (const auto& entry : map) {
    bytes += entry.key().size() + text_of(entry.value()).size();
    if (rules.keys != nullptr) check_text(type, *rules.keys, entry.key(), rules.keys->holder ? place : place.key(entry.key()));
  }
  if (rules.max_bytes && bytes > static_cast<std::size_t>(*rules.max_bytes)) {
    errors_.too_long(place.path(), "", static_cast<long long>(*rules.max_bytes));
  }
}

void Checker::check_text(const Type& type, const Rules& rules, std::string_view text, const Place& place) {
  if (rules.lowered) return check_plain_text(type, rules, lower_case(text), place);
  check_plain_text(type, rules, text, place);
}

void Checker::check_plain_text(const Type& type, const Rules& rules, std::string_view text, const Place& place) {
  // Go prints a text of a named type as JSON, any other one as %q.
  const auto invalid = [&](std::string_view problem) {
    if (is_named(type)) return errors_.invalid_raw(place.path(), to_json(Value(text)), problem);
    errors_.invalid(place.path(), text, problem);
  };
  if (!rules.non_empty.empty() && text.empty()) invalid(rules.non_empty);
  if (rules.trims_dot && text.ends_with('.')) text.remove_suffix(1);
  const bool qualified = rules.or_qualified && (text.find('/') != std::string_view::npos || !is_qualified_name(text).empty());
  if (!rules.allowed.empty() && !qualified && std::find(rules.allowed.begin(), rules.allowed.end(), text) == rules.allowed.end()) {
    if (rules.allowed_text.empty()) {
      const auto& names = rules.allowed_names.empty() ? rules.allowed : rules.allowed_names;
      errors_.add({FieldErrorType::kNotSupported, place.path(), unsupported(is_named(type) ? to_json(Value(text)) : quoted(text), names)});
    } else {
      invalid(rules.allowed_text);
    }
  }
  if (rules.max_length && text.size() > static_cast<std::size_t>(*rules.max_length)) {
    check_length(rules, text, place);
  }
  if (rules.domain_path) validate_domain_path(text, place.path(), errors_);
  if (rules.format == nullptr) return;
  const Problems problems = rules.format(text);
  if (rules.joined && !problems.empty()) return invalid(joined(problems));
  for (const std::string& problem : problems) invalid(problem);
}

void Checker::check_length(const Rules& rules, std::string_view text, const Place& place) {
  if (!rules.length_text.empty()) {
    errors_.invalid(place.path(), "", rules.length_text);
  } else if (!rules.range_text.empty()) {
    errors_.invalid(place.path(), text, rules.range_text);
  } else {
    errors_.too_long(place.path(), text, static_cast<long long>(*rules.max_length));
  }
}

void Checker::check_number(const Rules& rules, const Value* value, const Place& place) {
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

void Checker::check_number_or_percent(const Rules& rules, const Value* value, const Place& place) {
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

void Checker::check_quantity(const Rules& rules, const Value* value, const Place& place) {
  const std::string_view text = value != nullptr ? text_of(*value) : std::string_view("0");
  const int sign = compare_quantities(text, "0");
  if (rules.not_negative && sign < 0) errors_.invalid(place.path(), text, "must be greater than or equal to 0");
  if (rules.counted) {
    for (const std::string& problem : counted_quantity_problems(place.name, text)) errors_.invalid(place.path(), text, problem);
  }
  if (rules.positive && sign <= 0) {
    errors_.invalid(place.path(), text, rules.range_text.empty() ? std::string_view("must be greater than zero") : rules.range_text);
  }
}

void Checker::check_entries(const Rules& rules, const Value* value, const Place& place) {
  const Object* map = value != nullptr ? value->if_object() : nullptr;
  const bool all = map != nullptr && map->size() == rules.entries.size() &&
                   std::all_of(rules.entries.begin(), rules.entries.end(), [&](const std::string& key) { return map->contains(key); });
  if (!all) errors_.add({FieldErrorType::kNotSupported, place.path(), unsupported(value ? to_json(*value) : "null", rules.entries)});
}

void Checker::check_fixed(const Type& type, const Fixed& fixed, const Value* value, const Value* before, const Place& place) {
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
  const auto difference = compared != nullptr ? struct_difference(*compared, before_it, rest) : std::nullopt;
  if (difference) errors_.forbidden(place.path(), fixed.text + "\n" + *difference);
}

}  // namespace backplane::schema
