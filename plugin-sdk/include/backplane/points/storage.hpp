// The storage backend: an ordered history of key-value changes, numbered by one revision sequence. Its semantics are those of etcd v3.
//
// A backend is a plugin (Host::register_storage_backend). API plugins use Host::make_storage instead of a backend.
//
// Thread-safety: every method from any thread at any time.
// Lifetime:      outlives every StorageWatch that it returns; stop() ends them with kExpired.
// Errors:        kExpired (the revision is compacted), kTimeout, kServiceUnavailable (the backend is unreachable), kInternalError. A
//                failed compare is a result, not an error.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/bytes.hpp"
#include "backplane/core/revision.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class HttpClient;     // backplane/net/client.hpp
struct ClientConfig;  // backplane/net/client.hpp

// The prefix of every key; objects have keys such as "/registry/pods/default/web". A backend may replace the prefix by another one in the
// keys that it stores (--etcd-prefix).
inline constexpr std::string_view kStorageKeyRoot = "/registry";

using LeaseId = std::int64_t;  // 0: no lease

// One key at one revision (mvccpb.KeyValue).
struct KeyValue {
  // The whole key, with kStorageKeyRoot.
  std::string key;
  SharedBytes value;
  Revision create_revision = 0;
  Revision mod_revision = 0;
  LeaseId lease = 0;
  // The error if the value cannot be decrypted or decoded; `value` is then empty. Null: the value is readable.
  std::shared_ptr<const Status> unreadable = nullptr;
};

// etcd's RangeRequest.
struct RangeRequest {
  std::string start;       // first key
  std::string end;         // first key after the range; empty: only `start`
  Revision revision = 0;   // 0: newest
  std::int64_t limit = 0;  // 0: all
  bool keys_only = false;
  bool count_only = false;
  bool skip_count = false;  // `count` may be incomplete; `more` is exact
};
// The state of the range at one revision.
struct RangeResult {
  std::vector<KeyValue> items;  // in ascending order of the keys
  Revision revision = 0;        // of the store at the time of the read
  std::int64_t count = 0;       // number of keys in the range at that revision, regardless of `limit`
  bool more = false;
};

// A condition: the key still has this modification revision.
struct Compare {
  std::string key;
  Revision mod_revision = 0;  // 0: the key must not exist
};
// A value to write.
struct Put {
  std::string key;
  SharedBytes value;
  LeaseId lease = 0;
};
// A transaction: if all compares hold, all puts and removes are committed in one revision; if a compare fails, nothing is written.
//
//   TxnRequest create;
//   create.compares = {{key, 0}};  // the key must not exist
//   create.puts = {{key, bytes}};
struct TxnRequest {
  // All of these conditions must hold.
  std::vector<Compare> compares;
  std::vector<Put> puts;
  std::vector<std::string> removes;
};
struct TxnResult {
  bool committed = false;
  Revision revision = 0;        // the revision of the commit; if a compare failed, the current revision of the store
  std::vector<KeyValue> found;  // if a compare failed: those of the compared keys that exist
};

// One change of one key.
struct StorageEvent {
  enum class Type : unsigned char { kPut, kDelete };
  Type type = Type::kPut;
  KeyValue kv;                     // kDelete: only key and mod_revision are set
  SharedBytes previous;            // the value before the change; empty on creation, or if that value cannot be read
  Revision previous_revision = 0;  // mod_revision of the value before the change; 0 on creation
};
// Changes of one or more whole revisions; the changes of one revision are never split between batches.
struct EventBatch {
  std::vector<StorageEvent> events;  // in commit order; empty for a progress notification
  Revision revision = 0;             // all changes up to this revision have been delivered
};

// A stream of changes. One caller of next() at a time.
class StorageWatch {
 public:
  virtual ~StorageWatch();
  // Waits for the next batch. Errors: kExpired if the needed history is compacted, or after stop() or cancel().
  virtual Task<Result<EventBatch>> next() = 0;
  // Ends a pending next() and all later calls of next() with kExpired. Any thread.
  virtual void cancel() = 0;
};

