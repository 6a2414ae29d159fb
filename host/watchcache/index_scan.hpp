// An iteration over the selected entries of an index, in portions.
//
// Thread-safety: none; one walker at a time.
// Lifetime:      keeps its version of the index, and so every returned entry, alive. Entries of packed runs that a transient selection has
//                found live until release().
#pragma once

#include <span>
#include <vector>

#include "backplane/rest/roles.hpp"
#include "watchcache/object_index.hpp"
#include "watchcache/selection.hpp"

namespace backplane {

class IndexScan {
 public:
  // The `count` entries from `cursor` on.
  IndexScan(ObjectIndex::Cursor cursor, std::size_t count, Selection selection)
      : cursor_(std::move(cursor)), left_(count), selection_(std::move(selection)) {}
  // The whole range of `selection`.
  IndexScan(const ObjectIndex& index, Selection selection);

  using Found = std::vector<const ObjectRef*>;
  // Appends selected entries until `found` has `limit` entries or the end is reached. True: it has stopped earlier, because it has examined
  // so many entries that the caller should yield.
  bool take(Found& found, std::size_t limit);
  // The number of entries that have not been examined yet.
  std::size_t left() const noexcept { return left_; }
  // Invalidates the references that take() has returned.
  void release() noexcept { found_in_.clear(); }

 private:
  // Adds its cost to `looks`. False at the end.
  bool next_run(std::size_t& looks);

  ObjectIndex::Cursor cursor_;
  std::size_t left_;
  Selection selection_;
  std::span<const ObjectRef> run_;  // the current run, without examined entries; included in left_
  using Owner = std::shared_ptr<const std::vector<ObjectRef>>;
  Owner run_owner_;              // of run_; null: the index
  std::vector<Owner> found_in_;  // owners of found entries
};

// The remaining entries of `scan`, as the items of a list.
std::unique_ptr<ObjectCursor> make_cursor(IndexScan scan);
// Entries that `scan` has found and keeps alive.
std::unique_ptr<ObjectCursor> make_cursor(IndexScan scan, IndexScan::Found found);

}  // namespace backplane
