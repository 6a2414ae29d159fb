// A run of stored objects whose entries are built when one of them is first read. Until then the run holds only the bytes of the keys and
// values, and the first entry. A packed run takes three quarters of the memory of built entries, and loading a cache does not scan its
// objects.
//
// A reader that does not keep the entries (ListOptions::transient_objects) builds temporary ones, and the run stays packed.
//
// Thread-safety: every method from any thread; the first reader builds the entries, and other readers wait for that.
// Lifetime:      shared by the versions of an index.
// Errors:        throws what EntryBuilder::build() throws; the run then stays packed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/object.hpp"
#include "backplane/points/storage.hpp"
#include "watchcache/entry.hpp"
#include "watchcache/summary.hpp"

namespace backplane {

// The identity of an object in a cache.
struct KeyAt {
  std::string key;
  Revision revision = 0;
};

class PackedEntries {
 public:
  // The maximum number of entries of a run.
  static constexpr std::size_t kMost = 32;
  // `items`: not empty, at most kMost, readable, in key order. Copies their keys and values; builds the first entry.
  PackedEntries(std::shared_ptr<const EntryBuilder> builder, std::span<const KeyValue> items);

  std::size_t size() const noexcept { return size_; }
  bool built() const noexcept { return built_.load(std::memory_order_acquire); }
  const ObjectRef& first() const noexcept { return first_; }
  const std::vector<ObjectRef>& entries() const;
  // The summary of entries().
  const Summary& summary() const;
  // The entries. If the run is packed, it stays packed, and the result owns temporary entries.
  std::shared_ptr<const std::vector<ObjectRef>> transient_entries() const;
  // The number of keys before `key`. Builds no entries.
  std::size_t position(std::string_view key) const;
  // Appends the keys without building entries.
  void append_keys(std::vector<KeyAt>& out) const;

 private:
  struct Item {
    std::uint32_t key_size = 0;
    std::uint32_t value_size = 0;
    Revision revision = 0;
    EventType type = EventType::kAdded;
  };
  void build() const;
  std::vector<ObjectRef> make_entries() const;
  template <class Each>
  void for_each_item(const Each& each) const;

  const std::size_t size_;
  ObjectRef first_;
  mutable std::atomic<bool> built_{false};
  mutable std::mutex mutex_;  // guards the members below until the run is built
  mutable std::shared_ptr<const EntryBuilder> builder_;
  mutable std::string text_;  // key, value, key, value … of all objects but the first
  mutable std::vector<Item> items_;
  mutable std::vector<ObjectRef> entries_;
  mutable std::unique_ptr<const Summary> summary_;
};

}  // namespace backplane
