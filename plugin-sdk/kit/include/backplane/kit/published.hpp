// The newest version of an immutable value. Writers replace it; readers get a shared reference to it.
//
// Thread-safety: get() and set() from any thread. Neither takes a lock or waits for another thread.
// Lifetime:      a version lives as long as a reader refers to it. The last reference destroys it, on the thread that releases it.
// Errors:        std::bad_alloc by the constructor and set().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace backplane::kit {

// The value is in a node. One word has the address of the newest node and the number of get() calls that have read the address and still
// use the node. set() moves that number from the word to the node that it replaces, and whoever finds that no call is left deletes the
// node (split reference counts). std::atomic<std::shared_ptr> of libstdc++ and boost::atomic_shared_ptr have a spin lock instead.
template <class T>
class Published {
 public:
  Published() : Published(nullptr) {}
  explicit Published(std::shared_ptr<const T> first) : word_(word_of(new Node{std::move(first)})) {}
  ~Published() { delete node_of(word_.load(std::memory_order_acquire)); }
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;

  // Null before the first set(), unless a value was passed to the constructor.
  std::shared_ptr<const T> get() const {
    std::uint64_t word = word_.fetch_add(kOneCall, std::memory_order_acq_rel) + kOneCall;
    Node* const node = node_of(word);
    std::shared_ptr<const T> out = node->value;
    // The address cannot belong to a later node, because this call keeps the node alive.
    while (node_of(word) == node) {
      if (word_.compare_exchange_weak(word, word - kOneCall, std::memory_order_acq_rel, std::memory_order_acquire)) return out;
    }
    if (node->calls.fetch_sub(1, std::memory_order_acq_rel) == 1) delete node;
    return out;
  }

  void set(std::shared_ptr<const T> next) {
    const std::uint64_t former = word_.exchange(word_of(new Node{std::move(next)}), std::memory_order_acq_rel);
    const auto calls = static_cast<std::int64_t>(former >> kAddressBits);
    Node* const node = node_of(former);
    if (node->calls.fetch_add(calls, std::memory_order_acq_rel) + calls == 0) delete node;
  }

 private:
  struct Node {
    std::shared_ptr<const T> value;
    // After set() has replaced the node: the calls that use it. Before: minus the calls that have ended since; see set().
    std::atomic<std::int64_t> calls{0};
  };
  // User-space addresses have 48 bits on x86-64 and AArch64. 16 bits count the calls in progress: at most one for each thread.
  static constexpr int kAddressBits = 48;
  static constexpr std::uint64_t kOneCall = std::uint64_t{1} << kAddressBits;
  static_assert(sizeof(void*) == sizeof(std::uint64_t));

  static std::uint64_t word_of(Node* node) noexcept { return reinterpret_cast<std::uintptr_t>(node); }
  static Node* node_of(std::uint64_t word) noexcept { return reinterpret_cast<Node*>(static_cast<std::uintptr_t>(word & (kOneCall - 1))); }

  mutable std::atomic<std::uint64_t> word_;
};

}  // namespace backplane::kit
