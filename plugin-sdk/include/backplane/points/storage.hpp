// The storage backend: an ordered history of key-value changes, numbered by one revision sequence. Its semantics are those of etcd v3.
//
// A backend is a plugin (Host::register_storage_backend). API plugins do not use it; they use Host::make_storage.
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

// Every key begins with it; objects have keys such as "/registry/pods/default/web". A backend may store another text in its place, as
// --etcd-prefix says.
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
  std::vector<KeyValue> items;  // by key
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
// A transaction: if all compares hold, all puts and removes are committed in one revision; otherwise nothing is written.
//
//   TxnRequest create;
//   create.compares = {{key, 0}};  // the key must not exist
//   create.puts = {{key, bytes}};
struct TxnRequest {
  // All must hold.
  std::vector<Compare> compares;
  std::vector<Put> puts;
  std::vector<std::string> removes;
};
struct TxnResult {
  bool committed = false;
  Revision revision = 0;        // of the commit; if a compare failed, of the store
  std::vector<KeyValue> found;  // not committed: the compared keys that exist
};

// One change of one key.
struct StorageEvent {
  enum class Type : unsigned char { kPut, kDelete };
  Type type = Type::kPut;
  KeyValue kv;                     // kDelete: only key and mod_revision are set
  SharedBytes previous;            // the value before; empty on creation, and if it cannot be read
  Revision previous_revision = 0;  // its mod_revision; 0 on creation
};
// Changes of whole revisions; a revision is never split between batches.
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
  // Ends a pending next() and all later ones with kExpired. Any thread.
  virtual void cancel() = 0;
};

//
// Every backend passes the conformance suite that the built-in backends share.
class StorageBackend {
 public:
  virtual ~StorageBackend();

  // The revision of the last acknowledged commit. Linearizable.
  virtual Task<Result<Revision>> current_revision() = 0;
  // The same without waiting, if the backend knows it locally (single-process backends); otherwise 0.
  virtual Revision committed_revision() const noexcept { return 0; }

  // True: every watch receives every revision at once, including those that change nothing below its prefix. False (etcd):
  // EventBatch::revision of a watch advances only with events for it, or after request_progress().
  virtual bool progress_is_immediate() const noexcept { return true; }
  // Requests a progress notification on every open watch: each soon returns a batch, possibly empty, whose revision is at least that of
  // the store at the time of this call. Returns when the request is sent. Cheap enough for ten calls a second. Default: does nothing.
  virtual Task<Status> request_progress();

  // Reads keys in order at one revision. Errors: kExpired if `request.revision` is compacted.
  virtual Task<Result<RangeResult>> range(RangeRequest request) = 0;
  // Returns after the commit is durable. After an error or a cancellation the transaction has been committed wholly or not at all.
  virtual Task<Result<TxnResult>> txn(TxnRequest request) = 0;
  // Streams the changes with mod_revision > `after` of keys that start with `prefix`.
  virtual Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) = 0;
  // Whether raise_revision() is supported. A copied store must continue above the revisions that clients have seen; a backend without
  // support is written to until it has passed them.
  virtual bool can_raise_revision() const noexcept { return false; }
  // Makes the next commit's revision greater than `revision`; durable when the task ends. Without effect if the store is past it.
  // Errors: those of a write; kInternalError if can_raise_revision() is false.
  virtual Task<Status> raise_revision(Revision revision);

  // Discards history that only revisions < `revision` need.
  virtual Task<Status> compact(Revision revision) = 0;
  // Creates a lease: its keys are removed after `ttl`.
  virtual Task<Result<LeaseId>> grant_lease(std::chrono::seconds ttl) = 0;
  // The check of /healthz. Returns within `timeout`.
  virtual Task<Status> health(std::chrono::milliseconds timeout) = 0;
  // Refuses new calls, completes accepted ones, ends the watches, closes files.
  virtual Task<Status> stop() = 0;
  // Size of the store in bytes, on disk or in memory, for metrics; -1: unknown.
  virtual std::int64_t size_bytes() const noexcept { return -1; }
  // The codec, by name ("json", "protobuf"), in which the host encodes objects of built-in kinds for this backend; custom resources are
  // always JSON. Stored values of every encoding are readable.
  virtual std::string_view stored_form() const noexcept { return "json"; }
};

// Connections of a store to its servers. In contrast to Host::make_client() and Host::executor(), they last until the store has stopped,
// which is after the plugins' tasks.
struct StoreConnections {
  // As Host::make_client().
  std::function<Result<std::shared_ptr<HttpClient>>(ClientConfig config)> make_client;
  // For tasks of the store that belong to no request. It is shared: never block it.
  Executor* executor = nullptr;
};

// Argument of the backend's factory.
struct StorageBackendConfig {
  std::string data_dir;  // a directory for this backend alone; it exists, mode 0700
  // --unsafe-no-fsync: acknowledge writes that may be lost in a power failure. For tests.
  bool unsafe_no_fsync = false;
  // The encoding that the operator has configured (a codec's name); empty: the backend's default.
  std::string stored_form;
  StoreConnections connections = {};
};

}  // namespace BACKPLANE_API
