// The results of a storage's verbs: lists as cursors, watches as streams, the results of updates and deletes.
//
// Thread-safety: a cursor and a stream belong to one request; WatchStream::cancel may be called from any thread.
// Lifetime:      a cursor and a stream keep their source alive.
// Errors:        sent to the client unchanged.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backplane/core/object.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// The objects of a list, in batches, so that a list is never in memory as a whole.
class ObjectCursor {
 public:
  virtual ~ObjectCursor();
  // The next objects in order, at most a few hundred; empty at the end. Valid until the next call. One call at a time. A long search with
  // few results yields to other work of the executor.
  // Errors: those of the source; the list then ends incomplete.
  virtual Task<Result<std::span<const ObjectEntry* const>>> next() = 0;
  // Restarts at the first object; not while next() is pending. False: this cursor cannot restart and keeps its position.
  virtual bool rewind() { return false; }
};
// A cursor over objects in memory.
std::unique_ptr<ObjectCursor> make_cursor(std::vector<ObjectRef> entries);
// Calls `visit` for every remaining object. Errors: the cursor's.
Task<Status> for_each(ObjectCursor& items, std::function<void(const ObjectEntry&)> visit);

// The result of list and deletecollection.
struct ListResult {
  Revision revision = 0;                  // metadata.resourceVersion
  std::string continue_token;             // metadata.continue; empty: the list is complete
  std::optional<std::int64_t> remaining;  // metadata.remainingItemCount
  std::unique_ptr<ObjectCursor> items;
};

// One event of a watch.
struct WatchEvent {
  using Type = EventType;
  Type type = Type::kAdded;
  ObjectRef object;  // kBookmark: an entry whose JSON is the bookmark; kError: a Status
};

// A running watch.
class WatchStream {
 public:
  virtual ~WatchStream();
  // Waits for at least one event. An empty vector: the watch has ended without an error.
  // Errors: kExpired or kGone if the watcher is slower than the retained history; the stream has then ended.
  virtual Task<Result<std::vector<WatchEvent>>> next() = 0;
  // Ends a pending next() and all later ones with an empty vector. Any thread.
  virtual void cancel() = 0;
};

// The result of an update.
struct UpdateResult {
  ObjectRef object;
  bool created = false;
  // True if the update removed the last finalizer of an object that was being deleted: `object` is its last state.
  bool deleted = false;
};

// The result of a delete.
struct DeleteResult {
  ObjectRef object;      // the removed object, or the one that is marked as being deleted
  bool deleted = false;  // false: the object stays until its finalizers are removed or its grace period ends
  // Respond with the object (pods, namespaces …) instead of a Status.
  bool return_object = false;
};

}  // namespace BACKPLANE_API