// The interface of a backend. Every backend must pass the conformance suite that the built-in backends share.
class StorageBackend {
 public:
  virtual ~StorageBackend();

  // The revision of the last acknowledged commit. Linearizable.
  virtual Task<Result<Revision>> current_revision() = 0;
  // The revision of the last acknowledged commit, without waiting, if the backend stores it locally (single-process backends); otherwise 0.
  virtual Revision committed_revision() const noexcept { return 0; }

  // True: every watch receives every revision at once, including revisions that change no key with its prefix. False (etcd):
  // EventBatch::revision of a watch advances only with events for that watch, or after request_progress().
  virtual bool progress_is_immediate() const noexcept { return true; }
  // Requests a progress notification on every open watch: the next() of each watch soon returns a batch, possibly empty, whose revision is
  // at least the store's revision at the time of this call. Returns when the request is sent. Cheap enough for ten calls a second. The
  // default does nothing.
  virtual Task<Status> request_progress();

  // Reads keys in order at one revision. Errors: kExpired if `request.revision` is compacted.
  virtual Task<Result<RangeResult>> range(RangeRequest request) = 0;
  // Returns after the commit is durable. After an error or a cancellation the transaction has been committed wholly or not at all.
  virtual Task<Result<TxnResult>> txn(TxnRequest request) = 0;
  // Streams the changes with mod_revision > `after` of keys that start with `prefix`.
  virtual Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) = 0;
  // Whether raise_revision() is supported. A copy of a store must continue with revisions that are greater than those that clients have
  // received. If a backend does not support raise_revision(), the copy makes writes until the backend's revision is great enough.
  virtual bool can_raise_revision() const noexcept { return false; }
  // Makes the revision of the next commit greater than `revision`; durable when the task ends. Without effect if the store's revision is
  // already greater.
  // Errors: those of a write; kInternalError if can_raise_revision() is false.
  virtual Task<Status> raise_revision(Revision revision);

  // Discards the history that only reads and watches of revisions < `revision` need.
  virtual Task<Status> compact(Revision revision) = 0;
  // Creates a lease: its keys are removed after `ttl`.
  virtual Task<Result<LeaseId>> grant_lease(std::chrono::seconds ttl) = 0;
  // The check of /healthz. Returns within `timeout`.
  virtual Task<Status> health(std::chrono::milliseconds timeout) = 0;
  // Refuses new calls, completes accepted calls, ends the watches, and closes the files.
  virtual Task<Status> stop() = 0;
  // Size of the store in bytes, on disk or in memory, for metrics; -1: unknown.
  virtual std::int64_t size_bytes() const noexcept { return -1; }
  // The name ("json", "protobuf") of the codec with which the host encodes objects of built-in kinds for this backend. Custom resources are
  // always JSON. The host can read stored values of every codec.
  virtual std::string_view stored_form() const noexcept { return "json"; }
};

// Connections of a store to its servers. They last until the store has stopped, which is after the plugins' tasks have ended. The
// connections of Host::make_client() and Host::executor() end earlier.
struct StoreConnections {
  // Makes a client, as Host::make_client() does.
  std::function<Result<std::shared_ptr<HttpClient>>(ClientConfig config)> make_client;
  // The executor for tasks of the store that belong to no request. Other code shares the executor: never block it.
  Executor* executor = nullptr;
};

// Argument of the backend's factory.
struct StorageBackendConfig {
  std::string data_dir;  // a directory that only this backend uses; it exists and has mode 0700
  // --unsafe-no-fsync: acknowledge writes that may be lost in a power failure. For tests.
  bool unsafe_no_fsync = false;
  // The name of the codec that the operator has configured; empty: the backend's default.
  std::string stored_form;
  StoreConnections connections = {};
};

}  // namespace BACKPLANE_API
