// A walk over the selected entries of an index, portion by portion.
//
// Thread-safety: none; one walker at a time.
// Lifetime:      keeps its version of the index, and so every entry it gave, alive. Entries of packed runs that a transient selection has
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
  // Appends selected entries until `found` has `limit`, the end is reached, or so many have been looked at that others should go first:
  // then true.
  bool take(Found& found, std::size_t limit);
  // Entries not looked at yet.
  std::size_t left() const noexcept { return left_; }
  // Ends the references that take() has found.
  void release() noexcept { found_in_.clear(); }

 private:
  // Adds what it costs to `looks`. False at the end.
  bool next_run(std::size_t& looks);

  ObjectIndex::Cursor cursor_;
  std::size_t left_;
  Selection selection_;
  std::span<const ObjectRef> run_;  // at hand, not looked at yet; part of left_
  using Owner = std::shared_ptr<const std::vector<ObjectRef>>;
  Owner run_owner_;              // of run_; null: the index
  std::vector<Owner> found_in_;  // owners of found entries
};

// What is left of `scan`, as a list's items.
std::unique_ptr<ObjectCursor> make_cursor(IndexScan scan);
// Entries that `scan` has found and keeps alive.
std::unique_ptr<ObjectCursor> make_cursor(IndexScan scan, IndexScan::Found found);

}  // namespace backplane
