// Turns stored key-values into entries beside the loop that loads: chunks are built on the blocking pool while the next ones are read.
//
// Thread-safety: one loader, on the executor it was given.
// Lifetime:      what is still being built when the builder goes away is built to its end for nobody; the task group knows of it.
// Errors:        an exception of the entry builder is thrown where its chunk is taken; kServiceUnavailable once the group is closed.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "base/task_group.hpp"
#include "watchcache/object_index.hpp"
#include "watchcache/resource_cache.hpp"

namespace backplane {

class ChunkBuilder {
 public:
  ChunkBuilder(std::shared_ptr<const ResourceCache> cache, TaskGroup& tasks, Executor& executor)
      : cache_(std::move(cache)), tasks_(tasks), executor_(executor) {}

  // Begins to build a chunk, whose keys are behind all before, once few enough are under way; those that are done go to `index`.
  Task<Status> add(std::vector<KeyValue> items, ObjectIndex& index);
  // Everything that is left goes to `index`.
  Task<void> finish(ObjectIndex& index);

 private:
  struct Chunk;
  static Task<void> build(std::shared_ptr<const ResourceCache> cache, std::shared_ptr<Chunk> chunk);
  Task<void> take_first(ObjectIndex& index);

  const std::shared_ptr<const ResourceCache> cache_;
  TaskGroup& tasks_;
  Executor& executor_;
  std::deque<std::shared_ptr<Chunk>> pending_;
};

}  // namespace backplane
