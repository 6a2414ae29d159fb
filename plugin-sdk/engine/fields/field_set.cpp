// Sets of fields: queries and changes.
#include "engine/field_set.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "fields/node.hpp"

namespace backplane::fields {

NodeRef node_of(Entries&& entries) {
  const auto out_of_order = [](const Entry& a, const Entry& b) { return !(a.element < b.element); };
  if (std::adjacent_find(entries.begin(), entries.end(), out_of_order) == entries.end()) return sorted_node(std::move(entries));
  // Moving entries is expensive: each is moved once.
  boost::container::small_vector<Entry*, 32> order;
  order.reserve(entries.size());
  for (Entry& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) { return a->element < b->element; });
  Entries out;
  out.reserve(entries.size());
  for (Entry* entry : order) {
    if (out.empty() || !(out.back().element == entry->element)) {
      out.push_back(std::move(*entry));
    } else {
      out.back().member = out.back().member || entry->member;
      out.back().below = unite(out.back().below, entry->below);
    }
  }
  return sorted_node(std::move(out));
}

namespace {

NodeRef inserted(const NodeRef& node, std::span<const PathElement> path) {
  Entries entries = node ? node->entries : Entries();
  auto at = std::lower_bound(entries.begin(), entries.end(), path.front(),
                             [](const Entry& entry, const PathElement& wanted) { return entry.element < wanted; });
  if (at == entries.end() || !(at->element == path.front())) at = entries.insert(at, Entry{path.front(), nullptr, false});
  if (path.size() == 1)
    at->member = true;
  else
    at->below = inserted(at->below, path.subspan(1));
  return sorted_node(std::move(entries));
}

std::size_t count(const NodeRef& node) noexcept {
  std::size_t out = 0;
  if (node == nullptr) return out;
  for (const Entry& entry : node->entries) out += (entry.member ? 1 : 0) + count(entry.below);
  return out;
}

bool same(const NodeRef& a, const NodeRef& b) noexcept {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->entries.size() != b->entries.size()) return false;
  return std::equal(a->entries.begin(), a->entries.end(), b->entries.begin(), [](const Entry& x, const Entry& y) {
    return x.member == y.member && x.element == y.element && same(x.below, y.below);
  });
}

void visit_paths(const NodeRef& node, FieldPath& path, const std::function<void(std::span<const PathElement>)>& visit) {
  if (node == nullptr) return;
  for (const Entry& entry : node->entries) {
    if (!entry.member) continue;
    path.push_back(entry.element);
    visit(path);
    path.pop_back();
  }
  for (const Entry& entry : node->entries) {
    if (entry.below == nullptr) continue;
    path.push_back(entry.element);
    visit_paths(entry.below, path, visit);
    path.pop_back();
  }
}

}  // namespace
}  // namespace backplane::fields

namespace backplane BACKPLANE_API {

FieldSet::FieldSet(std::initializer_list<FieldPath> paths) {
  for (const FieldPath& path : paths) insert(path);
}

std::size_t FieldSet::size() const noexcept { return fields::count(root_); }

bool FieldSet::has(std::span<const PathElement> path) const noexcept {
  const Node* node = root_.get();
  for (std::size_t i = 0; node != nullptr && i < path.size(); ++i) {
    const Node::Entry* entry = node->find(path[i]);
    if (entry == nullptr) return false;
    if (i + 1 == path.size()) return entry->member;
    node = entry->below.get();
  }
  return false;
}

void FieldSet::insert(std::span<const PathElement> path) {
  if (!path.empty()) root_ = fields::inserted(root_, path);
}

FieldSet FieldSet::below(const PathElement& element) const {
  const Node::Entry* entry = root_ ? root_->find(element) : nullptr;
  return entry == nullptr ? FieldSet() : FieldSet(entry->below);
}

bool FieldSet::operator==(const FieldSet& other) const noexcept { return fields::same(root_, other.root_); }

void FieldSet::for_each(const std::function<void(std::span<const PathElement> path)>& visit) const {
  FieldPath path;
  fields::visit_paths(root_, path, visit);
}

std::vector<FieldPath> FieldSet::paths() const {
  std::vector<FieldPath> out;
  for_each([&](std::span<const PathElement> path) { out.emplace_back(path.begin(), path.end()); });
  return out;
}

}  // namespace BACKPLANE_API
