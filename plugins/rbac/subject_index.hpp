// The bindings of each subject: a persistent hash trie from (subject, namespace) to bindings.
//
// A change makes a new root that shares all but a few nodes with the former one. Nodes have no reference counts: a change adds the nodes
// that it replaces to a Garbage, and the owner frees them when no reader can use them any more.
//
// Thread-safety: the tree below a root never changes, so any thread may read it. One thread makes changes.
// Lifetime:      bindings, roles and their texts outlive every root that leads to them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/meta.hpp"
#include "rule_matcher.hpp"

namespace backplane::rbac {

// Memory to free, in any order.
class Garbage {
 public:
  Garbage() = default;
  Garbage(Garbage&& other) noexcept : things_(std::move(other.things_)) { other.things_.clear(); }
  Garbage& operator=(Garbage&&) = delete;
  ~Garbage();
  void add_all(Garbage&& other) {
    things_.insert(things_.end(), other.things_.begin(), other.things_.end());
    other.things_.clear();
  }
  template <class T>
  void add(const T* thing) {
    if (thing != nullptr) things_.push_back({const_cast<T*>(thing), [](void* old) { T::free(static_cast<T*>(old)); }});
  }

 private:
  struct Thing {
    void* thing;
    void (*free)(void*);
  };
  std::vector<Thing> things_;
};

struct RoleRulesBox {
  RoleRules rules;
  static void free(RoleRulesBox* box) { delete box; }
};

// A role that exists, or that a binding refers to.
struct Role {
  std::string kind;  // "Role", "ClusterRole", or another text that a binding has
  std::string ns;    // empty for ClusterRole
  std::string name;
  std::atomic<const RoleRulesBox*> rules{nullptr};  // null: the role does not exist
  std::size_t bindings = 0;                         // the bindings that refer to this role; used by the writer only

  static void free(Role* role);
};

enum class SubjectKind : std::uint8_t { kUser, kGroup, kServiceAccount };

// One subject of a binding. The namespace of a service account is that of the subject or, if the subject has none, that of the binding.
struct Subject {
  SubjectKind kind;
  std::string_view name, ns;
  bool matches(SubjectKind kind, std::string_view text) const noexcept;
};

// A binding in one block of memory: its texts follow its subjects.
class Binding {
 public:
  static Binding* make(Role& role, std::string_view ns, std::string_view name, std::span<const Subject> subjects);
  static void free(Binding* binding);

  Role& role() const noexcept { return *role_; }
  std::string_view ns() const noexcept { return {texts() + name_size_, ns_size_}; }
  std::string_view name() const noexcept { return {texts(), name_size_}; }
  std::size_t size() const noexcept { return subjects_; }
  Subject subject(std::size_t index) const noexcept;

 private:
  struct Place {
    std::uint32_t at, name_size, ns_size;
    SubjectKind kind;
  };
  Binding() = default;
  const Place* places() const noexcept { return reinterpret_cast<const Place*>(this + 1); }
  const char* texts() const noexcept { return reinterpret_cast<const char*>(places() + subjects_); }

  Role* role_;
  std::uint32_t name_size_, ns_size_, subjects_;
};

// Returns a hash with the seed of the process.
std::uint64_t seeded_hash(std::string_view text, std::uint64_t salt) noexcept;
// subject_hash() returns the hash of a subject; for `kind` and `text`, of a user or a group. scope_hash() returns the hash of a namespace
// ("" is the whole cluster). place_hash() combines both: it is the hash of the list of a subject in a scope.
std::uint64_t subject_hash(SubjectKind kind, std::string_view text) noexcept;
std::uint64_t subject_hash(const Subject& subject);
std::uint64_t scope_hash(std::string_view ns) noexcept;
inline std::uint64_t place_hash(std::uint64_t subject, std::uint64_t scope) noexcept { return (subject ^ scope) * 0x9E3779B97F4A7C15ULL; }

// The bindings of one subject in one scope: bindings of the same role are adjacent.
class BoundRoles {
 public:
  struct Item {
    const Binding* binding;
    std::uint32_t subject;  // the first subject of the binding that is the subject of this list
  };
  std::uint64_t hash() const noexcept { return hash_; }
  // A long list has an index by the keys of its roles (access_keys.hpp).
  bool indexed() const noexcept { return indexed_; }
  std::span<const Item> items() const noexcept { return {reinterpret_cast<const Item*>(this + 1), count_}; }

  // with() returns a copy of `list` (null: an empty list) with `item`. without() returns a copy without `binding`; null if the copy would
  // be empty. Both return `list` itself if there is nothing to change. as_indexed() returns a copy whose indexed() is true.
  static const BoundRoles* with(const BoundRoles* list, std::uint64_t hash, Item item);
  static const BoundRoles* without(const BoundRoles* list, const Binding& binding);
  static const BoundRoles* as_indexed(const BoundRoles& list);
  // The items whose role is `role`.
  std::span<const Item> of(const Role& role) const;
  static void free(BoundRoles* list);

 private:
  BoundRoles() = default;
  static BoundRoles* make(std::uint64_t hash, std::size_t count, bool indexed);
  Item* mutable_items() noexcept { return reinterpret_cast<Item*>(this + 1); }
  std::uint64_t hash_;
  std::uint32_t count_;
  bool indexed_;
};

class SubjectTrie {
 public:
  struct Node;
  static const BoundRoles* find(const Node* root, std::uint64_t hash) noexcept;
  // Returns a new root in which `list` replaces the list with `hash`; a null `list` removes that list. Returns null if the tree is empty.
  static const Node* with(const Node* root, std::uint64_t hash, const BoundRoles* list, Garbage& garbage);
  // Frees a tree with its lists.
  static void free_all(const Node* root);
};

}  // namespace backplane::rbac
