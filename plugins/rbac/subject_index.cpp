#include "subject_index.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <random>
#include <tuple>

namespace backplane::rbac {
namespace {

constexpr std::string_view kServiceAccountPrefix = "system:serviceaccount:";

std::uint64_t multiplied(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

}  // namespace

// Seeded, so that clients cannot choose names that collide.
std::uint64_t seeded_hash(std::string_view text, std::uint64_t salt) noexcept {
  static const std::uint64_t seed = (std::uint64_t{std::random_device()()} << 32U) | std::random_device()();
  std::uint64_t out = seed ^ salt;
  std::uint64_t word = 0;
  while (text.size() > sizeof word) {
    std::memcpy(&word, text.data(), sizeof word);
    out = multiplied(out ^ word, 0xA0761D6478BD642FULL);
    text.remove_prefix(sizeof word);
  }
  word = 0;
  std::memcpy(&word, text.data(), text.size());
  return multiplied(multiplied(out ^ word, 0xE7037ED1A0B428DBULL) ^ (text.size() + 1), 0x8EBC6AF09C88C6E3ULL);
}

namespace {

bool precedes(const BoundRoles::Item& a, const BoundRoles::Item& b) {
  const Role &left = a.binding->role(), &right = b.binding->role();
  return std::tuple(std::string_view(left.name), std::string_view(left.kind), a.binding->name()) <
         std::tuple(std::string_view(right.name), std::string_view(right.kind), b.binding->name());
}

}  // namespace

Garbage::~Garbage() {
  for (const Thing& each : things_) each.free(each.thing);
}

// ---- roles and bindings

void Role::free(Role* role) {
  delete role->rules.load(std::memory_order_relaxed);
  delete role;
}

bool Subject::matches(SubjectKind wanted, std::string_view text) const noexcept {
  if (kind != SubjectKind::kServiceAccount) return kind == wanted && name == text;
  if (wanted != SubjectKind::kUser || text.size() != kServiceAccountPrefix.size() + ns.size() + 1 + name.size()) return false;
  const std::string_view rest = text.substr(kServiceAccountPrefix.size());
  return text.starts_with(kServiceAccountPrefix) && rest.starts_with(ns) && rest[ns.size()] == ':' && rest.ends_with(name);
}

Binding* Binding::make(Role& role, std::string_view ns, std::string_view name, std::span<const Subject> subjects) {
  std::size_t size = ns.size() + name.size();
  for (const Subject& subject : subjects) size += subject.name.size() + subject.ns.size();
  void* const memory = ::operator new(sizeof(Binding) + subjects.size() * sizeof(Place) + size);
  auto* const out = new (memory) Binding();
  out->role_ = &role;
  out->name_size_ = static_cast<std::uint32_t>(name.size());
  out->ns_size_ = static_cast<std::uint32_t>(ns.size());
  out->subjects_ = static_cast<std::uint32_t>(subjects.size());
  char* const texts = const_cast<char*>(out->texts());
  std::size_t at = 0;
  const auto put = [&](std::string_view text) {
    std::memcpy(texts + at, text.data(), text.size());
    at += text.size();
  };
  put(name);
  put(ns);
  auto* place = const_cast<Place*>(out->places());
  for (const Subject& subject : subjects) {
    new (place++) Place{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(subject.name.size()),
                        static_cast<std::uint32_t>(subject.ns.size()), subject.kind};
    put(subject.name);
    put(subject.ns);
  }
  return out;
}

void Binding::free(Binding* binding) {
  binding->~Binding();
  ::operator delete(binding);
}

Subject Binding::subject(std::size_t index) const noexcept {
  const Place& place = places()[index];
  const char* const text = texts() + place.at;
  return {place.kind, {text, place.name_size}, {text + place.name_size, place.ns_size}};
}

std::uint64_t subject_hash(SubjectKind kind, std::string_view text) noexcept {
  return seeded_hash(text, kind == SubjectKind::kGroup ? 0x589965CC75374CC3ULL : 0);
}
std::uint64_t subject_hash(const Subject& subject) {
  if (subject.kind != SubjectKind::kServiceAccount) return subject_hash(subject.kind, subject.name);
  std::string user(kServiceAccountPrefix);
  user.append(subject.ns).append(":").append(subject.name);
  return subject_hash(SubjectKind::kUser, user);
}
std::uint64_t scope_hash(std::string_view ns) noexcept { return seeded_hash(ns, 0x1D8E4E27C47D124FULL); }

// ---- lists

BoundRoles* BoundRoles::make(std::uint64_t hash, std::size_t count, bool indexed) {
  auto* const out = new (::operator new(sizeof(BoundRoles) + count * sizeof(Item))) BoundRoles();
  out->hash_ = hash;
  out->count_ = static_cast<std::uint32_t>(count);
  out->indexed_ = indexed;
  return out;
}

const BoundRoles* BoundRoles::with(const BoundRoles* list, std::uint64_t hash, Item item) {
  const std::span<const Item> old = list != nullptr ? list->items() : std::span<const Item>();
  const auto at = std::lower_bound(old.begin(), old.end(), item, precedes);
  if (at != old.end() && at->binding == item.binding) return list;
  BoundRoles* const out = make(hash, old.size() + 1, list != nullptr && list->indexed_);
  Item* next = std::copy(old.begin(), at, out->mutable_items());
  *next++ = item;
  std::copy(at, old.end(), next);
  return out;
}

const BoundRoles* BoundRoles::without(const BoundRoles* list, const Binding& binding) {
  if (list == nullptr) return nullptr;
  const std::span<const Item> old = list->items();
  const auto at = std::lower_bound(old.begin(), old.end(), Item{&binding, 0}, precedes);
  if (at == old.end() || at->binding != &binding) return list;
  if (old.size() == 1) return nullptr;
  BoundRoles* const out = make(list->hash_, old.size() - 1, list->indexed_);
  std::copy(at + 1, old.end(), std::copy(old.begin(), at, out->mutable_items()));
  return out;
}

const BoundRoles* BoundRoles::as_indexed(const BoundRoles& list) {
  BoundRoles* const out = make(list.hash_, list.count_, true);
  std::copy(list.items().begin(), list.items().end(), out->mutable_items());
  return out;
}

std::span<const BoundRoles::Item> BoundRoles::of(const Role& role) const {
  const auto key = [](const Role& each) { return std::pair(std::string_view(each.name), std::string_view(each.kind)); };
  const std::span<const Item> all = items();
  const auto first = std::partition_point(all.begin(), all.end(), [&](const Item& item) { return key(item.binding->role()) < key(role); });
  const auto last = std::partition_point(first, all.end(), [&](const Item& item) { return &item.binding->role() == &role; });
  return {first, last};
}

void BoundRoles::free(BoundRoles* list) { ::operator delete(list); }

// ---- the trie: five bits of the hash for each level; a slot holds a list, or a node if several lists share the bits so far

struct SubjectTrie::Node {
  std::uint32_t lists = 0, nodes = 0;  // bits: the kind of the slot; neither bit: the slot is empty

