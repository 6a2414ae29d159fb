// Informers: a resource cached in memory by one list and one watch, shared by all readers and event handlers (client-go's cache and
// informers packages).
//
// For a resource of this process the objects are the watch cache's own entries: an informer costs one map of references. A controller
// adds keys to a WorkQueue in its handlers and reads the indexer in its workers.
//
// Thread-safety: every method from any thread. Handlers are called one at a time, in order, on the executor of run(); they must return
//                quickly and must not add or remove handlers. Objects from an Indexer are immutable.
// Lifetime:      shared; run() keeps the informer alive.
// Errors:        a failed list or watch is logged and retried with growing pauses up to kLongestPause; 410 (history compacted) causes a
//                new list, whose differences are reported to the handlers.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/object.hpp"
#include "backplane/core/options.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/rest/results.hpp"
#include "backplane/rest/roles.hpp"

namespace backplane BACKPLANE_API {

class Host;
class Logger;

// "namespace/name", or "name" for cluster-scoped objects (cache.MetaNamespaceKeyFunc, cache.SplitMetaNamespaceKey).
std::string object_key(const ObjectEntry& object);
std::string object_key(std::string_view ns, std::string_view name);
std::pair<std::string, std::string> split_object_key(std::string_view key);

// The source of an informer's objects.
class ListerWatcher {
 public:
  virtual ~ListerWatcher();
  struct Page {
    std::vector<ObjectRef> items;
    Revision revision = 0;
    std::string continue_token;  // empty: the last
  };
  // One page of the collection. If streams_lists(), it is called only after watch() has refused to begin with the existing objects.
  virtual Task<Result<Page>> list(ListOptions options) = 0;
  virtual Task<Result<std::shared_ptr<WatchStream>>> watch(ListOptions options) = 0;
  // True if watch() can begin with the existing objects (sendInitialEvents).
  virtual bool streams_lists() const noexcept { return false; }
};
// A storage of this process; empty `ns`: all namespaces. Reads without authorization and admission.
std::shared_ptr<ListerWatcher> list_watch(std::shared_ptr<RestStorage> storage, std::string ns = {});
// The storage that serves the resource here, looked up for each call. Errors: kNotFound if no plugin serves it.
std::shared_ptr<ListerWatcher> list_watch(Host& host, GroupVersionResource resource, std::string ns = {});

// The index values of an object.
using IndexFunc = std::function<std::vector<std::string>(const ObjectEntry& object)>;
using Indexers = std::map<std::string, IndexFunc, std::less<>>;
// The index that every informer has.
inline constexpr std::string_view kNamespaceIndex = "namespace";

// The cached objects, by key and by index.
class Indexer {
 public:
  Indexer();
  ~Indexer();
  Indexer(const Indexer&) = delete;
  Indexer& operator=(const Indexer&) = delete;

  ObjectRef get(std::string_view key) const;  // null if absent
  // Sorted by namespace, then by name; a snapshot.
  std::vector<ObjectRef> list() const;
  std::vector<std::string> list_keys() const;
  std::size_t size() const;
  // Adds indexes and fills them from the cached objects. Errors: kAlreadyExists for a name that is taken; then none is added.
  Status add_indexers(Indexers indexers);
  // The objects with `value`, their keys, or all values of an index; sorted. Errors: kNotFound for an unknown index.
  Result<std::vector<ObjectRef>> by_index(std::string_view index, const std::string& value) const;
  Result<std::vector<std::string>> index_keys(std::string_view index, const std::string& value) const;
  Result<std::vector<std::string>> index_values(std::string_view index) const;

  // For the informer: inserts or replaces; both return the previous object or null.
  ObjectRef put(ObjectRef object);
  ObjectRef remove(std::string_view key);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Callbacks of one handler; each may be empty.
struct ResourceEventHandler {
  std::function<void(const ObjectRef& object, bool is_in_initial_list)> on_add;
  // Called also at every resync, with the same object twice.
  std::function<void(const ObjectRef& old, const ObjectRef& now)> on_update;
  // `final_state_unknown`: the delete event was missed; `last` is the last known state.
  std::function<void(const ObjectRef& last, bool final_state_unknown)> on_delete;
};

class WorkQueue;
// A handler that adds the key of every added, updated or deleted object to `queue`.
ResourceEventHandler enqueue_keys(std::shared_ptr<WorkQueue> queue);

// One cached resource. Make it, add handlers, then run() it once.
class SharedInformer : public std::enable_shared_from_this<SharedInformer> {
 public:
  static constexpr std::chrono::milliseconds kFirstPause{100};
  static constexpr std::chrono::seconds kLongestPause{30};

  // `name` appears in log lines.
  static std::shared_ptr<SharedInformer> make(std::string name, std::shared_ptr<ListerWatcher> source, Logger& logger);
  ~SharedInformer();

  // Adds a handler and calls on_add for all cached objects inside this call. Returns the id for remove_event_handler().
  int add_event_handler(ResourceEventHandler handler);
  // Waits for a running delivery; the handler is not called afterwards. Without effect for an unknown id.
  void remove_event_handler(int number);
  // The cached objects.
  Indexer& indexer() noexcept;
  const Indexer& indexer() const noexcept;

  // True once the first list is complete and every handler has received it.
  bool has_synced() const noexcept;
  // Waits for has_synced(); false if the informer is stopped first.
  Task<bool> wait_synced();
  // The revision up to which the cache is complete.
  Revision last_sync_revision() const noexcept;

  // Lists and watches until stop(). Call it once.
  Task<void> run();
  // Calls on_update for every object every `period`, until stop(). Skips a period in which the informer has not synced.
  Task<void> run_resync(std::chrono::nanoseconds period);
  // Ends run() and run_resync(); any thread.
  void stop();
  bool stopped() const noexcept;

 private:
  struct State;
  explicit SharedInformer(std::unique_ptr<State> state);
  Task<Status> follow();
  Task<Status> take_list();
  Task<Status> take_stream(std::shared_ptr<WatchStream> stream, bool initial);
  Status take_event(const WatchEvent& event);
  Task<void> pause(std::chrono::nanoseconds time);
  std::unique_ptr<State> state_;
};

// The informers of one plugin: one per resource and namespace, shared by all callers.
//
//   SharedInformerFactory informers(host);
//   auto maps = informers.for_resource({"", "v1", "configmaps"});
//   maps->add_event_handler(enqueue_keys(queue));
//   informers.start();
//   const bool synced = co_await informers.wait_for_cache_sync();
class SharedInformerFactory {
 public:
  // Everything runs on the host's executor and ends with its stop signal. `resync`: period of run_resync(); 0: none.
  explicit SharedInformerFactory(Host& host, std::chrono::nanoseconds resync = {});
  ~SharedInformerFactory();
  SharedInformerFactory(const SharedInformerFactory&) = delete;
  SharedInformerFactory& operator=(const SharedInformerFactory&) = delete;

  // The informer of the resource in `ns` (empty: all namespaces); made by the first call, started by the next start().
  std::shared_ptr<SharedInformer> for_resource(const GroupVersionResource& resource, const std::string& ns = {});
  // The informer of another source. `name` identifies it: if it exists already, `source` is dropped.
  std::shared_ptr<SharedInformer> for_source(const std::string& name, std::shared_ptr<ListerWatcher> source);
  // Starts all informers that are not running yet.
  void start();
  // Waits until all started informers have synced; false if one is stopped first.
  Task<bool> wait_for_cache_sync();
  // Stops all informers, for good. The destructor calls it too.
  void shut_down();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace BACKPLANE_API
