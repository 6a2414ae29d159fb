#include "watchcache/object_index.hpp"

#include <algorithm>
#include <atomic>

namespace backplane {

namespace {
constexpr std::size_t kMaxItems = 32;
constexpr std::size_t kFewItems = 10;  // a node with fewer items is merged with a neighbour if both fit into one node
constexpr unsigned kMaxGone = 16;      // the number of removed entries in a leaf's summary at which it is rebuilt
constexpr std::size_t kNearEnd = 24;   // an insertion after this position counts as one at the end of the node
static_assert(PackedEntries::kMost <= kMaxItems);
}  // namespace

// A leaf holds entries, an inner node children with the first entry below each.
struct ObjectIndex::Node {
  bool leaf = true;
  std::uint64_t edit = 0;  // the ObjectIndex::edit_ under which the node was made
  std::size_t size = 0;    // the number of entries in the subtree
  std::vector<ObjectRef> entries;
  std::vector<NodeRef> children;
  std::vector<const ObjectEntry*> firsts;  // the first entry of each child; the leaves own them
  Summary summary;                         // in a leaf: the summary of its entries and of some removed entries
  unsigned gone = 0;                       // the number of removed entries in `summary`
  // Used in place of `entries` and `summary` in a leaf that has not changed since it was loaded.
  std::shared_ptr<const PackedEntries> packed;

