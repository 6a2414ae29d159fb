// Recent history of every resource in memory: one ordered index of immutable entries and one append-only event log per resource, fed by
// one watch on the store. Nearly all reads use it (architecture §5).
//
// Thread-safety: every method from any thread.  Reads work on immutable snapshots and take no lock that a writer holds while it works.
// Lifetime:      the hub outlives its caches' users; stop() ends every watch stream.
// Errors:        kGone/kExpired for revisions the log no longer has, kTimeout (ResourceVersionTooLarge) for revisions not reached in time,
//                kTooManyRequests while a cache is still loading.
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
  bool namespaced = true;    // keys are prefix + namespace + "/" + name, else prefix + name
  std::string kind;          // "Pod"
  GroupResource resource;    // pods, for metrics and errors
  std::string api_version;   // "v1"
  bool sorted_keys = false;  // custom resources: keys sorted, list items printed whole
  std::vector<SelectableField> fields;
  // The members after metadata of an empty object of this kind, for bookmarks: `,"spec":{"containers":null},"status":{}` (Pod).
  std::string empty_members;
  // The store confirms every read: reads that may return an old state (resourceVersion "0", or not older than another) return the newest
  // one, too.
  bool confirmed = false;
};

// The part of a resource that a list or watch selects.
struct CacheScope {
  std::string ns;    // empty: all namespaces, or a cluster-scoped resource
  std::string name;  // empty: the whole collection
  // For lists: true once the client has disconnected; the rest is then not read from the store. Null: the client never disconnects.
  std::shared_ptr<const std::atomic<bool>> abandoned = {};
};

// Objects that cannot be read, by key, with the reason.  Lists and watches leave them out; gets of them fail.
using Unreadable = std::map<std::string, std::shared_ptr<const Status>, std::less<>>;

class ResourceCache {
 public:
  virtual ~ResourceCache();

  // The entry of a stored key-value: with resourceVersion inserted, labels and selectable fields extracted.
  virtual ObjectRef make_entry(const KeyValue& stored) const = 0;

  // The same for a value that the caller has just committed. The cache and the caller share one entry, regardless of which one builds it.
  virtual ObjectRef make_written(const KeyValue& stored) { return make_entry(stored); }

  // The newest entry in the cache, without waiting; null: there is none.
  virtual ObjectRef peek(std::string_view key) const = 0;
  // Waits until the cache includes everything that the store had acknowledged before the call.
  virtual Task<Status> wait_current() = 0;
  // resourceVersion rules of GET: unset = newest, 0 = any, N = not older than N.  A null entry: no such object.
  virtual Task<Result<ObjectRef>> get(std::string key, std::string resource_version) = 0;
  // Selectors, limit and continue, resourceVersion and resourceVersionMatch as upstream's LIST has them.
  virtual Task<Result<ListResult>> list(CacheScope scope, ListOptions options) = 0;
  // From a revision, or with synthetic ADDED events first; selector transitions become ADDED and DELETED; bookmarks if requested.
  virtual Task<Result<std::unique_ptr<WatchStream>>> watch(CacheScope scope, ListOptions options) = 0;

  // The current unreadable objects of the scope.
  virtual Unreadable unreadable(const CacheScope&) const { return {}; }
  // The error of a list of the scope that must not leave out unreadable objects (CacheOptions::names_unreadable); success: it may.
  virtual Status list_refusal(const CacheScope&) const { return {}; }
  // Ends all open streams without an error; clients resume with a new watch.
  virtual void end_watches() {}

  virtual bool ready() const noexcept = 0;
  virtual Revision revision() const noexcept = 0;
  virtual std::size_t size() const noexcept = 0;
  // Bytes of encoded objects held.
  virtual std::size_t bytes() const noexcept = 0;
};

class CacheHub {
 public:
  virtual ~CacheHub();
  // A cache over `config.prefix`, one per prefix.  Loading starts at the first use or at once when `eager`.
  virtual std::shared_ptr<ResourceCache> add(CacheConfig config, bool eager) = 0;
  virtual void remove(std::string_view prefix) = 0;
  // As remove(), but the cache still receives events, alongside a new cache of its prefix, until close_retired() or until its last user has
  // released it.
  virtual void retire(std::string_view prefix) = 0;
  virtual void close_retired() = 0;
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
  // The last compacted revision; null: unknown.  Lists of an older revision, and their next pages, are left to the store, which reports
  // that they have expired: as upstream, where a list cannot be continued after its revision has been compacted, although the cache may
  // hold its state for hours.
  std::shared_ptr<const std::atomic<Revision>> compacted = nullptr;
};
// `executor` runs the pump, which applies the store's events: a thread that runs nothing else, so that events never delay a connection.
std::unique_ptr<CacheHub> make_cache_hub(ObjectStorage& storage, Executor& executor, CacheOptions options = {});

}  // namespace backplane
