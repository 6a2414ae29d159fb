#include "schema/old_items.hpp"

#include <algorithm>
#include <functional>

namespace backplane::schema {
namespace {

// Lists up to this size are searched linearly; longer ones get an index.
constexpr std::size_t kFew = 8;

const Value* key_of(const Value& item, const std::string& name) {
  const Value* value = item.is_object() ? find(item.get_object(), name) : nullptr;
  return value == nullptr || value->is_null() || value->is_structured() ? nullptr : value;
}

}  // namespace

ListIdentity list_identity_of(const Object& schema) {
  ListIdentity out;
  const std::string_view word = get_string(schema, "x-kubernetes-list-type");
  if (!word.empty()) out.kind = word == "set" ? ListKind::kSet : word == "map" ? ListKind::kMap : ListKind::kAtomic;
  if (const Array* keys = get_array(schema, "x-kubernetes-list-map-keys")) {
    for (const Value& key : *keys) {
      if (key.is_string()) out.keys.emplace_back(std::string_view(key.get_string()));
    }
  }
  return out;
}

OldItems::OldItems(const ListIdentity& identity, const Value* old) : identity_(identity) {
  if (old == nullptr || !old->is_array() || identity.kind == ListKind::kAtomic) return;
  list_ = &old->get_array();
  if (identity.kind == ListKind::kPlain || list_->size() <= kFew) return;
  places_.reserve(list_->size());
  for (std::size_t i = 0; i < list_->size(); ++i) {
    if (std::size_t place = 0; hash((*list_)[i], place)) places_.emplace(place, i);
  }
}

const Value* OldItems::of(const Value& item, std::size_t index) const {
  if (list_ == nullptr) return nullptr;
  if (identity_.kind == ListKind::kPlain) return index < list_->size() && !(*list_)[index].is_null() ? &(*list_)[index] : nullptr;
  if (places_.empty()) {
    const auto found = std::find_if(list_->begin(), list_->end(), [&](const Value& old) { return same(item, old); });
    return found == list_->end() ? nullptr : found;
  }
  std::size_t place = 0;
  if (!hash(item, place)) return nullptr;
  const Value* first = nullptr;
  const auto [begin, end] = places_.equal_range(place);
  for (auto each = begin; each != end; ++each) {
    const Value& old = (*list_)[each->second];
    if ((first == nullptr || &old < first) && same(item, old)) first = &old;
  }
  return first;
}

bool OldItems::hash(const Value& item, std::size_t& out) const {
  const std::hash<Value> hash_of;
  if (identity_.kind == ListKind::kSet) {
    out = hash_of(item);
    return true;
  }
  out = 0;
  for (const std::string& name : identity_.keys) {
    const Value* key = key_of(item, name);
    if (key == nullptr) return false;
    out = out * 31 + hash_of(*key);
  }
  return !identity_.keys.empty();
}

bool OldItems::same(const Value& item, const Value& old) const {
  if (identity_.kind == ListKind::kSet) return item == old;
  const auto agree = [&](const std::string& name) {
    const Value* a = key_of(item, name);
    const Value* b = a != nullptr ? key_of(old, name) : nullptr;
    return b != nullptr && *a == *b;
  };
  return !identity_.keys.empty() && std::all_of(identity_.keys.begin(), identity_.keys.end(), agree);
}

}  // namespace backplane::schema
