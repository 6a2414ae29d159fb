// The watch cache. For each resource, it holds an ordered index of immutable entries and an append-only log of recent events in memory. One
// watch on the store delivers the events of all resources. Nearly all reads use the cache (architecture §5).
//
// Thread-safety: every method from any thread.  Reads work on immutable snapshots and take no lock that a writer holds while it works.
// Lifetime:      the hub outlives its caches' users; stop() ends every watch stream.
// Errors:        kExpired (410) for a revision that neither the cache nor the store has any more; kTimeout (ResourceVersionTooLarge) for a
//                revision that the cache does not reach in time; kTooManyRequests if the cache is not loaded in time.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/object.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/strategy.hpp"
#include "storage/object_storage.hpp"

namespace backplane {

struct CacheConfig {
  std::string prefix;        // "/registry/pods/", with the slash at the end
  bool namespaced = true;    // true: keys are prefix + namespace + "/" + name; false: prefix + name
  std::string kind;          // "Pod"
  GroupResource resource;    // pods, for metrics and errors
  std::string api_version;   // "v1"
  bool sorted_keys = false;  // custom resources: members are sorted, and list items are printed with kind and apiVersion
  std::vector<SelectableField> fields;
  // The members after metadata of an empty object of this kind, for bookmarks: `,"spec":{"containers":null},"status":{}` (Pod).
  std::string empty_members;
  // True: also reads that may return an old state (resourceVersion "0", or "not older than" a revision) return the newest state, which the
  // store confirms.
  bool confirmed = false;
};

// The part of a resource that a list or watch selects.
struct CacheScope {
  std::string ns;    // empty: all namespaces, or a cluster-scoped resource
  std::string name;  // empty: the whole collection
  // For lists: true once the client has disconnected; then no more pages are read from the store. Null: the client never disconnects.
  std::shared_ptr<const std::atomic<bool>> abandoned = {};
};

// The objects that cannot be read: key → the reason.  Lists and watches omit them; a get of such an object fails.
using Unreadable = std::map<std::string, std::shared_ptr<const Status>, std::less<>>;

class ResourceCache {
 public:
  virtual ~ResourceCache();

  // The entry of a stored key-value: its JSON contains resourceVersion; its labels and selectable fields have been extracted.
  virtual ObjectRef make_entry(const KeyValue& stored) const = 0;

  // As make_entry(), for a value that the caller has just committed. The cache and the caller share one entry; the first that needs it
  // builds it.
  virtual ObjectRef make_written(const KeyValue& stored) { return make_entry(stored); }

  // The newest entry in the cache, without waiting; null: there is none.
  virtual ObjectRef peek(std::string_view key) const = 0;
  // Waits until the cache includes everything that the store had acknowledged before the call.
  virtual Task<Status> wait_current() = 0;
  // The object in a state by the resourceVersion rules of GET: empty: the newest; "0": any; N: not older than N.  Null: it does not exist.
  virtual Task<Result<ObjectRef>> get(std::string key, std::string resource_version) = 0;
  // Lists objects. Selectors, limit, continue, resourceVersion and resourceVersionMatch have the effect of upstream's LIST.
  virtual Task<Result<ListResult>> list(CacheScope scope, ListOptions options) = 0;
  // Watches from a revision on, or begins with synthetic ADDED events. An object that begins or ceases to match the selectors causes an
  // ADDED or DELETED event. Sends bookmarks if they are requested.
  virtual Task<Result<std::unique_ptr<WatchStream>>> watch(CacheScope scope, ListOptions options) = 0;

  // The current unreadable objects of the scope.
  virtual Unreadable unreadable(const CacheScope&) const { return {}; }
  // The error of a list of the scope if it must not omit unreadable objects (CacheOptions::names_unreadable); success: the list is allowed.
  virtual Status list_refusal(const CacheScope&) const { return {}; }
  // Ends all open streams without an error; clients resume with a new watch.
  virtual void end_watches() {}
  // Another cache serves the resource from now on: ends all open streams as end_watches(), and each later one after its initial events.
  // Reads still work.
  virtual void supersede() {}

  virtual bool ready() const noexcept = 0;
  virtual Revision revision() const noexcept = 0;
  virtual std::size_t size() const noexcept = 0;
  // The size of the encoded objects in the cache.
  virtual std::size_t bytes() const noexcept = 0;
};

class CacheHub {
 public:
  virtual ~CacheHub();
  // The cache of `config.prefix`; makes it if there is none.  It is loaded at the first use, or, if `eager` is set, as soon as the hub has
  // started.
  virtual std::shared_ptr<ResourceCache> add(CacheConfig config, bool eager) = 0;
  virtual void remove(std::string_view prefix) = 0;
  // The next add() makes a new cache of the prefix. The former cache still receives events and works as before, until its last user has
  // released it.
  virtual void retire(std::string_view prefix) = 0;
  // Undoes retire(): `retired` is the cache of the prefix again.  Closes the cache that has replaced it.
  virtual void restore(std::string_view prefix, const std::shared_ptr<ResourceCache>& retired) = 0;
  virtual Task<Status> start() = 0;  // starts the watch of the store
  virtual Task<void> stop() = 0;     // ends all watch streams
};

struct CacheOptions {
  // If objects of a list cannot be read, the list fails with StorageReadError, which names all of them, and not with the error of the first
  // one (upstream: AllowUnsafeMalformedObjectDeletion).
  bool names_unreadable = false;
  // The interval at which unreadable objects are read again: a key service may have their key again.
  std::chrono::milliseconds retry_unreadable{30'000};
  // The interval of comparisons with the store (consistency.hpp); 0: no comparisons. Each interval is randomly extended by up to a half, so
  // that servers do not compare at the same time.
  std::chrono::nanoseconds comparison_period{0};
  // The last compacted revision; null: unknown.  Lists of an older revision, and their next pages, are read from the store, which reports
  // that they have expired. So, as upstream, a list cannot be continued after its revision has been compacted, although the cache may hold
  // the state for hours.
  std::shared_ptr<const std::atomic<Revision>> compacted = nullptr;
};
// `executor` runs the pump, which applies the store's events to the caches. Its thread serves no connections, so that events never delay
// them.
std::unique_ptr<CacheHub> make_cache_hub(ObjectStorage& storage, Executor& executor, CacheOptions options = {});

}  // namespace backplane