  static constexpr unsigned kBits = 5;
  static Node* make(std::uint32_t lists, std::uint32_t nodes) {
    const auto count = static_cast<std::size_t>(std::popcount(lists | nodes));
    auto* const out = new (::operator new(sizeof(Node) + count * sizeof(void*))) Node();
    out->lists = lists;
    out->nodes = nodes;
    return out;
  }
  static void free(Node* node) { ::operator delete(node); }
  static std::uint32_t bit(std::uint64_t hash, unsigned shift) noexcept { return 1U << ((hash >> shift) & 31U); }

  const void** slots() noexcept { return reinterpret_cast<const void**>(this + 1); }
  const void* const* slots() const noexcept { return reinterpret_cast<const void* const*>(this + 1); }
  std::size_t place(std::uint32_t bit) const noexcept { return static_cast<std::size_t>(std::popcount((lists | nodes) & (bit - 1))); }
  const Node* node(std::uint32_t bit) const noexcept { return static_cast<const Node*>(slots()[place(bit)]); }
  const BoundRoles* list(std::uint32_t bit) const noexcept { return static_cast<const BoundRoles*>(slots()[place(bit)]); }
  bool is_lone_list() const noexcept { return nodes == 0 && std::popcount(lists) == 1; }

  // A copy of a node with one slot replaced.
  const Node* with(std::uint32_t bit, const void* thing, bool is_node) const {
    const std::uint32_t others = ~bit;
    Node* const out = make((lists & others) | (thing != nullptr && !is_node ? bit : 0), (nodes & others) | (is_node ? bit : 0));
    for (std::uint32_t left = (lists | nodes) & others; left != 0; left &= left - 1) {
      const std::uint32_t one = left & (~left + 1);
      out->slots()[out->place(one)] = slots()[place(one)];
    }
    if (thing != nullptr) out->slots()[out->place(bit)] = thing;
    return out;
  }
};

namespace {

using Node = SubjectTrie::Node;

// A node that holds two lists whose hashes agree below `shift`. Different hashes differ somewhere in their 64 bits.
const Node* node_of(const BoundRoles* a, const BoundRoles* b, unsigned shift) {
  const std::uint32_t left = Node::bit(a->hash(), shift), right = Node::bit(b->hash(), shift);
  if (left == right) {
    const Node* const deeper = node_of(a, b, shift + Node::kBits);
    Node* const out = Node::make(0, left);
    out->slots()[0] = deeper;
    return out;
  }
  Node* const out = Node::make(left | right, 0);
  out->slots()[out->place(left)] = a;
  out->slots()[out->place(right)] = b;
  return out;
}

const Node* changed(const Node* node, std::uint64_t hash, const BoundRoles* list, unsigned shift, Garbage& garbage) {
  const std::uint32_t bit = Node::bit(hash, shift);
  if ((node->nodes & bit) != 0) {
    const Node* const old = node->node(bit);
    const Node* const now = changed(old, hash, list, shift + Node::kBits, garbage);
    if (now == old) return node;
    garbage.add(node);
    if (!now->is_lone_list()) return node->with(bit, now, true);
    // A node with a single list is replaced by that list.
    const void* const lone = now->slots()[0];
    Node::free(const_cast<Node*>(now));
    return node->with(bit, lone, false);
  }
  if ((node->lists & bit) != 0 && node->list(bit)->hash() != hash) {
    if (list == nullptr) return node;
    garbage.add(node);
    return node->with(bit, node_of(node->list(bit), list, shift + Node::kBits), true);
  }
  if (list == nullptr && (node->lists & bit) == 0) return node;
  garbage.add(node);
  return node->with(bit, list, false);
}

}  // namespace

const BoundRoles* SubjectTrie::find(const Node* root, std::uint64_t hash) noexcept {
  unsigned shift = 0;
  for (const Node* node = root; node != nullptr; shift += Node::kBits) {
    const std::uint32_t bit = Node::bit(hash, shift);
    if ((node->nodes & bit) != 0) {
      node = node->node(bit);
    } else {
      const BoundRoles* const list = (node->lists & bit) != 0 ? node->list(bit) : nullptr;
      return list != nullptr && list->hash() == hash ? list : nullptr;
    }
  }
  return nullptr;
}

const SubjectTrie::Node* SubjectTrie::with(const Node* root, std::uint64_t hash, const BoundRoles* list, Garbage& garbage) {
  if (root == nullptr) root = Node::make(0, 0);
  const BoundRoles* const old = find(root, hash);
  if (old == list) return root;
  garbage.add(old);
  return changed(root, hash, list, 0, garbage);
}

void SubjectTrie::free_all(const Node* root) {
  if (root == nullptr) return;
  for (std::uint32_t left = root->lists | root->nodes; left != 0; left &= left - 1) {
    const std::uint32_t bit = left & (~left + 1);
    if ((root->nodes & bit) != 0) {
      free_all(root->node(bit));
    } else {
      BoundRoles::free(const_cast<BoundRoles*>(root->list(bit)));
    }
  }
  Node::free(const_cast<Node*>(root));
}

}  // namespace backplane::rbac
