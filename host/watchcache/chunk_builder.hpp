// Builds an index of packed entries (packed_entries.hpp) from pages of a store. The blocking pool decodes and packs the objects while the
// next pages are being read.
//
// Thread-safety: one loader, on its executor.
// Lifetime:      chunks in progress at destruction are finished and dropped; the task group waits for them.
// Errors:        add() and finish() rethrow an exception of the entry builder; add() returns kServiceUnavailable once the group is closed.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/task_group.hpp"
#include "storage/object_storage.hpp"
#include "watchcache/object_index.hpp"
#include "watchcache/resource_cache.hpp"

namespace backplane {

struct LoadedObjects {
  ObjectIndex index;
  Unreadable unreadable;
  std::size_t bytes = 0;  // approximate size of the objects: the inserted resourceVersion is not counted
  Revision revision = 0;  // the store's revision at which all objects were read
};

class ChunkBuilder {
 public:
  // `storage` decodes the chunks; it outlives the group.
  ChunkBuilder(std::shared_ptr<const EntryBuilder> builder, const ObjectStorage& storage, TaskGroup& tasks, Executor& executor)
      : builder_(std::move(builder)), storage_(storage), tasks_(tasks), executor_(executor) {}

  // Starts to build the objects of a page. The keys of the page follow those of all earlier pages. If too many chunks are in progress,
  // waits for the oldest one and adds its objects to `loaded`.
  Task<Status> add(std::vector<KeyValue> items, LoadedObjects& loaded);
  // Adds all remaining objects to `loaded`.
  Task<void> finish(LoadedObjects& loaded);

 private:
  struct Chunk;
  static Task<void> build(std::shared_ptr<const EntryBuilder> builder, const ObjectStorage& storage, std::shared_ptr<Chunk> chunk);
  bool begin(std::vector<KeyValue> items);
  Task<void> take_first(LoadedObjects& loaded);

  const std::shared_ptr<const EntryBuilder> builder_;
  const ObjectStorage& storage_;
  TaskGroup& tasks_;
  Executor& executor_;
  std::deque<std::shared_ptr<Chunk>> pending_;
};

}  // namespace backplane
