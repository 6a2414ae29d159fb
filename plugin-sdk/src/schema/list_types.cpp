// Lists that are sets or maps: no item, no key twice.
#include <map>

#include "schema/findings.hpp"

namespace backplane::schema {
namespace {

// The key of an item as an object of its key fields; those it does not have are left out.
Object key_of(const Value& item, const std::vector<std::string>& fields) {
  Object key;
  if (!item.is_object()) return key;
  for (const std::string& field : fields) {
    if (const Value* value = find(item.get_object(), field)) key.emplace(field, *value);
  }
  return key;
}

// Calls `report` with the index of each second occurrence.
template <class Text, class Report>
void for_repeated(std::size_t count, Text text, Report report) {
  std::map<std::string, int> seen;
  for (std::size_t i = 0; i < count; ++i) {
    if (++seen[text(i)] == 2) report(i);
  }
}

void check_list(const Array& array, const Constraints& rule, const std::string& path, FieldErrors& errors) {
  auto at = [&](std::size_t i) { return path + "[" + std::to_string(i) + "]"; };
  if (rule.list_kind == ListKind::kSet) {
    for_repeated(
        array.size(), [&](std::size_t i) { return to_json(array[i]); },
        [&](std::size_t i) { errors.duplicate_raw(at(i), to_json(array[i])); });
    return;
  }
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (array[i].is_object() || array[i].is_null()) continue;
    return errors.invalid_raw(at(i), to_json(array[i]), "must be an object for an array of list-type map");
  }
  auto key = [&](std::size_t i) { return to_json(key_of(array[i], rule.list_map_keys)); };
  for_repeated(array.size(), key, [&](std::size_t i) { errors.duplicate_raw(at(i), key(i)); });
}

}  // namespace

void check_list_types(const Value& value, const Type& type, const std::string& path, FieldErrors& errors) {
  const Body& body = type.body();
  if (value.is_array() && type.form() == Form::kList) {
    if (body.constraints && body.constraints->list_kind != ListKind::kAtomic)
      check_list(value.get_array(), *body.constraints, path, errors);
    if (!body.items) return;
    for (std::size_t i = 0; i < value.get_array().size(); ++i) {
      check_list_types(value.get_array()[i], *body.items, path + "[" + std::to_string(i) + "]", errors);
    }
  } else if (value.is_object() && type.form() != Form::kList) {
    for (const auto& member : value.get_object()) {
      const std::string key(member.key());
      const int index = body.find(key, 0);
      if (index >= 0) {
        check_list_types(member.value(), *body.properties[static_cast<std::size_t>(index)].type, path.empty() ? key : path + "." + key,
                         errors);
      } else if (body.items) {
        check_list_types(member.value(), *body.items, path + "[" + key + "]", errors);
      }
    }
  }
}

}  // namespace backplane::schema
