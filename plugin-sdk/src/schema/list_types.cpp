// Lists that are sets or maps: no item, no key twice.
#include <algorithm>
#include <map>

#include "schema/findings.hpp"

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

void check_list(const Array& array, const Constraints& rule, const Place& place, FieldErrors& errors) {
  const auto at = [&](std::size_t i) { return place.item(i).path(); };
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
  const auto key = [&](std::size_t i) { return to_json(list_key_of(array[i], rule.list_map_keys)); };
  for_repeated(array.size(), key, [&](std::size_t i) { errors.duplicate_raw(at(i), key(i)); });
}

class Walk {
 public:
  explicit Walk(FieldErrors& errors) : errors_(errors), left_(kMaxFoundBytes) {}

  void value(const Value& value, const Type& type, const Place& place) {
    if (left_ == 0) return;
    const Body& body = type.body();
    if (value.is_array() && type.form() == Form::kList) {
      const Array& array = value.get_array();
      if (body.constraints && body.constraints->list_kind != ListKind::kAtomic) list(array, *body.constraints, place);
      for (std::size_t i = 0; body.items != nullptr && i < array.size(); ++i) this->value(array[i], *body.items, place.item(i));
    } else if (value.is_object() && type.form() != Form::kList) {
      for (const auto& member : value.get_object()) {
        const int index = body.find(member.key(), 0);
        if (index >= 0) {
          this->value(member.value(), *body.properties[static_cast<std::size_t>(index)].type, place.member(member.key()));
        } else if (body.items) {
          this->value(member.value(), *body.items, place.key(member.key()));
        }
      }
    }
  }

 private:
  void list(const Array& array, const Constraints& rule, const Place& place) {
    FieldErrors found;
    check_list(array, rule, place, found);
    left_ -= std::min(left_, bytes_of(found));
    for (const FieldError& error : found.list()) errors_.add(error);
  }

  FieldErrors& errors_;
  std::size_t left_;
};

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
  Walk(errors).value(value, type, place);
}

}  // namespace backplane::schema