  std::size_t items() const { return leaf ? size : children.size(); }
  const ObjectEntry* first() const {
    if (packed) return packed->first().get();
    return leaf ? entries.front().get() : firsts.front();
  }
  const std::vector<ObjectRef>& leaf_entries() const { return packed ? packed->entries() : entries; }
  const Summary& leaf_summary() const { return packed ? packed->summary() : summary; }
  void count() {
    size = entries.size();
    for (const auto& child : children) size += child->size;
  }
  void summarize() {
    gone = 0;
    summary.clear();
    for (const auto& entry : entries) summary.add(*entry);
  }
  // To be called after an entry of the leaf was removed or replaced.
  void forget_one() {
    if (++gone >= kMaxGone) summarize();
  }
};

namespace {

using Node = ObjectIndex::Node;
using NodeRef = ObjectIndex::NodeRef;

std::size_t entry_position(const Node& leaf, std::string_view key) {
  if (leaf.packed) return leaf.packed->position(key);
  const auto& entries = leaf.entries;
  const auto found = std::lower_bound(entries.begin(), entries.end(), key,
                                      [](const ObjectRef& entry, std::string_view wanted) { return entry->key() < wanted; });
  return static_cast<std::size_t>(found - entries.begin());
}

// The index of the last child whose first key is not greater than `key`; 0 if there is none.
std::size_t child_position(const Node& inner, std::string_view key) {
  const auto found = std::upper_bound(inner.firsts.begin() + 1, inner.firsts.end(), key,
                                      [](std::string_view wanted, const ObjectEntry* first) { return wanted < first->key(); });
  return static_cast<std::size_t>(found - inner.firsts.begin()) - 1;
}

NodeRef make_node(std::uint64_t edit, bool leaf) {
  auto node = std::make_shared<Node>();
  node->edit = edit;
  node->leaf = leaf;
  return node;
}

// A leaf with capacity for exactly one more entry.
NodeRef copy_leaf(const Node& leaf, std::uint64_t edit) {
  auto copy = make_node(edit, true);
  const auto& entries = leaf.leaf_entries();
  copy->size = leaf.size;
  copy->entries.reserve(entries.size() + 1);
  copy->entries.assign(entries.begin(), entries.end());
  copy->summary = leaf.leaf_summary();
  copy->gone = leaf.gone;
  return copy;
}

// If other versions share `node`, replaces it by a copy for this version (`edit`).  The nodes above it have been replaced before.
Node& own(NodeRef& node, std::uint64_t edit) {
  if (node->leaf && (node->edit != edit || node->packed)) {
    node = copy_leaf(*node, edit);
  } else if (node->edit != edit) {
    node = std::make_shared<Node>(*node);
    node->edit = edit;
  }
  return *node;
}

void add_child(Node& parent, std::size_t at, NodeRef child) {
  const auto position = static_cast<std::ptrdiff_t>(at);
  parent.firsts.insert(parent.firsts.begin() + position, child->first());
  parent.children.insert(parent.children.begin() + position, std::move(child));
}

void erase_child(Node& parent, std::size_t at) {
  const auto position = static_cast<std::ptrdiff_t>(at);
  parent.firsts.erase(parent.firsts.begin() + position);
  parent.children.erase(parent.children.begin() + position);
}

template <class T>
void move_upper(std::vector<T>& from, std::vector<T>& to, std::ptrdiff_t half) {
  to.assign(std::make_move_iterator(from.begin() + half), std::make_move_iterator(from.end()));
  from.erase(from.begin() + half, from.end());
  from.shrink_to_fit();
}

// Moves the upper half of `node` into a new right neighbour. If the insertion position `added` is near the end, moves fewer items, so that
// keys that are inserted in order result in full nodes.
NodeRef split(Node& node, std::size_t added) {
  auto right = make_node(node.edit, node.leaf);
  const auto half = static_cast<std::ptrdiff_t>(added > kNearEnd ? kNearEnd : node.items() / 2);
  if (node.leaf) {
    move_upper(node.entries, right->entries, half);
  } else {
    move_upper(node.children, right->children, half);
    move_upper(node.firsts, right->firsts, half);
  }
  node.count();
  right->count();
  if (node.leaf) {
    node.summarize();
    right->summarize();
  }
  return right;
}

// Inserts `entry` below `ref`. Returns the new right neighbour if the node had to be split, otherwise null.
NodeRef put_below(NodeRef& ref, ObjectRef& entry, ObjectRef& replaced, std::uint64_t edit) {
  Node& node = own(ref, edit);
  std::size_t at = 0;
  if (node.leaf) {
    at = entry_position(node, entry->key());
    node.summary.add(*entry);
    if (at < node.entries.size() && node.entries[at]->key() == entry->key()) {
      replaced = std::exchange(node.entries[at], std::move(entry));
      node.forget_one();
      return nullptr;
    }
    node.entries.insert(node.entries.begin() + static_cast<std::ptrdiff_t>(at), std::move(entry));
    ++node.size;
  } else {
    at = child_position(node, entry->key());
    NodeRef right = put_below(node.children[at], entry, replaced, edit);
    node.firsts[at] = node.children[at]->first();
    if (!replaced) ++node.size;
    if (right) add_child(node, at + 1, std::move(right));
  }
  return node.items() > kMaxItems ? split(node, at) : nullptr;
}

// Removes an empty child, or merges a small one with a neighbour.
void tidy(Node& parent, std::size_t at) {
  auto& children = parent.children;
  if (children[at]->items() == 0) return erase_child(parent, at);
  if (children[at]->items() >= kFewItems || children.size() == 1) return;
  const std::size_t left = at == 0 ? 0 : at - 1;
  const std::size_t right = left + 1;
  if (children[left]->items() + children[right]->items() > kMaxItems) return;
  Node& into = own(children[left], parent.edit);
  const Node& from = *children[right];
  if (from.leaf) {
    const auto& entries = from.leaf_entries();
    into.entries.insert(into.entries.end(), entries.begin(), entries.end());
    into.summary.add(from.leaf_summary());
    into.gone += from.gone;
  }
  into.children.insert(into.children.end(), from.children.begin(), from.children.end());
  into.firsts.insert(into.firsts.end(), from.firsts.begin(), from.firsts.end());
  into.count();
  erase_child(parent, right);
}

// Removes the entry of `key`, which must exist.
ObjectRef remove_below(NodeRef& ref, std::string_view key, std::uint64_t edit) {
  Node& node = own(ref, edit);
  --node.size;
  if (node.leaf) {
    const auto found = node.entries.begin() + static_cast<std::ptrdiff_t>(entry_position(node, key));
    ObjectRef removed = std::move(*found);
    node.entries.erase(found);
    node.forget_one();
    return removed;
  }
  const std::size_t at = child_position(node, key);
  ObjectRef removed = remove_below(node.children[at], key, edit);
  if (node.children[at]->items() > 0) node.firsts[at] = node.children[at]->first();
  tidy(node, at);
  return removed;
}

NodeRef make_inner(NodeRef left, NodeRef right, std::uint64_t edit) {
  auto node = make_node(edit, false);
  add_child(*node, 0, std::move(left));
  add_child(*node, 1, std::move(right));
  node->count();
  return node;
}

NodeRef make_leaf(ObjectRef entry, std::uint64_t edit) {
  auto leaf = make_node(edit, true);
  leaf->size = 1;
  leaf->summary.add(*entry);
  leaf->entries.push_back(std::move(entry));
  return leaf;
}

NodeRef make_leaf(std::shared_ptr<const PackedEntries> run, std::uint64_t edit) {
  auto leaf = make_node(edit, true);
  leaf->size = run->size();
  leaf->packed = std::move(run);
  return leaf;
}

// Appends `leaf` after all others. Returns a new right neighbour if the last node of this level is full; so the nodes of an index that is
// filled in order are full.
NodeRef append_below(NodeRef& ref, NodeRef leaf, std::uint64_t edit) {
  if (ref->leaf) return leaf;
  Node& node = own(ref, edit);
  node.size += leaf->size;
  NodeRef below = append_below(node.children.back(), std::move(leaf), edit);
  if (!below) return nullptr;
  if (node.children.size() < kMaxItems) {
    add_child(node, node.children.size(), std::move(below));
    return nullptr;
  }
  node.size -= below->size;
  auto right = make_node(edit, false);
  right->size = below->size;
  add_child(*right, 0, std::move(below));
  return right;
}

std::uint64_t next_edit() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

ObjectIndex::ObjectIndex() : edit_(next_edit()) {}

ObjectIndex ObjectIndex::share() {
  ObjectIndex other;
  other.root_ = root_;
  edit_ = next_edit();
  return other;
}

std::size_t ObjectIndex::size() const noexcept { return root_ ? root_->size : 0; }

ObjectRef ObjectIndex::find(std::string_view key) const {
  const Node* node = root_.get();
  if (node == nullptr) return nullptr;
  while (!node->leaf) node = node->children[child_position(*node, key)].get();
  const std::size_t at = entry_position(*node, key);
  if (at == node->size) return nullptr;
  const ObjectRef& found = node->leaf_entries()[at];
  return found->key() == key ? found : nullptr;
}

std::size_t ObjectIndex::rank(std::string_view key) const {
  const Node* node = root_.get();
  std::size_t before = 0;
  if (node == nullptr) return 0;
  while (!node->leaf) {
    const std::size_t at = child_position(*node, key);
    for (std::size_t i = 0; i < at; ++i) before += node->children[i]->size;
    node = node->children[at].get();
  }
  return before + entry_position(*node, key);
}

ObjectRef ObjectIndex::put(ObjectRef entry) {
  if (!root_) {
    root_ = make_leaf(std::move(entry), edit_);
    return nullptr;
  }
  ObjectRef replaced;
  if (NodeRef right = put_below(root_, entry, replaced, edit_)) root_ = make_inner(std::move(root_), std::move(right), edit_);
  return replaced;
}

ObjectRef ObjectIndex::remove(std::string_view key) {
  if (!find(key)) return nullptr;
  ObjectRef removed = remove_below(root_, key, edit_);
  while (root_ && !root_->leaf && root_->children.size() == 1) root_ = NodeRef(root_->children.front());
  if (root_ && root_->size == 0) root_.reset();
  return removed;
}

void ObjectIndex::append(std::shared_ptr<const PackedEntries> run) {
  NodeRef leaf = make_leaf(std::move(run), edit_);
  if (!root_) {
    root_ = std::move(leaf);
  } else if (NodeRef right = append_below(root_, std::move(leaf), edit_)) {
    root_ = make_inner(std::move(root_), std::move(right), edit_);
  }
}

ObjectIndex::Cursor ObjectIndex::cursor(std::string_view from) const {
  Cursor cursor;
  cursor.root_ = root_;
  const Node* node = root_.get();
  while (node != nullptr) {
    const std::size_t at = node->leaf ? entry_position(*node, from) : child_position(*node, from);
    cursor.steps_[cursor.depth_++] = {node, at};
    node = node->leaf ? nullptr : node->children[at].get();
  }
  return cursor;
}

ObjectIndex::Cursor ObjectIndex::cursor_at(std::size_t rank) const {
  Cursor cursor;
  cursor.root_ = root_;
  const Node* node = root_.get();
  while (node != nullptr) {
    std::size_t at = 0;
    if (node->leaf) {
      at = std::min(rank, node->size);
    } else {
      while (at + 1 < node->children.size() && rank >= node->children[at]->size) rank -= node->children[at++]->size;
    }
    cursor.steps_[cursor.depth_++] = {node, at};
    node = node->leaf ? nullptr : node->children[at].get();
  }
  return cursor;
}

const ObjectIndex::Node* ObjectIndex::Cursor::leaf() {
  while (depth_ > 0) {
    Step& step = steps_[depth_ - 1];
    if (step.node->leaf) {
      if (step.at < step.node->size) return step.node;
    } else if (++step.at < step.node->children.size()) {
      const Node* child = step.node->children[step.at].get();
      // Descends to the first leaf of the child. The `at` of each inner step is the index of the child that is being visited.
      while (!child->leaf) {
        steps_[depth_++] = {child, 0};
        child = child->children.front().get();
      }
      steps_[depth_++] = {child, 0};
      continue;
    }
    --depth_;
  }
  return nullptr;
}

const ObjectRef* ObjectIndex::Cursor::next() {
  const Node* node = leaf();
  return node == nullptr ? nullptr : &node->leaf_entries()[steps_[depth_ - 1].at++];
}

ObjectIndex::Cursor::Run ObjectIndex::Cursor::next_run() {
  const Node* node = leaf();
  if (node == nullptr) return {};
  const std::size_t from = std::exchange(steps_[depth_ - 1].at, node->size);
  const bool builds = node->packed && !node->packed->built();
  return {std::span<const ObjectRef>(node->leaf_entries()).subspan(from), &node->leaf_summary(), builds};
}

ObjectIndex::Cursor::Run ObjectIndex::Cursor::next_run_transient(std::shared_ptr<const std::vector<ObjectRef>>& owner) {
  owner = nullptr;
  const Node* node = leaf();
  if (node == nullptr || !node->packed || node->packed->built()) return next_run();
  const std::size_t from = std::exchange(steps_[depth_ - 1].at, node->size);
  owner = node->packed->transient_entries();
  return {std::span<const ObjectRef>(*owner).subspan(from), nullptr, true};
}

bool ObjectIndex::Cursor::next_keys(std::vector<KeyAt>& out) {
  const Node* node = leaf();
  if (node == nullptr) return false;
  const std::size_t from = std::exchange(steps_[depth_ - 1].at, node->size);
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  if (node->packed) {
    node->packed->append_keys(out);
  } else {
    for (const ObjectRef& entry : node->entries) out.push_back({std::string(entry->key()), entry->revision});
  }
  out.erase(out.begin() + first, out.begin() + first + static_cast<std::ptrdiff_t>(from));
  return true;
}

}  // namespace backplane
