// Informers: an in-memory cache of a resource, filled by one list and kept current by one watch. All readers and event handlers share it
// (client-go's packages cache and informers).
//
// For a resource of this process, the cached objects are the entries of the watch cache, so an informer needs memory only for a map of
// references. A controller's handlers add keys to a WorkQueue, and its workers read the Indexer.
//
// Thread-safety: every method from any thread. Handlers are called one at a time, in the order of the events, on the executor of run(). A
//                handler must return quickly and must not add or remove handlers. Objects from an Indexer are immutable.
// Lifetime:      shared; run() keeps the informer alive.
// Errors:        a failed list or watch is logged and retried after a pause, which grows with each failure up to kLongestPause. After a 410
//                (history compacted) the informer lists again and reports the differences to the handlers.
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
    std::string continue_token;  // empty: this is the last page
  };
  // Returns one page of the collection. If streams_lists() is true, it is called only after watch() has refused to begin with the existing
  // objects.
  virtual Task<Result<Page>> list(ListOptions options) = 0;
  virtual Task<Result<std::shared_ptr<WatchStream>>> watch(ListOptions options) = 0;
  // True if watch() can begin with the existing objects (sendInitialEvents).
  virtual bool streams_lists() const noexcept { return false; }
};
// Returns a source that reads a storage of this process, without authorization and admission. Empty `ns`: all namespaces.
std::shared_ptr<ListerWatcher> list_watch(std::shared_ptr<RestStorage> storage, std::string ns = {});
// Returns a source that reads the storage of the resource, which it looks up for each call. Errors: kNotFound if no plugin serves the
// resource.
std::shared_ptr<ListerWatcher> list_watch(Host& host, GroupVersionResource resource, std::string ns = {});

// Returns the values under which an object appears in an index.
using IndexFunc = std::function<std::vector<std::string>(const ObjectEntry& object)>;
using Indexers = std::map<std::string, IndexFunc, std::less<>>;
// The index by namespace, which every informer has.
inline constexpr std::string_view kNamespaceIndex = "namespace";

// The cached objects, by key and by index.
class Indexer {
 public:
  Indexer();
  ~Indexer();
  Indexer(const Indexer&) = delete;
  Indexer& operator=(const Indexer&) = delete;

  ObjectRef get(std::string_view key) const;  // null if absent
  // Sorted by namespace, then by name. Returns a snapshot.
  std::vector<ObjectRef> list() const;
  std::vector<std::string> list_keys() const;
  std::size_t size() const;
  // Adds indexes and fills them from the cached objects. Errors: kAlreadyExists if an index with one of the names exists; no index is then
  // added.
  Status add_indexers(Indexers indexers);
  // The objects with the given index value; the keys of these objects; all values of an index. All are sorted. Errors: kNotFound for an
  // unknown index.
  Result<std::vector<ObjectRef>> by_index(std::string_view index, const std::string& value) const;
  Result<std::vector<std::string>> index_keys(std::string_view index, const std::string& value) const;
  Result<std::vector<std::string>> index_values(std::string_view index) const;

  // For the informer: put() inserts or replaces an object, remove() removes it. Both return the previous object, or null.
  ObjectRef put(ObjectRef object);
  ObjectRef remove(std::string_view key);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Callbacks of one handler. Each of them may be empty.
struct ResourceEventHandler {
  std::function<void(const ObjectRef& object, bool is_in_initial_list)> on_add;
  // Also called at every resync, with the same object as `old` and `now`.
  std::function<void(const ObjectRef& old, const ObjectRef& now)> on_update;
  // `final_state_unknown`: true if the informer missed the delete event; `last` is the last known state of the object.
  std::function<void(const ObjectRef& last, bool final_state_unknown)> on_delete;
};

class WorkQueue;
// Returns a handler that adds the key of every added, updated or deleted object to `queue`.
ResourceEventHandler enqueue_keys(std::shared_ptr<WorkQueue> queue);

// The informer of one resource. Make it, add handlers, then call run() once.
class SharedInformer : public std::enable_shared_from_this<SharedInformer> {
 public:
  static constexpr std::chrono::milliseconds kFirstPause{100};
  static constexpr std::chrono::seconds kLongestPause{30};

  // `name` appears in log lines.
  static std::shared_ptr<SharedInformer> make(std::string name, std::shared_ptr<ListerWatcher> source, Logger& logger);
  ~SharedInformer();

  // Adds a handler and calls on_add for all cached objects inside this call. Returns the id for remove_event_handler().
  int add_event_handler(ResourceEventHandler handler);
  // Removes the handler. Waits while the handler is being called; it is not called afterwards. Without effect for an unknown id.
  void remove_event_handler(int number);
  // The cached objects.
  Indexer& indexer() noexcept;
  const Indexer& indexer() const noexcept;

  // True once the first list is complete and every handler has received it.
  bool has_synced() const noexcept;
  // Waits until has_synced() is true. Returns false if the informer is stopped before.
  Task<bool> wait_synced();
  // The revision up to which the cache is complete.
  Revision last_sync_revision() const noexcept;

  // Lists and watches until stop(). Call it once.
  Task<void> run();
  // Calls on_update for every object once in every `period`, until stop(). While the informer has not synced, it calls nothing.
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

// The informers of one plugin: one for each resource and namespace, shared by all callers.
//
//   SharedInformerFactory informers(host);
//   auto maps = informers.for_resource({"", "v1", "configmaps"});
//   maps->add_event_handler(enqueue_keys(queue));
//   informers.start();
//   const bool synced = co_await informers.wait_for_cache_sync();
class SharedInformerFactory {
 public:
  // All informers run on the host's executor and end when its stop signal fires. `resync`: the period of run_resync(); 0: no resync.
  explicit SharedInformerFactory(Host& host, std::chrono::nanoseconds resync = {});
  ~SharedInformerFactory();
  SharedInformerFactory(const SharedInformerFactory&) = delete;
  SharedInformerFactory& operator=(const SharedInformerFactory&) = delete;

  // Returns the informer of the resource in `ns` (empty: all namespaces). The first call makes it; the next start() starts it.
  std::shared_ptr<SharedInformer> for_resource(const GroupVersionResource& resource, const std::string& ns = {});
  // Returns the informer with this name. If there is none, makes it with `source`; otherwise `source` is dropped.
  std::shared_ptr<SharedInformer> for_source(const std::string& name, std::shared_ptr<ListerWatcher> source);
  // Starts all informers that are not running yet.
  void start();
  // Waits until all started informers have synced. Returns false if one of them is stopped before.
  Task<bool> wait_for_cache_sync();
  // Stops all informers; they cannot be started again. The destructor calls it too.
  void shut_down();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace BACKPLANE_API
