// The store under every resource: one ordered history of revisions with one number for it.  Semantics are etcd's.
//
// A backend is a plugin (Host::register_storage_backend); API plugins never see it.
// Thread-safety: every method may be called from any thread at any time.
// Lifetime:      outlives every StorageWatch it hands out; stop() ends them with kExpired.
// Errors:        kExpired (revision compacted away), kTimeout, kServiceUnavailable (backend away), kInternalError; a failed compare is not
// an error.
#pragma once

#include <chrono>
#include <cstdint>
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

using LeaseId = std::int64_t;  // 0: none

struct KeyValue {
  std::string key;
  SharedBytes value;
  Revision create_revision = 0;
  Revision mod_revision = 0;
  LeaseId lease = 0;
  // Why the value cannot be read (damage, a key of its encryption that is gone); it is left empty then.  Null: it can.
  std::shared_ptr<const Status> unreadable = nullptr;
};

struct RangeRequest {
  std::string start;       // first key
  std::string end;         // first key after the range; empty: only `start`
  Revision revision = 0;   // 0: newest
  std::int64_t limit = 0;  // 0: all
  bool keys_only = false;
  bool count_only = false;
  bool skip_count = false;  // `count` may stop at what `limit` lets through; `more` is right all the same
};
struct RangeResult {
  std::vector<KeyValue> items;  // by key
  Revision revision = 0;        // of the store when read (etcd header revision)
  std::int64_t count = 0;       // keys in the range at that revision, whatever the limit
  bool more = false;
};

struct Compare {
  std::string key;
  Revision mod_revision = 0;  // 0: the key must not exist
};
struct Put {
  std::string key;
  SharedBytes value;
  LeaseId lease = 0;
};
// All compares hold → puts and removes happen in one revision; else nothing happens.
struct TxnRequest {
  std::vector<Compare> compares;
  std::vector<Put> puts;
  std::vector<std::string> removes;
};
struct TxnResult {
  bool committed = false;
  Revision revision = 0;        // of the commit, or of the store when a compare failed
  std::vector<KeyValue> found;  // when not committed: the compared keys as they are (absent ones left out)
};

struct StorageEvent {
  enum class Type : unsigned char { kPut, kDelete };
  Type type = Type::kPut;
  KeyValue kv;                     // kDelete: key and mod_revision only
  SharedBytes previous;            // value before; empty on creation, and where it cannot be read
  Revision previous_revision = 0;  // mod_revision before; 0 on creation
};
struct EventBatch {
  std::vector<StorageEvent> events;  // in order; may be empty when only progress is reported
  Revision revision = 0;             // everything up to here has been delivered
};

class StorageWatch {
 public:
  virtual ~StorageWatch();
  // Waits for the next events.  Errors: kExpired when the history needed is gone or the store stopped.
  virtual Task<Result<EventBatch>> next() = 0;
  // Ends a pending and every later next() with kExpired.  Any thread.
  virtual void cancel() = 0;
};

class StorageBackend {
 public:
  virtual ~StorageBackend();

  // Revision of the last commit that anybody has been told of.  Linearizable.
  virtual Task<Result<Revision>> current_revision() = 0;
  // The same without waiting where the backend can say so (single-process backends); 0 where it cannot.
  virtual Revision committed_revision() const noexcept { return 0; }

  // Whether a watch is told of every revision by itself and at once, of those that change nothing below its prefix too.  Where it is not
  // (etcd), its EventBatch::revision stays behind until something concerns it, or until somebody asks with request_progress().
  virtual bool progress_is_immediate() const noexcept { return true; }
  // Has every open watch say how far it has come: each gives, soon, a batch (an empty one, if it must be) whose revision is at least that
  // of the store at the time of this call.  Ends when the request is on its way, which may be before it is answered; cheap enough to be
  // made ten times a second.  Nothing to do where progress is immediate.
  virtual Task<Status> request_progress();

  virtual Task<Result<RangeResult>> range(RangeRequest request) = 0;
  // Acknowledged only when durable.  A cancelled or failed txn has either committed wholly or written nothing.
  virtual Task<Result<TxnResult>> txn(TxnRequest request) = 0;
  // Events with mod_revision > `after` for keys starting with `prefix`.
  virtual Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) = 0;
  // Whether raise_revision() works.  A store that replaces another one must continue above the revisions that clients have seen there; one
  // that cannot be raised is written to until it is past them.
  virtual bool can_raise_revision() const noexcept { return false; }
  // The next commit has a revision above `revision`; durable before the task ends.  Without effect on a store that is past it.
  // Errors: those of a write; kInternalError unless can_raise_revision().
  virtual Task<Status> raise_revision(Revision revision);

  // Forgets what only revisions < `revision` need.
  virtual Task<Status> compact(Revision revision) = 0;
  // A lease that removes its keys when it has run out.
  virtual Task<Result<LeaseId>> grant_lease(std::chrono::seconds ttl) = 0;
  // For /healthz; must answer within `timeout`.
  virtual Task<Status> health(std::chrono::milliseconds timeout) = 0;
  // Refuses new work, finishes what was accepted, ends the watches, closes files.
  virtual Task<Status> stop() = 0;
  // For metrics: bytes on disk or in memory; -1 unknown.
  virtual std::int64_t size_bytes() const noexcept { return -1; }
  // The codec (by name: "json", "protobuf") in which objects of built-in kinds are written here; custom resources are JSON everywhere.
  // What is read back may be in any form.
  virtual std::string_view stored_form() const noexcept { return "json"; }
};

struct StorageBackendConfig {
  std::string data_dir;  // a directory of its own, exists, mode 0700
  bool unsafe_no_fsync = false;
  // The stored form that was asked for, by the name of its codec; empty: the backend's own choice.
  std::string stored_form;
};

}  // namespace BACKPLANE_API
