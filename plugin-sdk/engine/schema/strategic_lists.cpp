// Lists in a strategic merge patch.  Items are found by hashed keys, so that the cost is linear in the size of the request.
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "schema/members.hpp"
#include "schema/strategic.hpp"

namespace backplane::schema::strategic {
namespace {

Status no_merge_key(const Value& item, std::string_view key) {
  return failure("map: " + go_print(item) + " does not contain declared merge key: " + std::string(key));
}

Status not_a_map(const Value& item) {
  return failure("expected a map[string]interface {}, but received a " + std::string(go_type_of(item)));
}

// Checks that every item is an object that has the merge key.
Status check_merge_keys(const Array& list, std::string_view merge_key) {
  for (const Value& item : list) {
    if (!item.is_object()) return not_a_map(item);
    if (!find(item.get_object(), merge_key)) return no_merge_key(item, merge_key);
  }
  return {};
}

// The identity of an item: itself, or its merge key's value (null if missing).
const Value* identity(const Value& item, std::string_view merge_key) noexcept {
  if (!item.is_object()) return merge_key.empty() ? &item : nullptr;
  return find(item.get_object(), merge_key);
}

// The text of an item's identity.  In Go 80 and 80.0 are two values, an int64 and a float64.
std::string identity_text(const Value& key) { return key.is_double() ? "float64 " + to_json(key) : to_json(key); }

// The index of each item of a list, by its identity.
class Places {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  Places(const Array& list, std::string_view merge_key) : merge_key_(merge_key) {
    for (std::size_t i = 0; i < list.size(); ++i) add(list[i], i);
  }
  // The first of equal items keeps its place.
  bool add(const Value& item, std::size_t place) {
    const Value* key = identity(item, merge_key_);
    return key && places_.emplace(identity_text(*key), place).second;
  }
  std::size_t of(const Value& item) const {
    const Value* key = identity(item, merge_key_);
    if (!key) return kNone;
    const auto found = places_.find(identity_text(*key));
    return found == places_.end() ? kNone : found->second;
  }

 private:
  std::string_view merge_key_;
  std::unordered_map<std::string, std::size_t> places_;
};

// Sorts `list` by `order`; items that are not in `order` come last.
void sort_by(Array& list, const Places& order) {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  places.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) places.emplace_back(order.of(list[i]), i);
  std::sort(places.begin(), places.end());
  Array out(list.storage());
  out.reserve(list.size());
  for (const auto& place : places) out.push_back(std::move(list[place.second]));
  list = std::move(out);
}

// Removes the items that `unwanted` names.
void remove_named(Array& list, const Array& unwanted, std::string_view merge_key) {
  const Places names(unwanted, merge_key);
  keep_items(list, [&](const Value& item) { return names.of(item) == Places::kNone; });
}

// Removes items with a directive from `patch`, and applies them to `original`.
Status apply_special_items(Array& original, Array& patch, std::string_view merge_key) {
  Array plain(patch.storage()), deleted(patch.storage());
  bool replace = false;
  for (Value& item : patch) {
    const Value* directive = directive_of(item);
    if (!directive) {
      plain.push_back(std::move(item));
    } else if (is(directive, "delete")) {
      if (!identity(item, merge_key)) return no_merge_key(item, merge_key);
      deleted.push_back(std::move(item));
    } else if (is(directive, "replace")) {
      replace = true;
    } else if (is(directive, "merge")) {
      return failure("merging lists cannot yet be specified in the patch");
    } else {
      return bad_directive(*directive, item);
    }
  }
  remove_named(original, deleted, merge_key);
  if (replace) {
    original = std::move(plain);
    plain = Array(patch.storage());
  }
  patch = std::move(plain);
  return {};
}

Status merge_maps(Array& original, const Array& patch, const Type* items, std::string_view merge_key) {
  Places places(original, merge_key);
  for (const Value& item : patch) {
    if (!identity(item, merge_key)) return no_merge_key(item, merge_key);
    const std::size_t at = places.of(item);
    if (at == Places::kNone) {
      places.add(item, original.size());
      original.push_back(item);
    } else if (Status status = merge_object(original[at].get_object(), item.get_object(), items); !status.ok()) {
      return status;
    }
  }
  return {};
}

void merge_scalars(Array& original, const Array& patch) {
  for (const Value& item : patch) original.push_back(item);
  std::unordered_set<std::string> seen;
  keep_items(original, [&](const Value& item) { return seen.insert(identity_text(item)).second; });
}

}  // namespace

