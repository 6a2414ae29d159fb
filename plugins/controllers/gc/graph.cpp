#include "gc/graph.hpp"

#include <algorithm>

namespace backplane::controllers::gc {

std::string type_text(std::string_view api_version, std::string_view kind) { return std::string(api_version).append(" ").append(kind); }

Graph::Work Graph::put(std::string_view type, const Facts& facts) {
  Work work;
  const Uid uid = Uid::of(facts.uid);
  const bool finalizing = facts.deleted && (facts.orphan || facts.foreground);
  Number number = lookup(uid);
  if (number == kNone && facts.owners.empty() && !finalizing) return work;
  bool made = false;
  number = node_for(uid, made);
  Node& node = nodes_[number];
  if (made || (node.flags & kObserved) == 0) {
    // Dependants that refer to the owner by another identity have to be examined. An owner without a namespace may have dependants in any
    // namespace.
    const std::string_view ns = facts.ns.empty() ? texts_.text(node.ns) : std::string_view(facts.ns);
    const bool corrected = !made && !has_identity(node, type, ns, facts.name);
    set_identity(node, type, facts.ns, facts.name);
    if (corrected) add_dependents(node, work.deletions);
    node.flags = (node.flags | kObserved) & ~static_cast<std::uint32_t>(kAbsent);
  }
  node.flags |= kPinned;  // an object may be its own owner
  update_owners(number, facts, work);
  update_flags(number, facts, work);
  drop_if_unused(number);
  return work;
}

// Adds the work for a finalizer when a change reports for the first time that the object is being deleted and has the finalizer.
void Graph::update_flags(Number number, const Facts& facts, Work& work) {
  Node& node = nodes_[number];
  const bool orphan = facts.deleted && facts.orphan, foreground = facts.deleted && facts.foreground;
  if (orphan && (node.flags & kOrphan) == 0) {
    work.orphans.push_back(node.uid);
  } else if (foreground && !orphan && (node.flags & kForeground) == 0) {
    add_dependents(node, work.deletions);
    work.deletions.push_back(node.uid);
  }
  std::uint32_t flags = node.flags & (kObserved | kAbsent | kListed);
  if (facts.deleted) flags |= kDeleted;
  if (orphan) flags |= kOrphan;
  if (foreground) flags |= kForeground;
  node.flags = flags;
}

void Graph::update_owners(Number number, const Facts& facts, Work& work) {
  std::vector<const OwnerRef*> missing;
  for (const OwnerRef& owner : facts.owners) missing.push_back(&owner);
  for (Number edge = nodes_[number].owners; edge != kNone;) {
    Edge& known = edges_[edge];
    const Number next = known.next_owner;
    const Uid owner = nodes_[known.owner].uid;
    const auto kept = std::find_if(missing.begin(), missing.end(), [&](const OwnerRef* ref) { return Uid::of(ref->uid) == owner; });
    if (kept == missing.end()) {
      unlink(edge, work);
    } else {
      if (known.blocks != 0 && !(*kept)->blocks && (nodes_[known.owner].flags & kForeground) != 0) work.deletions.push_back(owner);
      known.blocks = (*kept)->blocks ? 1 : 0;
      missing.erase(kept);
    }
    edge = next;
  }
  for (const OwnerRef* owner : missing) link(number, *owner, work);
}

void Graph::link(Number dependent, const OwnerRef& reference, Work& work) {
  const std::string type = type_text(reference.api_version, reference.kind);
  const std::string ns(texts_.text(nodes_[dependent].ns));
  bool made = false;
  const Number owner = node_for(Uid::of(reference.uid), made);
  if (made) set_identity(nodes_[owner], type, ns, reference.name);
  const Number number = edges_.take();
  Edge& edge = edges_[number];
  edge.owner = owner;
  edge.dependent = dependent & 0x7FFFFFFFU;
  edge.blocks = reference.blocks ? 1 : 0;
  edge.next_owner = nodes_[dependent].owners;
  nodes_[dependent].owners = number;
  edge.previous = kNone;
  edge.next = nodes_[owner].dependents;
  if (edge.next != kNone) edges_[edge.next].previous = number;
  nodes_[owner].dependents = number;

  const Node& node = nodes_[owner];
  if ((node.flags & kAbsent) != 0) {
    work.deletions.push_back(nodes_[dependent].uid);
  } else if ((node.flags & kObserved) == 0) {
    if (made) work.deletions.push_back(node.uid);
    if (!made && !has_identity(node, type, ns, reference.name)) work.deletions.push_back(nodes_[dependent].uid);
  } else {
    const std::string_view owner_ns = texts_.text(node.ns);
    if (!has_identity(node, type, owner_ns.empty() ? owner_ns : std::string_view(ns), reference.name)) {
      work.deletions.push_back(nodes_[dependent].uid);
    }
  }
}

void Graph::unlink(Number number, Work& work) {
  const Edge edge = edges_[number];
  Node& owner = nodes_[edge.owner];
  if (edge.previous != kNone) {
    edges_[edge.previous].next = edge.next;
  } else {
    owner.dependents = edge.next;
  }
  if (edge.next != kNone) edges_[edge.next].previous = edge.previous;
  Number* link = &nodes_[edge.dependent].owners;
  while (*link != number) link = &edges_[*link].next_owner;
  *link = edge.next_owner;
  edges_.release(number);
  if ((owner.flags & kForeground) != 0) work.deletions.push_back(owner.uid);
  drop_if_unused(edge.owner);
}

Graph::Work Graph::remove(const Uid& uid) {
  Work work;
  const Number number = lookup(uid);
  if (number == kNone) return work;
  Node& node = nodes_[number];
  node.flags |= kPinned;
  while (node.owners != kNone) unlink(node.owners, work);
  node.flags = kAbsent;
  add_dependents(node, work.deletions);
  drop_if_unused(number);
  return work;
}

void Graph::drop_if_unused(Number number) {
  Node& node = nodes_[number];
  if (node.owners != kNone || node.dependents != kNone || (node.flags & (kForeground | kOrphan | kPinned)) != 0) return;
  unindex(node.uid);
  texts_.release(node.ns);
  texts_.release(node.type);
  names_.release(node.name);
  nodes_.release(number);
  --count_;
}

std::optional<Item> Graph::find(const Uid& uid) const {
  const Number number = lookup(uid);
  if (number == kNone) return std::nullopt;
  const Node& node = nodes_[number];
  Item out;
  out.uid = uid;
  out.type = texts_.text(node.type);
  out.ns = texts_.text(node.ns);
  out.name = names_.text(node.name);
  out.observed = (node.flags & kObserved) != 0;
  out.absent = (node.flags & kAbsent) != 0;
  out.deleted = (node.flags & kDeleted) != 0;
  out.foreground = (node.flags & kForeground) != 0;
  out.orphan = (node.flags & kOrphan) != 0;
  out.has_dependents = node.dependents != kNone;
  return out;
}

void Graph::add_dependents(const Node& node, std::vector<Uid>& out) const {
  for (Number edge = node.dependents; edge != kNone; edge = edges_[edge].next) out.push_back(nodes_[edges_[edge].dependent].uid);
}

std::vector<Uid> Graph::dependents(const Uid& uid) const {
  std::vector<Uid> out;
  const Number number = lookup(uid);
  if (number != kNone) add_dependents(nodes_[number], out);
  return out;
}

std::vector<Uid> Graph::blocking_dependents(const Uid& uid) const {
  std::vector<Uid> out;
  const Number number = lookup(uid);
  if (number == kNone) return out;
  for (Number edge = nodes_[number].dependents; edge != kNone; edge = edges_[edge].next) {
    if (edges_[edge].blocks != 0) out.push_back(nodes_[edges_[edge].dependent].uid);
  }
  return out;
}

std::vector<bool> Graph::matching_types(const TypeMatch& matches) const {
  std::vector<bool> out(texts_.end());
  for (std::uint32_t number = 0; number < out.size(); ++number) out[number] = matches(texts_.text(number));
  return out;
}

void Graph::begin_list(const TypeMatch& matches) {
  const std::vector<bool> types = matching_types(matches);
  for (Number number = 1; number < nodes_.end(); ++number) {
    Node& node = nodes_[number];
    if ((node.flags & kListed) != 0 && types[node.type]) node.flags &= ~static_cast<std::uint32_t>(kListed);
  }
}

void Graph::note_listed(const Uid& uid) {
  const Number number = lookup(uid);
  if (number != kNone) nodes_[number].flags |= kListed;
}

std::vector<Uid> Graph::end_list(const TypeMatch& matches) const {
  const std::vector<bool> types = matching_types(matches);
  std::vector<Uid> out;
  for (Number number = 1; number < nodes_.end(); ++number) {
    const Node& node = nodes_[number];
    if ((node.flags & (kObserved | kListed)) == kObserved && types[node.type]) out.push_back(node.uid);
  }
  return out;
}

}  // namespace backplane::controllers::gc
