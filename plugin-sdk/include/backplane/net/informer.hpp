// Informers: a resource kept in memory by one watch, shared by everybody who wants to read it or to be told of its changes (client-go's
// cache and informers packages).
//
// In this process the objects are the cache's own entries: an informer costs a map of references.  A consumer puts keys into a WorkQueue
// from its handlers and reads the indexer from its workers.
//
// Thread-safety: every method from any thread.  Handlers are called one at a time, in order, on the executor that run() is on; they must be
//                short and may not add or remove handlers.  What an Indexer gives is immutable.
// Lifetime:      shared; run() keeps the informer while it runs.
// Errors:        a list or watch that fails is logged and tried again, later each time, at most kLongestPause apart; history that is gone
//                (410) means a new list.  Handlers then see the difference.
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
#include "backplane/rest/roles.hpp"

namespace backplane BACKPLANE_API {

class Host;
class Logger;

// "namespace/name", or the name alone: cache.MetaNamespaceKeyFunc, and back.
std::string object_key(const ObjectEntry& object);
std::string object_key(std::string_view ns, std::string_view name);
std::pair<std::string, std::string> split_object_key(std::string_view key);

// Where an informer's objects come from.
class ListerWatcher {
 public:
  virtual ~ListerWatcher();
  struct Page {
    std::vector<ObjectRef> items;
    Revision revision = 0;
    std::string continue_token;  // empty: the last
  };
  // One page of everything.  Not asked when streams_lists().
  virtual Task<Result<Page>> list(ListOptions options) = 0;
  virtual Task<Result<std::shared_ptr<WatchStream>>> watch(ListOptions options) = 0;
  // Whether watch() can begin with what there is (sendInitialEvents).
  virtual bool streams_lists() const noexcept { return false; }
};
// A storage of this process; `ns` empty: all namespaces.  As system:apiserver, without admission or authorization.
std::shared_ptr<ListerWatcher> list_watch(std::shared_ptr<RestStorage> storage, std::string ns = {});
// Whatever serves the resource here, looked up each time.  Errors of a resource that nobody serves: kNotFound.
std::shared_ptr<ListerWatcher> list_watch(Host& host, GroupVersionResource resource, std::string ns = {});

// The values under which an index keeps an object.
using IndexFunc = std::function<std::vector<std::string>(const ObjectEntry& object)>;
using Indexers = std::map<std::string, IndexFunc, std::less<>>;
// The index that every informer has: by namespace.
inline constexpr std::string_view kNamespaceIndex = "namespace";

// The objects, by key and by index.
class Indexer {
 public:
  Indexer();
  ~Indexer();
  Indexer(const Indexer&) = delete;
  Indexer& operator=(const Indexer&) = delete;

  ObjectRef get(std::string_view key) const;  // null: not there
  std::vector<ObjectRef> list() const;
  std::vector<std::string> list_keys() const;
  std::size_t size() const;
  // Errors: kAlreadyExists for a name that is taken.
  Status add_indexers(Indexers indexers);
  // Errors: kNotFound for an index that does not exist.
  Result<std::vector<ObjectRef>> by_index(std::string_view index, const std::string& value) const;
  Result<std::vector<std::string>> index_keys(std::string_view index, const std::string& value) const;
  Result<std::vector<std::string>> index_values(std::string_view index) const;

  // Puts, replaces; gives what was there.  For whoever fills it.
  ObjectRef put(ObjectRef object);
  ObjectRef remove(std::string_view key);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What is called; each may be empty.
struct ResourceEventHandler {
  std::function<void(const ObjectRef& object, bool is_in_initial_list)> on_add;
  // Also at every resync, with the same object twice.
  std::function<void(const ObjectRef& old, const ObjectRef& now)> on_update;
  // `final_state_unknown`: the deletion itself was missed; `last` is what was known.
  std::function<void(const ObjectRef& last, bool final_state_unknown)> on_delete;
};

class WorkQueue;
// Puts the key of every object that comes, changes or goes into the queue.
ResourceEventHandler enqueue_keys(std::shared_ptr<WorkQueue> queue);

class SharedInformer : public std::enable_shared_from_this<SharedInformer> {
 public:
  static constexpr std::chrono::milliseconds kFirstPause{100};
  static constexpr std::chrono::seconds kLongestPause{30};

  // `name` is for the log.
  static std::shared_ptr<SharedInformer> make(std::string name, std::shared_ptr<ListerWatcher> source, Logger& logger);
  ~SharedInformer();

  // Objects that are there already are added at once, in this call.  Returns a number for remove_event_handler().
  int add_event_handler(ResourceEventHandler handler);
  void remove_event_handler(int number);
  Indexer& indexer() noexcept;
  const Indexer& indexer() const noexcept;

  // The first list has been taken in whole, and every handler has been told.
  bool has_synced() const noexcept;
  // Waits for that; false when the informer was stopped before.
  Task<bool> wait_synced();
  // The revision up to which it knows everything.
  Revision last_sync_revision() const noexcept;

  // Follows the resource until stop().  Once.
  Task<void> run();
  // Tells on_update of every object, every `period`, until stop().
  Task<void> run_resync(std::chrono::nanoseconds period);
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

// The informers of one plugin, one for each resource and namespace however many ask.
class SharedInformerFactory {
 public:
  // Everything runs on the host's executor and ends with its stop signal.
  explicit SharedInformerFactory(Host& host, std::chrono::nanoseconds resync = {});
  ~SharedInformerFactory();
  SharedInformerFactory(const SharedInformerFactory&) = delete;
  SharedInformerFactory& operator=(const SharedInformerFactory&) = delete;

  std::shared_ptr<SharedInformer> for_resource(const GroupVersionResource& resource, const std::string& ns = {});
  // The same for a source of one's own; `name` tells them apart.
  std::shared_ptr<SharedInformer> for_source(const std::string& name, std::shared_ptr<ListerWatcher> source);
  // Starts those that have not been started.
  void start();
  // Waits for all that were started; false when one was stopped before.
  Task<bool> wait_for_cache_sync();
  // Stops all.
  void shut_down();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace BACKPLANE_API
