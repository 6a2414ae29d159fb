// Reads and writes members of JSON objects: look-ups that tolerate absent members, defaults, iteration over lists, field paths.
//
// Thread-safety: pure functions on their arguments; a tree belongs to one request.
// Lifetime:      views and pointers refer to the tree and are valid until it changes.
// Errors:        none; a member that is absent or has another type is treated as absent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/text.hpp"

namespace backplane BACKPLANE_API {

// Field paths as they appear in error messages: at() returns "path.key", at_key() "path[key]", and at() with an index "path[3]". With an
// empty path, at() returns "key".
inline std::string at(const std::string& path, std::string_view key) {
  std::string out;
  out.reserve(path.size() + 1 + key.size());
  out.append(path);
  if (!path.empty()) out.push_back('.');
  return out.append(key);
}
inline std::string at_key(const std::string& path, std::string_view key) {
  std::string out;
  out.reserve(path.size() + 2 + key.size());
  out.append(path).push_back('[');
  out.append(key).push_back(']');
  return out;
}
inline std::string at(const std::string& path, std::size_t index) { return at_key(path, std::to_string(index)); }

// Returns the string; empty if the value is not a string.
inline std::string_view text_of(const Value& value) noexcept {
  return value.is_string() ? std::string_view(value.get_string().data(), value.get_string().size()) : std::string_view();
}

// True if Go's defaulting functions treat the value as unset: absent, null, "" or 0.
inline bool is_unset(const Value* value) noexcept {
  if (value == nullptr || value->is_null()) return true;
  if (value->is_string()) return value->get_string().empty();
  return value->is_int64() && value->get_int64() == 0;
}

// fill() sets the member if it is unset (is_unset). fill_missing() sets it only if it is absent or null: the rule for Go pointers, which
// keep an explicit zero.
//
//   fill(spec, "restartPolicy", "Always");      // also replaces ""
//   fill_missing(spec, "replicas", 1);          // keeps an explicit 0
template <class T>
void fill(Object& object, std::string_view key, T&& value) {
  if (is_unset(find(object, key))) object[key] = std::forward<T>(value);
}
template <class T>
void fill_missing(Object& object, std::string_view key, T&& value) {
  const Value* found = find(object, key);
  if (found == nullptr || found->is_null()) object[key] = std::forward<T>(value);
}

// Returns the member object; if it is absent or not an object, an empty object that lives as long as the process.
inline const Object& object_or_empty(const Object& parent, std::string_view key) noexcept {
  static const Object kEmpty;
  const Object* found = get_object(parent, key);
  return found ? *found : kEmpty;
}
// Returns the member object, for changes in place; null if it is absent or not an object.
inline Object* mutable_object(Object& parent, std::string_view key) noexcept {
  Value* found = find(parent, key);
  return found ? found->if_object() : nullptr;
}
// True if the member is present and not null.
inline bool has(const Object& object, std::string_view key) noexcept {
  const Value* found = find(object, key);
  return found != nullptr && !found->is_null();
}

// Calls `visit(object, index)` for every object in the list member `key`; items that are not objects are skipped.
//
//   each(pod_spec, "containers", [&](const Object& container, std::size_t i) {
//     check_container(container, at(path, "containers") + "[" + std::to_string(i) + "]", errors);
//   });
template <class Visit>
void each(const Object& parent, std::string_view key, Visit visit) {
  const Array* list = get_array(parent, key);
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    if (const Object* item = (*list)[i].if_object()) visit(*item, i);
  }
}
// Calls `visit(object)` for every object in the list member `key`; `visit` may change the object. `visit` must not add items to the list or
// remove items from it.
template <class Visit>
void each_mutable(Object& parent, std::string_view key, Visit visit) {
  Value* found = find(parent, key);
  if (found == nullptr || !found->is_array()) return;
  for (Value& item : found->get_array()) {
    if (Object* object = item.if_object()) visit(*object);
  }
}

// The number of items of the list member; 0 if it is absent.
inline std::size_t count_of(const Object& parent, std::string_view key) noexcept {
  const Array* list = get_array(parent, key);
  return list ? list->size() : 0;
}
// Calls `visit(text, index)` for every item of the list member. For an item that is not a string, `text` is empty.
template <class Visit>
void each_text(const Object& parent, std::string_view key, Visit visit) {
  const Array* list = get_array(parent, key);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) visit(text_of((*list)[i]), i);
}
// Returns copies of the items of a list of strings; empty if the list is absent. For an item that is not a string, the copy is an empty
// string.
inline std::vector<std::string> texts_of(const Object& parent, std::string_view key) {
  std::vector<std::string> out;
  each_text(parent, key, [&](std::string_view text, std::size_t) { out.emplace_back(text); });
  return out;
}
// Returns the first object in the list member `key` whose member `member` is the string `text`, such as the condition whose "type" is
// "Ready"; null if there is none.
inline const Object* find_item(const Object& parent, std::string_view key, std::string_view member, std::string_view text) noexcept {
  const Object* out = nullptr;
  each(parent, key, [&](const Object& item, std::size_t) {
    if (out == nullptr && get_string(item, member) == text) out = &item;
  });
  return out;
}

// Copies the member `key` from `from` to `object`. If `from` lacks the member, removes it from `object`. Strategies use it to revert
// changes that a client may not make.
inline void take_member(Object& object, const Object& from, std::string_view key) {
  if (const Value* value = find(from, key)) {
    object[key] = *value;
  } else {
    erase_member(object, key);
  }
}

// Replaces an empty list by null. Protobuf does not distinguish an empty list from an absent one, so a member that is always printed is
// null if it is read from a protobuf store.
inline void null_when_empty(Object& object, std::string_view key) {
  Value* found = find(object, key);
  if (found != nullptr && found->is_array() && found->get_array().empty()) *found = nullptr;
}

// True if the members `key` of both objects are equal, or if both are absent.
inline bool same_member(const Object& a, const Object& b, std::string_view key) noexcept {
  const Value* left = find(a, key);
  const Value* right = find(b, key);
  return left && right ? *left == *right : left == right;
}

}  // namespace BACKPLANE_API
