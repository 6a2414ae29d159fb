// Strategic merge patch: apimachinery's strategicpatch on trees.
//
// Lists of a "merge" property are merged by their key instead of replaced; members that begin with '$' are directives.
// Errors: kNone (500) with upstream's text for what a patch cannot say; kBadRequest for malformed directives.
#include <algorithm>

#include "schema/type.hpp"

namespace backplane::schema {
namespace {

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDeleteFromList = "$deleteFromPrimitiveList";
constexpr std::string_view kSetOrder = "$setElementOrder";

Status failure(std::string message) { return Status(500, Reason::kNone, std::move(message)); }

// What the type of an object says of one of its members.
struct Member {
  const Type* type = nullptr;  // of the member; of its items when it is a list
  const Property* property = nullptr;
  std::string_view merge_key() const noexcept { return property->merge_key; }
};

Status look_up(const Type* type, std::string_view key, bool list, Member& out) {
  const bool is_struct = type && type->form() == Form::kStruct;
  if (!is_struct)
    return failure("merging an object in json but data type is not struct, instead is: " +
                   std::string(type && type->form() == Form::kMap ? "map" : "slice"));
  const int index = type->body().find(key, 0);
  if (index < 0) {
    return failure("unable to find api field in struct " + std::string(type->go_struct_name()) + " for the json field " + quoted(key));
  }
  out.property = &type->body().properties[static_cast<std::size_t>(index)];
  out.type = list ? out.property->type->body().items : out.property->type;
  return {};
}

std::string_view go_kind(const Value& value) noexcept {
  if (value.is_object()) return "map[string]interface {}";
  if (value.is_array()) return "[]interface {}";
  if (value.is_string()) return "string";
  if (value.is_bool()) return "bool";
  return value.is_double() ? "float64" : value.is_null() ? "%!s(<nil>)" : "int64";
}

Status bad_argument(std::string_view expected, const Value& value) {
  return failure("expected a " + std::string(expected) + ", but received a " + std::string(go_kind(value)));
}
Status no_merge_key(const Value& item, std::string_view key) {
  return failure("map: " + go_print(item) + " does not contain declared merge key: " + std::string(key));
}
Status bad_directive(const Value& directive, const Value& holder) {
  return failure("unknown patch type: " + go_print(directive) + " in map: " + go_print(holder));
}

bool is(const Value* value, std::string_view text) noexcept { return value && value->is_string() && value->get_string() == text; }
const Value* directive_of(const Value& value) noexcept { return value.is_object() ? find(value.get_object(), kDirective) : nullptr; }

// Drops directives, and whatever holds one, from a value that has nothing to be merged into.  False: the value itself goes.
bool strip_directives(Value& value) {
  if (value.is_object()) {
    if (find(value.get_object(), kDirective)) return false;
    std::vector<std::string> dropped;
    for (auto& member : value.get_object()) {
      if (!strip_directives(member.value())) dropped.emplace_back(member.key());
    }
    for (const std::string& key : dropped) erase_member(value.get_object(), key);
  } else if (value.is_array()) {
    Array& array = value.get_array();
    for (std::size_t i = 0; i < array.size();) {
      if (strip_directives(array[i]))
        ++i;
      else
        array.erase(array.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return true;
}

void drop_nulls(Value& value) {
  if (value.is_array()) {
    for (Value& item : value.get_array()) drop_nulls(item);
  } else if (value.is_object()) {
    std::vector<std::string> dropped;
    for (auto& member : value.get_object()) {
      if (member.value().is_null())
        dropped.emplace_back(member.key());
      else
        drop_nulls(member.value());
    }
    for (const std::string& key : dropped) erase_member(value.get_object(), key);
  }
}

// ---- lists

// What identifies an item: itself, or its merge key's value (null when it has none).
const Value* identity(const Value& item, std::string_view merge_key) noexcept {
  if (!item.is_object()) return merge_key.empty() ? &item : nullptr;
  return find(item.get_object(), merge_key);
}

std::ptrdiff_t index_in(const Array& list, const Value& item, std::string_view merge_key) noexcept {
  const Value* wanted = identity(item, merge_key);
  if (!wanted) return -1;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value* have = identity(list[i], merge_key);
    if (have && *have == *wanted) return static_cast<std::ptrdiff_t>(i);
  }
  return -1;
}

Status check_items(const Array& one, const Array& other, bool& maps) {
  const Value* first = !one.empty() ? &one.front() : !other.empty() ? &other.front() : nullptr;
  if (!first) return failure("no elements in any of the given slices");
  if (first->is_array()) {
    return Status(422, Reason::kInvalid, "the server rejected our request due to an error in our request").with_details({});
  }
  for (const Array* list : {&one, &other}) {
    for (const Value& item : *list) {
      if (go_kind(item) != go_kind(*first))
        return failure("list element types are not identical: [" + go_print(one) + " " + go_print(other) + "]");
    }
  }
  maps = first->is_object();
  return {};
}

// Items of `list` in the order of `order`; those that are not in it stay behind those before them.
void sort_by(Array& list, const Array& order, std::string_view merge_key) {
  std::vector<std::pair<std::ptrdiff_t, std::size_t>> places;
  for (std::size_t i = 0; i < list.size(); ++i) places.emplace_back(index_in(order, list[i], merge_key), i);
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& a, const auto& b) { return a.first >= 0 && b.first >= 0 && a.first < b.first; });
  Array out(list.storage());
  out.reserve(list.size());
  for (const auto& place : places) out.push_back(std::move(list[place.second]));
  list = std::move(out);
}

// The merged items in their final order: those that `wanted` names in its order, the server's own woven in by the live order.
Status weave(Array& merged, const Array& wanted, const Array& live, std::string_view merge_key) {
  Array patch_items(merged.storage()), server_items(merged.storage());
  for (Value& item : merged) {
    if (!merge_key.empty() && !identity(item, merge_key)) return no_merge_key(item, merge_key);
    (index_in(wanted, item, merge_key) >= 0 ? patch_items : server_items).push_back(std::move(item));
  }
  sort_by(patch_items, wanted, merge_key);
  sort_by(server_items, live, merge_key);
  Array out(merged.storage());
  out.reserve(merged.size());
  std::size_t server = 0, patch = 0;
  while (server < server_items.size() || patch < patch_items.size()) {
    bool take_server = patch >= patch_items.size();
    if (!take_server && server < server_items.size()) {
      const auto l = index_in(live, server_items[server], merge_key), r = index_in(live, patch_items[patch], merge_key);
      take_server = l >= 0 && r >= 0 && l < r;
    }
    out.push_back(take_server ? std::move(server_items[server++]) : std::move(patch_items[patch++]));
  }
  merged = std::move(out);
  return {};
}

Status merge_object(Object& original, Object patch, const Type* type);

// Takes items with a directive out of `patch`, and does what they say to `original`.
Status apply_special_items(Array& original, Array& patch, std::string_view merge_key) {
  Array plain(patch.storage());
  bool replace = false;
  for (Value& item : patch) {
    const Value* directive = directive_of(item);
    if (!directive) {
      plain.push_back(std::move(item));
    } else if (is(directive, "delete")) {
      if (!identity(item, merge_key)) return no_merge_key(item, merge_key);
      for (std::ptrdiff_t at; (at = index_in(original, item, merge_key)) >= 0;) original.erase(original.begin() + at);
    } else if (is(directive, "replace")) {
      replace = true;
    } else if (is(directive, "merge")) {
      return failure("merging lists cannot yet be specified in the patch");
    } else {
      return bad_directive(*directive, item);
    }
  }
  if (replace) {
    original = std::move(plain);
    plain = Array(patch.storage());
  }
  patch = std::move(plain);
  return {};
}

Status merge_maps(Array& original, const Array& patch, const Type* items, std::string_view merge_key) {
  for (const Value& item : patch) {
    if (!identity(item, merge_key)) return no_merge_key(item, merge_key);
    const std::ptrdiff_t at = index_in(original, item, merge_key);
    if (at < 0) {
      original.push_back(item);
    } else if (Status status = merge_object(original[static_cast<std::size_t>(at)].get_object(), item.get_object(), items); !status.ok()) {
      return status;
    }
  }
  return {};
}

void merge_scalars(Array& original, const Array& patch) {
  for (const Value& item : patch) original.push_back(item);
  Array out(original.storage());
  for (Value& item : original) {
    if (std::find(out.begin(), out.end(), item) == out.end()) out.push_back(std::move(item));
  }
  original = std::move(out);
}

Status merge_list(Array& original, Array patch, const Member& member, bool deletions) {
  if (!member.property->patch_merge && !deletions) {
    original = std::move(patch);
    return {};
  }
  if (original.empty() && patch.empty()) return {};
  bool maps = false;
  if (Status status = check_items(original, patch, maps); !status.ok()) return status;
  if (!maps && deletions) {
    for (const Value& item : patch) {
      for (std::ptrdiff_t at; (at = index_in(original, item, {})) >= 0;) original.erase(original.begin() + at);
    }
    return {};
  }
  const std::string_view merge_key = maps ? member.merge_key() : std::string_view();
  if (!maps) {
    const Array live(original, original.storage());
    merge_scalars(original, patch);
    return weave(original, patch, live, merge_key);
  }
  if (merge_key.empty()) return failure("cannot merge lists without merge key for slice");
  if (Status status = apply_special_items(original, patch, merge_key); !status.ok()) return status;
  const Array live(original, original.storage());
  if (Status status = merge_maps(original, patch, member.type, merge_key); !status.ok()) return status;
  return weave(original, patch, live, merge_key);
}

// ---- objects

Status apply_retain_keys(Object& original, Object& patch) {
  const Value* directive = find(patch, kRetainKeys);
  if (!directive) return {};
  const Value list = *directive;
  erase_member(patch, kRetainKeys);
  if (!list.is_array()) return bad_request("invalid patch format of retainKeys");
  auto retained = [&](std::string_view key) {
    return std::any_of(list.get_array().begin(), list.get_array().end(), [&](const Value& item) { return is(&item, key); });
  };
  for (const auto& member : patch) {
    const std::string_view key = member.key();
    const bool free = member.value().is_null() || key.starts_with(kDeleteFromList) || key.starts_with(kSetOrder);
    if (!free && !retained(key)) return bad_request("invalid patch format of retainKeys");
  }
  std::vector<std::string> dropped;
  for (const auto& member : original) {
    if (!retained(member.key())) dropped.emplace_back(member.key());
  }
  for (const std::string& key : dropped) erase_member(original, key);
  return {};
}

// The items of a patch list stand in the order of its $setElementOrder list, which names all of them.
Status check_order(const Array& patch, const Array& order, std::string_view merge_key) {
  if (order.empty() || patch.empty()) return {};
  std::size_t at = 0, place = 0;
  while (at < patch.size() && place < order.size()) {
    if (directive_of(patch[at])) {
      ++at;
      continue;
    }
    const Value* wanted = identity(patch[at], merge_key);
    const Value* named = identity(order[place], merge_key);
    if (!wanted || !named) return no_merge_key(wanted ? order[place] : patch[at], merge_key);
    if (*wanted == *named) ++at;
    ++place;
  }
  while (at < patch.size() && is(directive_of(patch[at]), "delete")) ++at;
  if (at >= patch.size()) return {};
  return failure("The order in patch list:\n" + go_print(Value(patch)) + "\n doesn't match " + std::string(kSetOrder) + " list:\n" +
                 go_print(Value(order)) + "\n");
}

Status apply_order(Object& original, Object& patch, const Type* type, std::string_view directive, const Value& order) {
  if (!order.is_array()) return bad_argument("[]interface {}", order);
  const std::size_t slash = directive.find('/');
  if (slash != kSetOrder.size()) return bad_request("invalid patch format of setElementOrder list");
  const std::string key(directive.substr(slash + 1));
  Value* live = find(original, key);
  Value* changed = find(patch, key);
  if (live && !live->is_array()) return bad_argument("[]interface {}", *live);
  if (changed && !changed->is_array()) return bad_argument("[]interface {}", *changed);
  Member member;
  if (Status status = look_up(type, key, true, member); !status.ok()) return status;
  const std::string_view merge_key = member.merge_key();
  const Array nothing;
  if (Status status = check_order(changed ? changed->get_array() : nothing, order.get_array(), merge_key); !status.ok()) return status;
  if (!live && !changed) return {};
  Array merged(original.storage());
  const Array before = live ? live->get_array() : Array(original.storage());
  if (live) merged = live->get_array();
  if (changed && !live) {
    Value fresh = *changed;
    strip_directives(fresh);
    merged = std::move(fresh.get_array());
  } else if (changed) {
    if (Status status = merge_list(merged, changed->get_array(), member, false); !status.ok()) return status;
  }
  bool maps = false;
  if (Status status = check_items(before, changed ? changed->get_array() : nothing, maps); !status.ok()) return status;
  if (Status status = weave(merged, order.get_array(), before, maps ? merge_key : std::string_view()); !status.ok()) return status;
  original.insert_or_assign(key, std::move(merged));
  erase_member(patch, key);
  return {};
}

Status apply_orders(Object& original, Object& patch, const Type* type) {
  std::vector<std::string> directives;
  for (const auto& member : patch) {
    if (std::string_view(member.key()).starts_with(kSetOrder)) directives.emplace_back(member.key());
  }
  for (const std::string& directive : directives) {
    const Value order = std::move(*find(patch, directive));
    erase_member(patch, directive);
    if (Status status = apply_order(original, patch, type, directive, order); !status.ok()) return status;
  }
  return {};
}

Status merge_present(Value& present, Value& change, const Type* type, std::string_view key, bool deletions) {
  Member member;
  if (Status status = look_up(type, key, present.is_array(), member); !status.ok()) return status;
  if (present.is_array()) return merge_list(present.get_array(), std::move(change.get_array()), member, deletions);
  if (member.property->patch_replace) {
    present = std::move(change);
    return {};
  }
  return merge_object(present.get_object(), std::move(change.get_object()), member.type);
}

Status merge_member(Object& original, std::string_view key, Value& change, const Type* type) {
  bool deletions = false;
  if (key.starts_with(kDeleteFromList)) {
    const std::size_t slash = key.find('/');
    if (slash != kDeleteFromList.size()) return bad_request("invalid patch format of primitive list");
    key = key.substr(slash + 1);
    deletions = true;
  }
  if (change.is_null()) {
    erase_member(original, key);
    return {};
  }
  Value* present = find(original, key);
  const bool composed = present && ((present->is_object() && change.is_object()) || (present->is_array() && change.is_array()));
  if (composed) return merge_present(*present, change, type, key, deletions);
  if (deletions) return {};
  drop_nulls(change);
  if (!strip_directives(change)) {
    erase_member(original, key);
  } else {
    original.insert_or_assign(key, std::move(change));
  }
  return {};
}

Status merge_object(Object& original, Object patch, const Type* type) {
  if (const Value* directive = find(patch, kDirective)) {
    if (is(directive, "replace")) {
      erase_member(patch, kDirective);
      original = std::move(patch);
      return {};
    }
    if (!is(directive, "delete")) return bad_directive(*directive, Value(patch));
    original.clear();
    return {};
  }
  if (Status status = apply_retain_keys(original, patch); !status.ok()) return status;
  if (Status status = apply_orders(original, patch, type); !status.ok()) return status;
  for (auto& member : patch) {
    if (Status status = merge_member(original, member.key(), member.value(), type); !status.ok()) return status;
  }
  return {};
}

}  // namespace

Status Type::strategic_merge(Value& target, const Value& patch) const {
  if (structural()) return bad_request("strategic merge patch format is not supported");
  if (!patch.is_object())
    return bad_request("json: cannot unmarshal " +
                       std::string(patch.is_array()    ? "array"
                                   : patch.is_string() ? "string"
                                   : patch.is_bool()   ? "bool"
                                   : patch.is_null()   ? "null"
                                                       : "number") +
                       " into Go value of type map[string]interface {}");
  if (!target.is_object()) target = Object(target.storage());
  return merge_object(target.get_object(), Object(patch.get_object(), target.storage()), this);
}

}  // namespace backplane::schema
