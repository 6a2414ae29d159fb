// Reads and writes members of JSON objects: lookups that tolerate absent members, defaulting, iteration over lists, paths of fields.
//
// Thread-safety: pure functions; a tree belongs to one request.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/text.hpp"

namespace backplane BACKPLANE_API {

// "path.key", "path[3]" and "path[key]", as field paths are written; an empty path adds no dot.
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

inline std::string_view text_of(const Value& value) noexcept {
  return value.is_string() ? std::string_view(value.get_string().data(), value.get_string().size()) : std::string_view();
}

// Unset as Go's defaulting functions see it: absent, null, "" or 0.
inline bool is_unset(const Value* value) noexcept {
  if (value == nullptr || value->is_null()) return true;
  if (value->is_string()) return value->get_string().empty();
  return value->is_int64() && value->get_int64() == 0;
}

// Gives the member a value when it is unset; `_missing` only when it is absent or null (pointers: a set zero stays).
template <class T>
void fill(Object& object, std::string_view key, T&& value) {
  if (is_unset(find(object, key))) object[key] = std::forward<T>(value);
}
template <class T>
void fill_missing(Object& object, std::string_view key, T&& value) {
  const Value* found = find(object, key);
  if (found == nullptr || found->is_null()) object[key] = std::forward<T>(value);
}

// The member object, or an empty one that lives as long as the process.
inline const Object& object_or_empty(const Object& parent, std::string_view key) noexcept {
  static const Object kEmpty;
  const Object* found = get_object(parent, key);
  return found ? *found : kEmpty;
}
inline Object* mutable_object(Object& parent, std::string_view key) noexcept {
  Value* found = find(parent, key);
  return found ? found->if_object() : nullptr;
}
inline bool has(const Object& object, std::string_view key) noexcept {
  const Value* found = find(object, key);
  return found != nullptr && !found->is_null();
}

// Calls `visit(object, index)` for every object of a list member.
template <class Visit>
void each(const Object& parent, std::string_view key, Visit visit) {
  const Array* list = get_array(parent, key);
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    if (const Object* item = (*list)[i].if_object()) visit(*item, i);
  }
}
template <class Visit>
void each_mutable(Object& parent, std::string_view key, Visit visit) {
  Value* found = find(parent, key);
  if (found == nullptr || !found->is_array()) return;
  for (Value& item : found->get_array()) {
    if (Object* object = item.if_object()) visit(*object);
  }
}

// How many items a list member has; 0 when there is none.
inline std::size_t count_of(const Object& parent, std::string_view key) noexcept {
  const Array* list = get_array(parent, key);
  return list ? list->size() : 0;
}
// Calls `visit(text, index)` for every item of a list of texts.
template <class Visit>
void each_text(const Object& parent, std::string_view key, Visit visit) {
  const Array* list = get_array(parent, key);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) visit(text_of((*list)[i]), i);
}
inline std::vector<std::string> texts_of(const Object& parent, std::string_view key) {
  std::vector<std::string> out;
  each_text(parent, key, [&](std::string_view text, std::size_t) { out.emplace_back(text); });
  return out;
}
// The first item of a list whose `member` is `text` ("type": "Ready"); null when there is none.
inline const Object* find_item(const Object& parent, std::string_view key, std::string_view member, std::string_view text) noexcept {
  const Object* out = nullptr;
  each(parent, key, [&](const Object& item, std::size_t) {
    if (out == nullptr && get_string(item, member) == text) out = &item;
  });
  return out;
}

// Copies a member from another tree, or removes it when it is not there.
inline void take_member(Object& object, const Object& from, std::string_view key) {
  if (const Value* value = find(from, key)) {
    object[key] = *value;
  } else {
    erase_member(object, key);
  }
}

// Stores that keep protobuf know no empty lists, so a list that is always written comes back from them as null.
inline void null_when_empty(Object& object, std::string_view key) {
  Value* found = find(object, key);
  if (found != nullptr && found->is_array() && found->get_array().empty()) *found = nullptr;
}

inline bool same_member(const Object& a, const Object& b, std::string_view key) noexcept {
  const Value* left = find(a, key);
  const Value* right = find(b, key);
  return left && right ? *left == *right : left == right;
}

}  // namespace BACKPLANE_API
