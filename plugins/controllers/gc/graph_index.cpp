// The nodes by uid: open addressing with linear probing, at most 3/4 full.
#include "gc/graph.hpp"

namespace backplane::controllers::gc {

Graph::Number Graph::lookup(const Uid& uid) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = uid.hash() & mask; slots_[at] != kNone; at = (at + 1) & mask) {
    if (nodes_[slots_[at]].uid == uid) return slots_[at];
  }
  return kNone;
}

void Graph::index(Number number) {
  if ((count_ + 1) * 4 > slots_.size() * 3) {
    std::vector<Number> old(slots_.size() * 2, kNone);
    old.swap(slots_);
    const std::size_t grown = slots_.size() - 1;
    for (const Number each : old) {
      if (each == kNone) continue;
      std::size_t at = nodes_[each].uid.hash() & grown;
      while (slots_[at] != kNone) at = (at + 1) & grown;
      slots_[at] = each;
    }
  }
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = nodes_[number].uid.hash() & mask;
  while (slots_[at] != kNone) at = (at + 1) & mask;
  slots_[at] = number;
}

// Moves later entries of the same run into the gap.
void Graph::unindex(const Uid& uid) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t gap = uid.hash() & mask;
  while (nodes_[slots_[gap]].uid != uid) gap = (gap + 1) & mask;
  for (std::size_t at = (gap + 1) & mask; slots_[at] != kNone; at = (at + 1) & mask) {
    const std::size_t home = nodes_[slots_[at]].uid.hash() & mask;
    if (((at - home) & mask) < ((at - gap) & mask)) continue;
    slots_[gap] = slots_[at];
    gap = at;
  }
  slots_[gap] = kNone;
}

Graph::Number Graph::node_for(const Uid& uid, bool& made) {
  Number number = lookup(uid);
  made = number == kNone;
  if (!made) return number;
  number = nodes_.take();
  Node& node = nodes_[number];
  node.uid = uid;
  node.ns = texts_.take("");
  node.type = texts_.take("") & 0xFFFFFFU;
  index(number);
  ++count_;
  return number;
}

void Graph::set_identity(Node& node, std::string_view type, std::string_view ns, std::string_view name) {
  const std::uint32_t new_ns = texts_.take(ns), new_type = texts_.take(type);
  texts_.release(node.ns);
  texts_.release(node.type);
  node.ns = new_ns;
  node.type = new_type & 0xFFFFFFU;
  names_.release(node.name);
  node.name = names_.take(name);
}

bool Graph::has_identity(const Node& node, std::string_view type, std::string_view ns, std::string_view name) const {
  return texts_.text(node.type) == type && texts_.text(node.ns) == ns && name == names_.text(node.name);
}

std::size_t Graph::bytes() const noexcept { return nodes_.bytes() + edges_.bytes() + names_.bytes() + slots_.capacity() * sizeof(Number); }

}  // namespace backplane::controllers::gc
