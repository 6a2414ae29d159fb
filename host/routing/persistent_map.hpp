// A sorted, immutable map. with() and without() return a new map that shares nearly all nodes with the old one. The map is a treap whose
// priorities are hashes of the keys, so maps of equal contents have equal shapes, whatever the order of the insertions.
//
// Thread-safety: a map never changes. Any number of threads may read it and make new maps from it.
// Lifetime:      a value exists as long as a map that contains it.
// Cost:          find(), with() and without() take logarithmic time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace backplane {

template <class T>
class PersistentMap {
 public:
  PersistentMap() = default;

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  // Returns null if there is no such key.
  const T* find(std::string_view key) const noexcept {
    const Node* node = root_.get();
    while (node != nullptr) {
      const int order = key.compare(node->key);
      if (order == 0) return &node->value;
      node = order < 0 ? node->left.get() : node->right.get();
    }
    return nullptr;
  }

  PersistentMap with(std::string_view key, T value) const {
    const std::size_t added = find(key) == nullptr ? 1 : 0;
    return PersistentMap(put(root_, key, priority_of(key), std::move(value)), size_ + added);
  }
  PersistentMap without(std::string_view key) const {
    if (find(key) == nullptr) return *this;
    return PersistentMap(drop(root_, key), size_ - 1);
  }

  // Visits all entries in the order of the keys.
  template <class Visit>
  void each(Visit visit) const {
    walk(root_.get(), {}, [&](const std::string& key, const T& value) {
      visit(key, value);
      return true;
    });
  }
  // Visits the entries from the first key that is not less than `from`, until `visit` returns false.
  template <class Visit>
  void each_from(std::string_view from, Visit visit) const {
    walk(root_.get(), from, visit);
  }

 private:
  struct Node;
  using Ref = std::shared_ptr<const Node>;
  struct Node {
    std::string key;
    T value;
    std::size_t priority;
    Ref left, right;
  };

  PersistentMap(Ref root, std::size_t size) : root_(std::move(root)), size_(size) {}

  // In some libraries, the std::hash values of short keys have the order of the keys. The multiplication spreads the values.
  static std::size_t priority_of(std::string_view key) noexcept { return std::hash<std::string_view>{}(key)*0x9E3779B97F4A7C15ull; }

  static Ref node(const Node& like, Ref left, Ref right) {
    return std::make_shared<const Node>(Node{like.key, like.value, like.priority, std::move(left), std::move(right)});
  }

  // Returns the entries before `key` and the entries after `key`. The tree does not contain `key`.
  static std::pair<Ref, Ref> split(const Ref& tree, std::string_view key) {
    if (!tree) return {};
    if (key.compare(tree->key) < 0) {
      auto [before, after] = split(tree->left, key);
      return {std::move(before), node(*tree, std::move(after), tree->right)};
    }
    auto [before, after] = split(tree->right, key);
    return {node(*tree, tree->left, std::move(before)), std::move(after)};
  }

  static Ref merge(const Ref& before, const Ref& after) {
    if (!before) return after;
    if (!after) return before;
    if (before->priority >= after->priority) return node(*before, before->left, merge(before->right, after));
    return node(*after, merge(before, after->left), after->right);
  }

  static Ref put(const Ref& tree, std::string_view key, std::size_t priority, T value) {
    if (!tree || priority > tree->priority) {
      auto [before, after] = split(tree, key);
      return std::make_shared<const Node>(Node{std::string(key), std::move(value), priority, std::move(before), std::move(after)});
    }
    const int order = key.compare(tree->key);
    if (order == 0) return std::make_shared<const Node>(Node{tree->key, std::move(value), priority, tree->left, tree->right});
    if (order < 0) return node(*tree, put(tree->left, key, priority, std::move(value)), tree->right);
    return node(*tree, tree->left, put(tree->right, key, priority, std::move(value)));
  }

  static Ref drop(const Ref& tree, std::string_view key) {
    const int order = key.compare(tree->key);
    if (order == 0) return merge(tree->left, tree->right);
    if (order < 0) return node(*tree, drop(tree->left, key), tree->right);
    return node(*tree, tree->left, drop(tree->right, key));
  }

  template <class Visit>
  static bool walk(const Node* tree, std::string_view from, const Visit& visit) {
    if (tree == nullptr) return true;
    const bool within = from.compare(tree->key) <= 0;
    if (within && !walk(tree->left.get(), from, visit)) return false;
    if (within && !visit(tree->key, tree->value)) return false;
    return walk(tree->right.get(), from, visit);
  }

  Ref root_;
  std::size_t size_ = 0;
};

}  // namespace backplane
