#include "fields/items.hpp"

namespace backplane::fields {
namespace {

std::string quoted_list(const std::vector<std::string>& names) {
  std::string out = "[";
  for (const std::string& name : names) {
    if (out.size() > 1) out += ' ';
    out += quoted(name);
  }
  return out + "]";
}

std::optional<PathElement> no_element(std::string* why, std::string text) {
  if (why != nullptr) *why = std::move(text);
  return std::nullopt;
}

std::optional<PathElement> keyed_element(const ListForm& list, const Value& item, std::string* why) {
  if (item.is_null()) return no_element(why, "associative list with keys may not have a null element");
  if (!item.is_object()) return no_element(why, "associative list with keys may not have non-map elements");
  std::vector<PathElement::Member> members;
  members.reserve(list.keys.size());
  for (const std::string& key : list.keys) {
    const Value* value = find(item.get_object(), key);
    if (value == nullptr) {
      const MapForm* map = form_of(list.items).map;
      if (map == nullptr)
        return no_element(why, "couldn't find default value for " + key + ": associative list may not have non-map types");
      const MapForm::Field* field = map->find(key);
      // Without a default, an item without the member differs from one with it.
      if (field == nullptr || !field->default_value) continue;
      value = &*field->default_value;
    }
    members.push_back({key, value});
  }
  if (members.empty())
    return no_element(why, "associative list with keys has an element that omits all key fields " + quoted_list(list.keys) +
                               " (and doesn't have default values for any key fields)");
  return PathElement::key(members);
}

}  // namespace

std::optional<PathElement> element_of(const ListForm& list, const Value& item, std::string* why) {
  if (!list.keys.empty()) return keyed_element(list, item, why);
  if (item.is_object()) return no_element(why, "associative list without keys has an element that's a map type");
  if (item.is_array()) return no_element(why, "not supported: associative list with lists as elements");
  if (item.is_null()) return no_element(why, "associative list without keys has an element that's an explicit null");
  return PathElement::value(item);
}

ItemIndex::ItemIndex(const ListForm& form, const Array* list, Problems* problems) {
  if (list == nullptr) return;
  items_.reserve(list->size());
  std::string why;
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto element = element_of(form, (*list)[i], problems == nullptr ? nullptr : &why);
    if (element)
      items_.push_back({std::move(*element), &(*list)[i]});
    else if (problems != nullptr)
      problems->add("element " + std::to_string(i) + ": " + why);
  }
  if (few()) return;
  places_.reserve(items_.size());
  for (const Item& item : items_) {
    Found& found = places_[item.element.code()];
    if (found.count++ == 0) found.first = item.value;
  }
}

ItemIndex::Found ItemIndex::find(const PathElement& element) const {
  Found out;
  if (!few()) {
    const auto at = places_.find(element.code());
    return at == places_.end() ? out : at->second;
  }
  for (const Item& item : items_) {
    if (item.element == element && out.count++ == 0) out.first = item.value;
  }
  return out;
}

std::vector<const Value*> ItemIndex::all(const PathElement& element) const {
  std::vector<const Value*> out;
  for (const Item& item : items_) {
    if (item.element == element) out.push_back(item.value);
  }
  return out;
}

}  // namespace backplane::fields
