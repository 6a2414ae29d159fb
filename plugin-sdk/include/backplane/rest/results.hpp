// The results of a storage's verbs: lists as cursors, watches as streams, and the results of updates and deletes.
//
// Thread-safety: a cursor and a stream belong to one request; WatchStream::cancel may be called from any thread.
// Lifetime:      a cursor and a stream share ownership of their source.
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
  // Returns the next objects in order, at most a few hundred; empty at the end. The span is valid until the next call. Only one call at a
  // time. A long search with few results yields to other work of the executor.
  // Errors: those of the source; after an error the list is incomplete.
  virtual Task<Result<std::span<const ObjectEntry* const>>> next() = 0;
  // Restarts at the first object. Must not be called while next() is pending. Returns false if this cursor cannot restart; it then keeps
  // its position.
  virtual bool rewind() { return false; }
};
// Returns a cursor over objects in memory.
std::unique_ptr<ObjectCursor> make_cursor(std::vector<ObjectRef> entries);
// Calls `visit` for every remaining object. Errors: those of next().
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
  ObjectRef object;  // kBookmark: the JSON of the entry is the bookmark; kError: its JSON is a Status
};

// A running watch.
class WatchStream {
 public:
  virtual ~WatchStream();
  // Waits for at least one event. Returns an empty vector if the watch has ended without an error.
  // Errors: kExpired or kGone if the reader is so slow that the events it needs are no longer retained; the stream has then ended.
  virtual Task<Result<std::vector<WatchEvent>>> next() = 0;
  // Makes a pending next() and all later calls return an empty vector. Any thread.
  virtual void cancel() = 0;
};

// The result of an update.
struct UpdateResult {
  ObjectRef object;
  bool created = false;
  // True if the update has removed the last finalizer of an object that was being deleted. `object` is then the last state of the object.
  bool deleted = false;
};

// The result of a delete.
struct DeleteResult {
  ObjectRef object;      // the removed object, or the object that is now marked as being deleted
  bool deleted = false;  // false: the object stays until its finalizers are removed or its grace period ends
  // True: the response is the object (pods, namespaces …) instead of a Status.
  bool return_object = false;
};

}  // namespace BACKPLANE_API
