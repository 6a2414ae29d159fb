// Union, intersection and the differences.  An unchanged level is shared.
#include "fields/node.hpp"

namespace backplane::fields {
namespace {

// Merges two sorted levels: calls `each` with the two entries of an element, either of which may be null.
template <class Each>
void zip(const Entries& a, const Entries& b, Each each) {
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const std::strong_ordering order = i == a.size()   ? std::strong_ordering::greater
                                       : j == b.size() ? std::strong_ordering::less
                                                       : a[i].element <=> b[j].element;
    each(order <= 0 ? &a[i] : nullptr, order >= 0 ? &b[j] : nullptr);
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
}

NodeRef intersect(const NodeRef& a, const NodeRef& b) {
  if (a == nullptr || b == nullptr || a == b) return a == b ? a : nullptr;
  Entries out;
  // The shorter level is looked up in the longer one.
  const bool swapped = b->entries.size() < a->entries.size();
  const Node& few = swapped ? *b : *a;
  const Node& many = swapped ? *a : *b;
  for (const Entry& entry : few.entries) {
    const Entry* other = many.find(entry.element);
    if (other == nullptr) continue;
    NodeRef below = intersect(entry.below, other->below);
    const bool member = entry.member && other->member;
    if (member || below) out.push_back({entry.element, std::move(below), member});
  }
  return sorted_node(std::move(out));
}

// The remaining parts of an entry; if both are empty, nothing remains.
struct Rest {
  bool member = false;
  NodeRef below;
};

NodeRef without(const NodeRef& from, const NodeRef& what, bool trees);

Rest rest_of(const Entry& entry, const Entry& gone, bool trees) {
  Rest out;
  out.member = entry.member && !gone.member;
  if (!trees || !gone.member) out.below = without(entry.below, gone.below, trees);
  return out;
}

NodeRef without(const NodeRef& from, const NodeRef& what, bool trees) {
  if (from == nullptr || what == nullptr) return from;
  Entries out;
  bool changed = false;
  const std::size_t size = from->entries.size();
  for (std::size_t i = 0; i < size; ++i) {
    const Entry& entry = from->entries[i];
    const Entry* gone = what->find(entry.element);
    Rest rest{entry.member, gone == nullptr ? entry.below : nullptr};
    if (gone != nullptr) rest = rest_of(entry, *gone, trees);
    const bool same = rest.member == entry.member && rest.below == entry.below;
    if (same && !changed) continue;
    if (!changed) {
      // The first change: copies the unchanged entries before it.
      changed = true;
      out.reserve(size);
      out.assign(from->entries.begin(), from->entries.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (rest.member || rest.below) out.push_back({entry.element, std::move(rest.below), rest.member});
  }
  return changed ? sorted_node(std::move(out)) : from;
}

NodeRef leaves(const NodeRef& node) {
  if (node == nullptr) return nullptr;
  Entries out;
  out.reserve(node->entries.size());
  for (const Entry& entry : node->entries) out.push_back({entry.element, leaves(entry.below), entry.below == nullptr});
  return sorted_node(std::move(out));
}

}  // namespace

NodeRef unite(const NodeRef& a, const NodeRef& b) {
  if (a == nullptr || b == nullptr || a == b) return a ? a : b;
  Entries out;
  out.reserve(std::max(a->entries.size(), b->entries.size()));
  bool all_a = true;  // nothing was added from b
  zip(a->entries, b->entries, [&](const Entry* x, const Entry* y) {
    if (x == nullptr || y == nullptr) {
      all_a = all_a && x != nullptr;
      out.push_back(x ? *x : *y);
      return;
    }
    NodeRef below = unite(x->below, y->below);
    const bool member = x->member || y->member;
    all_a = all_a && member == x->member && below == x->below;
    out.push_back({x->element, std::move(below), member});
  });
  return all_a ? a : sorted_node(std::move(out));
}

}  // namespace backplane::fields

namespace backplane BACKPLANE_API {

FieldSet FieldSet::unite(const FieldSet& other) const { return FieldSet(fields::unite(root_, other.root_)); }
FieldSet FieldSet::intersect(const FieldSet& other) const { return FieldSet(fields::intersect(root_, other.root_)); }
FieldSet FieldSet::subtract(const FieldSet& other) const { return FieldSet(fields::without(root_, other.root_, false)); }
FieldSet FieldSet::subtract_trees(const FieldSet& other) const { return FieldSet(fields::without(root_, other.root_, true)); }
FieldSet FieldSet::leaves() const { return FieldSet(fields::leaves(root_)); }

}  // namespace BACKPLANE_API
