// An iteration over the selected entries of an index, in portions.
//
// Thread-safety: none; one caller at a time.
// Lifetime:      keeps its version of the index, and so every returned entry, alive. If the selection is transient
//                (ListOptions::transient_objects), entries that were built from a packed run live until release().
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
  // Appends selected entries until `found` has `limit` entries, the end is reached, or so many entries have been examined that the caller
  // should yield. Returns true in the last case.
  bool take(Found& found, std::size_t limit);
  // The number of entries that have not been examined yet.
  std::size_t left() const noexcept { return left_; }
  // Invalidates the references that take() has returned.
  void release() noexcept { found_in_.clear(); }

 private:
  // Moves to the next run, or skips it if its summary excludes a match. Adds the cost to `looks`, in examined entries. False at the end.
  bool next_run(std::size_t& looks);

  ObjectIndex::Cursor cursor_;
  std::size_t left_;
  Selection selection_;
  std::span<const ObjectRef> run_;  // the entries of the current run that have not been examined; left_ includes them
  using Owner = std::shared_ptr<const std::vector<ObjectRef>>;
  Owner run_owner_;              // the owner of the entries in run_; null: the index owns them
  std::vector<Owner> found_in_;  // the owners of the returned entries
};

// A cursor over the remaining entries of `scan`, for a ListResult.
std::unique_ptr<ObjectCursor> make_cursor(IndexScan scan);
// A cursor over `found`: entries that `scan` has returned. The cursor holds `scan`, which keeps them alive.
std::unique_ptr<ObjectCursor> make_cursor(IndexScan scan, IndexScan::Found found);

}  // namespace backplane
