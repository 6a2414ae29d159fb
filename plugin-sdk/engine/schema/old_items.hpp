// Which item of a list, as it was, an item of the list as it is now has come from: what server-side apply, ratcheting and rules on changes
// must agree upon.
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

// x-kubernetes-list-type; kPlain: none is given.
enum class ListKind : unsigned char { kPlain, kAtomic, kSet, kMap };

// By what the items of a list are told apart.
struct ListIdentity {
  ListKind kind = ListKind::kPlain;
  std::vector<std::string> keys;  // of a map: the members that name an item
};
// What a schema of a list says of it.
ListIdentity list_identity_of(const Object& schema);

class OldItems {
 public:
  // `old`: the value as it was, or null.
  OldItems(const ListIdentity& identity, const Value* old);
  // What stood for `item`, which is at `index` now: in a map the first with its keys, in a set the same value, in a plain list what was at
  // its place, and nothing in an atomic one.  Null: it is new.
  const Value* of(const Value& item, std::size_t index) const;

 private:
  // Nothing for what cannot be told apart: an item of a map without one of its keys.
  bool hash(const Value& item, std::size_t& out) const;
  bool same(const Value& item, const Value& old) const;

  const ListIdentity& identity_;
  const Array* list_ = nullptr;                               // null: there are no old items
  std::unordered_multimap<std::size_t, std::size_t> places_;  // of a long list: hash → index
};

}  // namespace backplane::schema
