// Checks lists that are sets or maps for repeated items or keys.
#include <map>

#include "schema/findings.hpp"
#include "schema/value_walk.hpp"

namespace backplane::schema {
namespace {

// Calls `report` with the index of each second occurrence.
template <class Text, class Report>
void for_repeated(std::size_t count, Text text, Report report) {
  std::map<std::string, int> seen;
  for (std::size_t i = 0; i < count; ++i) {
    if (++seen[text(i)] == 2) report(i);
  }
}

// The identity of an item, or of its only key.  As upstream, a float64 differs from the int64 of the same value, -0.0 equals 0.0, and
// numbers inside lists and objects are compared by their text.
std::string seen_as(const Value& value) {
  if (!value.is_double()) return to_json(value);
  return "float " + (value.get_double() == 0 ? std::string("0") : to_json(value));
}

void check_list(const Array& array, const Constraints& rule, const Place& place, FieldErrors& errors) {
  const auto at = [&](std::size_t i) { return place.item(i).path(); };
  if (rule.items.kind == ListKind::kSet) {
    for_repeated(
        array.size(), [&](std::size_t i) { return seen_as(array[i]); },
        [&](std::size_t i) { errors.duplicate_raw(at(i), to_json(array[i])); });
    return;
  }
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (array[i].is_object() || array[i].is_null()) continue;
    return errors.invalid_raw(at(i), to_json(array[i]), "must be an object for an array of list-type map");
  }
  const auto key = [&](std::size_t i) { return list_key_of(array[i], rule.items.keys); };
  const auto seen = [&](std::size_t i) {
    const Object fields = key(i);
    return rule.items.keys.size() == 1 && !fields.empty() ? seen_as(fields.begin()->value()) : to_json(fields);
  };
  for_repeated(array.size(), seen, [&](std::size_t i) { errors.duplicate_raw(at(i), to_json(key(i))); });
}

void look(const Value& value, const Constraints& rule, const Place& place, FieldErrors& found) {
  const bool distinct = rule.items.kind == ListKind::kSet || rule.items.kind == ListKind::kMap;
  if (distinct && value.is_array()) check_list(value.get_array(), rule, place, found);
}

}  // namespace

Object list_key_of(const Value& item, const std::vector<std::string>& fields) {
  Object key;
  if (!item.is_object()) return key;
  for (const std::string& field : fields) {
    if (const Value* value = find(item.get_object(), field)) key.emplace(field, *value);
  }
  return key;
}

void check_list_types(const Value& value, const Type& type, const Place& place, FieldErrors& errors) {
  ValueWalk(look, errors).walk(value, type, place);
}

}  // namespace backplane::schema
