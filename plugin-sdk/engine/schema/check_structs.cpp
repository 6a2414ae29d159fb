// Rules that relate several members of a struct: unions, limits, frozen members, errors of the struct itself.
#include <algorithm>

#include "schema/checker.hpp"

namespace backplane::schema {
namespace {

// The number of bytes that a base64 text encodes.
std::size_t decoded_size(std::string_view text) noexcept {
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  return text.size() / 4 * 3 - (text.empty() ? 0 : padding);
}

bool is_beyond(StructRules::Limit::Side side, std::int64_t number, std::int64_t limit) {
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

// The part of the struct that an error quotes.
std::string shown_by(const StructRules::Blame& row, const Type& type, const Object& object) {
  if (row.whole) return to_json(type.go_struct(object));
  if (row.quotes.empty()) return row.shows;
  const Value* member = find(object, row.quotes);
  return member != nullptr ? to_json(*member) : "null";
}

}  // namespace

bool Checker::is_alternative(const Property& property, const StructRules& rules) {
  return property.pointer && property.type->form() == Form::kStruct &&
         std::find(rules.union_except.begin(), rules.union_except.end(), property.name) == rules.union_except.end();
}

std::string_view Checker::check_together(const Type& type, const StructRules& rules, const Object& object, const Members& members,
                                         const Object* old, const Place& place) {
  if (old != nullptr && !rules.frozen_by.empty()) check_frozen(rules, object, *old, place);
  if (old != nullptr && !rules.frozen_text.empty()) check_thawed(type, rules, object, *old, place);
  if (!rules.distinct.empty()) check_distinct(rules, object, place);
  if (!rules.any_of.empty()) check_any(rules, object, place);
  if (!rules.counted.empty()) check_size(type, rules, object, place);
  if (!rules.is_union) return {};
  return rules.union_by.empty() ? check_union(type.body(), rules, object, members, place) : check_named_union(rules, object, place);
}

std::string_view Checker::check_union(const Body& body, const StructRules& rules, const Object& object, const Members& members,
                                      const Place& place) {
  std::string_view chosen;
  const auto look_at = [&](std::string_view name, const Value* value) {
    if (value == nullptr || value->is_null()) return;
    if (chosen.empty()) {
      chosen = name;
      return;
    }
    const auto other = std::find_if(rules.union_as.begin(), rules.union_as.end(), [&](const auto& row) { return row.first == name; });
    const std::string_view blamed = other != rules.union_as.end() ? std::string_view(other->second) : name;
    if (!blamed.empty()) errors_.forbidden(place.member(blamed).path(), rules.many_text);
  };
  const auto& order = rules.union_order;
  for (const std::string& name : order) look_at(name, find(object, name));
  for (std::size_t index = 0; index < members.size(); ++index) {
    const Property& property = body.properties[index];
    if (members[index] == nullptr || !is_alternative(property, rules)) continue;
    if (std::find(order.begin(), order.end(), property.name) == order.end()) look_at(property.name, members[index]);
  }
  if (chosen.empty() && !rules.none_text.empty()) errors_.required(place.path(), rules.none_text);
  return chosen;
}

std::string_view Checker::check_named_union(const StructRules& rules, const Object& object, const Place& place) {
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

void Checker::check_frozen(const StructRules& rules, const Object& object, const Object& old, const Place& place) {
  if (!get_bool(old, rules.frozen_by).value_or(false)) return;
  const std::string text = "field is immutable when `" + rules.frozen_by + "` is set";
  const auto forbid = [&](std::string_view name) { errors_.forbidden(Place{&place, name, 0, Place::Step::kMember}.path(), text); };
  if (!get_bool(object, rules.frozen_by).value_or(false)) forbid(rules.frozen_by);
  for (const std::string& name : rules.frozen) {
    if (differ(find(object, name), find(old, name))) forbid(name);
  }
}

void Checker::check_thawed(const Type& type, const StructRules& rules, const Object& object, const Object& old, const Place& place) {
  const auto changed = [&](const Property& property) {
    const bool may = std::find(rules.thawed.begin(), rules.thawed.end(), property.name) != rules.thawed.end();
    return !may && differ(find(object, property.name), find(old, property.name));
  };
  const auto& properties = type.body().properties;
  if (std::any_of(properties.begin(), properties.end(), changed)) errors_.forbidden(place.path(), rules.frozen_text);
}

void Checker::check_any(const StructRules& rules, const Object& object, const Place& place) {
  if (!hold(rules.any_when, object, &root_)) return;
  const auto filled = [&](const std::string& name) { return !is_unset(find_path(object, name), false); };
  if (std::none_of(rules.any_of.begin(), rules.any_of.end(), filled)) errors_.required(place.path(), rules.any_text);
}

void Checker::check_limits(const StructRules& rules, const Object& object, const Place& place) {
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

void Checker::check_blames(const Type& type, const StructRules& rules, const Object& object, const Place& place) {
  using Kind = StructRules::Blame::Kind;
  for (const StructRules::Blame& row : rules.blames) {
    if (!hold(row.when, object, &root_) || (!row.unless.empty() && hold(row.unless, object, &root_))) continue;
    if (row.kind == Kind::kRequired) errors_.required(place.path(), row.text);
    if (row.kind == Kind::kForbidden) errors_.forbidden(place.path(), row.text);
    if (row.kind == Kind::kInvalid) errors_.invalid_raw(place.path(), shown_by(row, type, object), row.text);
  }
}

void Checker::check_order(const StructRules::Order& order, const Object& object, const Place& place) {
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

void Checker::check_keys(const StructRules::Keys& rule, const Object& object, const Place& place) {
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

void Checker::check_distinct(const StructRules& rules, const Object& object, const Place& place) {
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

void Checker::check_size(const Type& type, const StructRules& rules, const Object& object, const Place& place) {
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

}  // namespace backplane::schema
