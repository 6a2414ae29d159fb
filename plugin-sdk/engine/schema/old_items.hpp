// Finds the old item that corresponds to a new item of a list.  Server-side apply, ratcheting and rules on changes use the same
// correspondence.
//
// Thread-safety: values; const once made.
// Lifetime:      borrows the identity and the old list.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "backplane/core/json.hpp"

namespace backplane::schema {

// x-kubernetes-list-type; kPlain: the schema has none.
enum class ListKind : unsigned char { kPlain, kAtomic, kSet, kMap };

// How the items of a list are identified.
struct ListIdentity {
  ListKind kind = ListKind::kPlain;
  std::vector<std::string> keys;  // kMap: the members that identify an item
};
// Properties of a list from its schema.
ListIdentity list_identity_of(const Object& schema);

class OldItems {
 public:
  // `old`: the old value, or null.
  OldItems(const ListIdentity& identity, const Value* old);
  // The old item of `item`, which is at `index` now: in a map the first item with its keys, in a set the equal item, in a plain list the
  // item at the same index, in an atomic list none. Null if `item` is new.
  const Value* of(const Value& item, std::size_t index) const;

 private:
  // Returns false for an item of a map that lacks one of its keys.
  bool hash(const Value& item, std::size_t& out) const;
  bool same(const Value& item, const Value& old) const;

  const ListIdentity& identity_;
  const Array* list_ = nullptr;                               // null: there are no old items
  std::unordered_multimap<std::size_t, std::size_t> places_;  // only for a long list: hash → index
};

}  // namespace backplane::schema
