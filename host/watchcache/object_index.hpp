// A persistent ordered map from storage key to entry: copying it copies one reference; changing a copy copies one path.
//
// It is a B+ tree whose nodes are shared between versions. A node that was made since the last share() is changed in place, so a batch of
// changes copies each changed node once. Each node stores the size of its subtree, so rank() and cursor_at() take O(log n).
//
// A leaf that has not changed since it was loaded holds its objects packed (PackedEntries); the first read of one of them, or a change,
// builds the entries of the leaf.
//
// Thread-safety: distinct ObjectIndex objects are independent even if they share nodes. One object may be changed by one thread, or read by
//                several.
// Lifetime:      nodes live as long as any version that holds them.
// Errors:        none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "backplane/core/object.hpp"
#include "watchcache/packed_entries.hpp"
#include "watchcache/summary.hpp"

namespace backplane {

class ObjectIndex {
 public:
  struct Node;
  using NodeRef = std::shared_ptr<Node>;

  ObjectIndex();
  ObjectIndex(ObjectIndex&&) noexcept = default;
  ObjectIndex& operator=(ObjectIndex&&) noexcept = default;
  // A second version with the same entries; from now on both copy the nodes that they change.
  ObjectIndex share();

  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }
  // The entry of the key; null: it does not exist.
  ObjectRef find(std::string_view key) const;
  // The number of keys before `key`.
  std::size_t rank(std::string_view key) const;

  // Inserts the entry under entry->key(), or replaces the entry of that key. Returns the replaced entry, or null.
  ObjectRef put(ObjectRef entry);
  // Removes the entry of the key and returns it; null: it does not exist.
  ObjectRef remove(std::string_view key);
  // Adds objects whose keys follow all others. Used to fill an empty index. The entries are built when one of them is first read.
  void append(std::shared_ptr<const PackedEntries> run);

  // Walks entries in key order.  Keeps its version of the index alive.
  class Cursor {
   public:
    Cursor() = default;
    // The next entry, or null at the end; valid as long as the cursor.
    const ObjectRef* next();
    // A run of entries with one summary.
    struct Run {
      std::span<const ObjectRef> entries;  // empty at the end
      const Summary* summary = nullptr;
      bool built_now = false;  // the entries had to be built, which takes some 0.2 ms
    };
    // Returns the rest of the run that begins with the next entry, and moves after it.
    Run next_run();
    // As next_run(), but a packed run stays packed: its entries are built for the caller and live as long as `owner`, and Run::summary is
    // null. `owner` is null if the index holds the entries of the run.
    Run next_run_transient(std::shared_ptr<const std::vector<ObjectRef>>& owner);
    // As next_run(), but appends the keys of the rest of the run to `out` and builds no entries. False at the end.
    bool next_keys(std::vector<KeyAt>& out);

   private:
    friend class ObjectIndex;
    // Moves to the leaf with the next entry and returns it; null at the end.
    const Node* leaf();
    struct Step {
      const Node* node = nullptr;
      std::size_t at = 0;
    };
    static constexpr std::size_t kMaxDepth = 16;
    NodeRef root_;
    Step steps_[kMaxDepth];
    std::size_t depth_ = 0;
  };
  // A cursor at the first entry whose key is not less than `from`.
  Cursor cursor(std::string_view from) const;
  // A cursor at the entry with `rank` entries before it.
  Cursor cursor_at(std::size_t rank) const;

 private:
  NodeRef root_;
  std::uint64_t edit_;  // nodes with this value belong to this version only
};

}  // namespace backplane
