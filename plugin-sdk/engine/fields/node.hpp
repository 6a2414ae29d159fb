// A level of a field set.
//
// Thread-safety: immutable once shared.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/field_set.hpp"

namespace backplane BACKPLANE_API {

struct FieldSet::Node {
  // At least one of the two is true: the element itself is in the set, or an element below it is.
  struct Entry {
    PathElement element;
    NodeRef below;
    bool member = false;
  };

  std::vector<Entry> entries;  // sorted, each element once; never empty

  const Entry* find(const PathElement& element) const noexcept {
    const auto at = std::lower_bound(entries.begin(), entries.end(), element,
                                     [](const Entry& entry, const PathElement& wanted) { return entry.element < wanted; });
    return at == entries.end() || !(at->element == element) ? nullptr : &*at;
  }
};

}  // namespace BACKPLANE_API

namespace backplane::fields {

using Node = FieldSet::Node;
using NodeRef = FieldSet::NodeRef;
using Entry = Node::Entry;
using Entries = std::vector<Entry>;

// The level with these entries, which are sorted; null for none.
inline NodeRef sorted_node(Entries&& entries) {
  if (entries.empty()) return nullptr;
  auto out = std::make_shared<Node>();
  out->entries = std::move(entries);
  return out;
}

NodeRef unite(const NodeRef& a, const NodeRef& b);

// Like sorted_node(), for entries in any order; entries of the same element are merged.
NodeRef node_of(Entries&& entries);

}  // namespace backplane::fields