Status check_items(const Array& one, const Array& other, bool& maps) {
  const Value* first = !one.empty() ? &one.front() : !other.empty() ? &other.front() : nullptr;
  if (!first) return failure("no elements in any of the given slices");
  if (first->is_array()) {
    return Status(422, Reason::kInvalid, "the server rejected our request due to an error in our request").with_details({});
  }
  for (const Array* list : {&one, &other}) {
    for (const Value& item : *list) {
      if (go_type_of(item) == go_type_of(*first)) continue;
      return failure("list element types are not identical: [" + go_print(one) + " " + go_print(other) + "]");
    }
  }
  maps = first->is_object();
  return {};
}

namespace {

// The errors that upstream reports when it searches `wanted` for each merged item and sorts by `wanted` and `live`.
Status check_places(const Array& merged, const Array& wanted, const Array& live, const Places& wanted_places, std::string_view merge_key) {
  const auto stray = std::find_if(wanted.begin(), wanted.end(), [](const Value& item) { return !item.is_object(); });
  const std::size_t first_stray = stray == wanted.end() ? Places::kNone : static_cast<std::size_t>(stray - wanted.begin());
  for (const Value& item : merged) {
    if (!item.is_object()) return not_a_map(item);
    if (!identity(item, merge_key)) return no_merge_key(item, merge_key);
    if (first_stray < wanted_places.of(item)) return failure("value for key " + std::to_string(first_stray) + " is not a map");
  }
  if (Status status = check_merge_keys(wanted, merge_key); !status.ok()) return status;
  return check_merge_keys(live, merge_key);
}

}  // namespace

Status merge_order(Array& merged, const Array& wanted, const Array& live, std::string_view merge_key) {
  const Places wanted_places(wanted, merge_key), live_places(live, merge_key);
  if (!merge_key.empty()) {
    if (Status status = check_places(merged, wanted, live, wanted_places, merge_key); !status.ok()) return status;
  }
  Array patch_items(merged.storage()), server_items(merged.storage());
  for (Value& item : merged) {
    (wanted_places.of(item) != Places::kNone ? patch_items : server_items).push_back(std::move(item));
  }
  sort_by(patch_items, wanted_places);
  sort_by(server_items, live_places);
  Array out(merged.storage());
  out.reserve(merged.size());
  std::size_t server = 0, patch = 0;
  while (server < server_items.size() || patch < patch_items.size()) {
    bool take_server = patch >= patch_items.size();
    if (!take_server && server < server_items.size()) {
      const std::size_t left = live_places.of(server_items[server]), right = live_places.of(patch_items[patch]);
      take_server = left != Places::kNone && right != Places::kNone && left < right;
    }
    out.push_back(take_server ? std::move(server_items[server++]) : std::move(patch_items[patch++]));
  }
  merged = std::move(out);
  return {};
}

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
    if (!merge_key.empty()) {
      for (const Value* item : {&patch[at], &order[place]}) {
        if (!item->is_object()) return not_a_map(*item);
      }
    }
    if (!wanted || !named) return no_merge_key(wanted ? order[place] : patch[at], merge_key);
    if (*wanted == *named) ++at;
    ++place;
  }
  while (at < patch.size() && is(directive_of(patch[at]), "delete")) ++at;
  if (at >= patch.size()) return {};
  return failure("The order in patch list:\n" + go_print(Value(patch)) + "\n doesn't match " + std::string(kSetOrder) + " list:\n" +
                 go_print(Value(order)) + "\n");
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
    remove_named(original, patch, {});
    return {};
  }
  if (!maps) {
    const Array live(original, original.storage());
    merge_scalars(original, patch);
    return merge_order(original, patch, live, {});
  }
  const std::string_view merge_key = member.merge_key();
  if (merge_key.empty()) return failure("cannot merge lists without merge key for slice");
  if (Status status = apply_special_items(original, patch, merge_key); !status.ok()) return status;
  const Array live(original, original.storage());
  if (Status status = merge_maps(original, patch, member.type, merge_key); !status.ok()) return status;
  return merge_order(original, patch, live, merge_key);
}

}  // namespace backplane::schema::strategic
