// Rules of lists: number of items, allowed items, and uniqueness.
#include <algorithm>
#include <set>

#include "schema/checker.hpp"
#include "schema/old_items.hpp"

namespace backplane::schema {

void Checker::check_list(const Type& type, const Rules* rules, const Array& list, const Value* old, const Place& place) {
  static const ListIdentity kAtomicList{ListKind::kAtomic, {}};
  const Body& body = type.body();
  if (body.items == nullptr || (rules == nullptr && !type.ruled_within())) return;
  const bool whole = rules != nullptr && rules->whole_list;
  for (const Rules* each = rules; each != nullptr && list.size() > 1; each = each->next.get()) {
    check_named(*each, list, place);
    if (!each->alone_forbidden) check_alone(*each, list, place);
  }
  const bool compares = old != nullptr && body.identity != nullptr && type.compares_within();
  const OldItems before(compares ? *body.identity : kAtomicList, old);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Place item{&place, {}, i, Place::Step::kIndex};
    check_item(body, list[i], before.of(list[i], i), whole ? place : item, &list, rules != nullptr ? rules->items.get() : nullptr);
  }
  for (const Rules* each = rules; each != nullptr; each = each->next.get()) {
    if (!each->per_family.empty()) check_families(*each, list, place);
    if (each->alone_forbidden && list.size() > 1) check_alone(*each, list, place);
    if (!each->unique_at.empty()) {
      check_unique_member(*each, list, place);
    } else if (each->unique.size() > 1) {
      check_unique_together(*body.items, *each, list, place);
    } else if (each->unique_items || !each->unique.empty()) {
      check_unique(*each, list, place);
    }
  }
}

void Checker::check_list_here(const Type& type, const Rules& rules, const Array& list, const Place& place) {
  if (rules.items == nullptr) return;
  const Type& items = *type.body().items;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Place item = place.item(i);
    check_value(items, *rules.items, &list[i], item);
    if (list[i].is_object()) check_members(items, *rules.items, list[i].get_object(), nullptr, item);
  }
}

bool Checker::is_too_long(const Rules& rules, const Value* value) {
  return rules.max_items && value != nullptr && value->is_array() && std::ssize(value->get_array()) > *rules.max_items;
}

void Checker::check_too_long(const Rules& rules, const Array& list, const Place& place) {
  if (!rules.max_items_text.empty()) return errors_.invalid_raw(place.path(), to_json(list), rules.max_items_text);
  errors_.too_many(place.path(), static_cast<long long>(list.size()), static_cast<long long>(*rules.max_items));
}

void Checker::check_families(const Rules& rules, const Array& list, const Place& place) {
  const auto six = [](const Value& item) { return text_of(item).find(':') != std::string_view::npos; };
  const bool good = list.size() < 2 || (list.size() == 2 && six(list[0]) != six(list[1]));
  if (!good) errors_.invalid_raw(place.path(), to_json(list), rules.per_family);
}

void Checker::check_allowed_item(const Rules& rules, const Value& item, const Array& list, const Place& place) {
  const bool allowed = std::find(rules.allowed.begin(), rules.allowed.end(), text_of(item)) != rules.allowed.end();
  // The error shows the whole list, unless the error is only counted.
  if (!allowed) errors_.invalid_raw(place.path(), errors_.left_out() > 0 ? std::string() : to_json(list), rules.allowed_text);
}

void Checker::check_named(const Rules& rules, const Array& list, const Place& place) {
  for (std::size_t i = 0; i < list.size() && !rules.named.empty(); ++i) {
    if (!list[i].is_object() || !is_unset(find(list[i].get_object(), rules.named), false)) continue;
    const Place item{&place, {}, i, Place::Step::kIndex};
    errors_.required(Place{&item, rules.named, 0, Place::Step::kMember}.path());
  }
}

void Checker::check_alone(const Rules& rules, const Array& list, const Place& place) {
  if (rules.alone.empty() || std::find(list.begin(), list.end(), Value(rules.alone_item)) == list.end()) return;
  if (rules.alone_forbidden) return errors_.forbidden(place.path(), rules.alone);
  errors_.invalid_raw(place.path(), to_json(list), rules.alone);
}

void Checker::check_unique(const Rules& rules, const Array& list, const Place& place) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value* key = &list[i];
    if (!rules.unique_items) key = list[i].is_object() ? find(list[i].get_object(), rules.unique[0]) : nullptr;
    const std::string_view text = text_of(key);
    if ((text.empty() && !rules.empty_too) || seen.insert(text).second) continue;
    const Place item = rules.whole_list ? place : place.item(i);
    if (rules.whole && !rules.unique_items) {
      errors_.duplicate_raw(item.path(), to_json(list[i]));
      continue;
    }
    errors_.duplicate(rules.unique_items ? item.path() : item.member(rules.unique[0]).path(), text);
  }
}

void Checker::check_unique_member(const Rules& rules, const Array& list, const Place& place) {
  std::set<std::string> seen;
  const bool at_item = rules.unique_at == ".";
  const std::string& quoted = at_item ? rules.unique[0] : rules.unique_at;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value* blamed = list[i].is_object() ? find(list[i].get_object(), quoted) : nullptr;
    if (is_unset(blamed, false)) continue;
    std::string key;
    for (const std::string& name : rules.unique) {
      if (const Value* value = find(list[i].get_object(), name)) key += to_json(*value);
    }
    const Place item = place.item(i);
    if (seen.insert(std::move(key)).second) continue;
    errors_.duplicate_raw(at_item ? item.path() : item.member(quoted).path(), to_json(*blamed));
  }
}

void Checker::check_unique_together(const Type& items, const Rules& rules, const Array& list, const Place& place) {
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

}  // namespace backplane::schema
