// Storage backends: an ordered history of changes of keys, numbered by one sequence of revisions. The semantics are those of etcd v3.
//
// The operator chooses a backend with --storage-backend NAME. The manifest lists it as "storage/NAME" in "provides". Keys and values are
// bytes; the host implements encodings, the watch cache and encryption. An empty store has the revision 1, and every commit that changes a
// key has the next revision.
//
// Thread-safety: the functions of a store are called on threads that the host uses only for this store, several at the same time.
// They may wait, and must not call the server. committed_revision() and size() are called on any thread, and must not wait.
// watch(), more() and cancel() of one watch are called one after another.
// Deadlines: if a call exceeds a time limit, the host reports a timeout to the client; the call continues, and its result is dropped. A
// call that never returns occupies a thread of the store.
// Lifetime: arguments are valid during the call; functions of the host copy their arguments before they return. Otherwise as in base.h.
// Errors: a function that fails returns one of the reasons Expired (the revision is compacted away), BadRequest (a future revision),
// NotFound (an unknown lease), Timeout, ServiceUnavailable (the store cannot be reached), InternalError.
// A compare that does not hold is a result, not an error.
//
// Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.
#ifndef BACKPLANE_STABLE_STORAGE_H
#define BACKPLANE_STABLE_STORAGE_H

#include "backplane/stable/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Results of bp_storage_table.push. BP_PUSHED: the batch is queued. BP_FULL: the batch is dropped, and the host calls more() when the queue
// has room. BP_ENDED: the batch is dropped, and the host calls cancel().
#define BP_PUSHED 0
#define BP_FULL 1
#define BP_ENDED 2

// range() and txn() write their results to it; valid during the call.
typedef struct bp_store_answer bp_store_answer;
// A watch pushes its events to it; valid from watch() until cancel() has returned, or until watch() has failed.
typedef struct bp_event_stream bp_event_stream;

// The settings with which a store is opened. Filled by the host.
typedef struct bp_store_settings {
  size_t struct_size;
  // A directory that only this backend uses. It exists and has mode 0700.
  bp_str data_dir;
  // 1: --unsafe-no-fsync is set, so writes may be acknowledged before they are durable.
  int32_t no_fsync;
} bp_store_settings;

// One key at one revision. Filled by the plugin.
typedef struct bp_key_value {
  size_t struct_size;
  bp_str key;
  bp_str value;
  // The revision of the commit that created the key (create_revision), and that of its last change (mod_revision).
  int64_t create_revision;
  int64_t mod_revision;
  // 0: no lease.
  int64_t lease;
} bp_key_value;

// The keys to read. Filled by the host.
typedef struct bp_range {
  size_t struct_size;
  bp_str start;
  // The first key after the range; empty: only the key `start`.
  bp_str end;
  // The revision at which to read; 0: the newest.
  int64_t revision;
  // The maximum number of keys to add; 0: all.
  int64_t limit;
  // 1: the values may be omitted.
  int32_t keys_only;
  // 1: only the count is needed; add no keys.
  int32_t count_only;
  // 1: the count may end at the limit. The argument `more` of set_range() must be exact even then.
  int32_t skip_count;
} bp_range;

// A condition: the last change of the key has the revision `mod_revision`; 0: the key does not exist. Filled by the host.
typedef struct bp_compare {
  size_t struct_size;
  bp_str key;
  int64_t mod_revision;
} bp_compare;

// A value to write. Filled by the host.
typedef struct bp_put {
  size_t struct_size;
  bp_str key;
  bp_str value;
  // 0: no lease.
  int64_t lease;
} bp_put;

// A transaction: if all compares hold, all puts and removes are committed in one revision; if a compare does not hold, nothing is written.
// The host has checked that no key to write is empty or occurs twice, and that the transaction is not too large. Filled by the host.
typedef struct bp_txn {
  size_t struct_size;
  const bp_compare* const* compares;
  size_t compare_count;
  const bp_put* const* puts;
  size_t put_count;
  const bp_str* removes;
  size_t remove_count;
} bp_txn;

// One change of one key. Filled by the plugin.
typedef struct bp_store_event {
  size_t struct_size;
  const bp_key_value* item;
  // 1: the key was removed. The host then reads only key and mod_revision of `item`.
  int32_t removed;
  // The value before the change, and its mod_revision; empty and 0 if the key did not exist.
  bp_str previous;
  int64_t previous_revision;
} bp_store_event;

// A backend. committed_revision, request_progress, health, size and raise_revision may be NULL. Filled by the plugin.
typedef struct bp_storage_backend {
  size_t struct_size;
  // The NAME in --storage-backend NAME.
  bp_str name;
  // The first argument of open().
  void* self;
  // The encoding of objects of built-in kinds, unless the operator has configured one: "json" or "protobuf"; empty: "json".
  bp_str stored_form;
  // Opens the store at startup. Returns the first argument of the functions below; NULL and an error if that fails.
  void* (*open)(void* self, const bp_store_settings* settings, bp_error* error);
  // Writes pending data and closes the store. This is the last call: no other call is running, and all watches are cancelled.
  void (*close)(void* store);
  // Returns the revision of the last acknowledged commit, linearizable; a negative number and an error if that fails.
  int64_t (*current_revision)(void* store, bp_error* error);
  // Like current_revision(), but without waiting: for stores that only one process uses. Returns 0 if the revision is unknown.
  int64_t (*committed_revision)(void* store);
  // Adds the keys of the range in ascending order with add_item(), and then calls set_range().
  int32_t (*range)(void* store, const bp_range* range, bp_store_answer* answer, bp_error* error);
  // Commits the transaction. Calls set_txn() and returns after the commit is durable. If a compare does not hold, adds those of the
  // compared keys that exist with add_item(). After an error, the transaction has been committed wholly or not at all.
  int32_t (*txn)(void* store, const bp_txn* txn, bp_store_answer* answer, bp_error* error);
  // Begins to push the changes with mod_revision > `after` of keys that start with `prefix`: existing changes during the call or later, new
  // changes on the thread that commits them or on another one. Returns the argument `watch` of more() and cancel(); NULL and an error if
  // that fails.
  void* (*watch)(void* store, bp_str prefix, int64_t after, bp_event_stream* stream, bp_error* error);
  // The host calls it when the queue has room again after BP_FULL. Pushes the batches that the queue has not accepted.
  void (*more)(void* store, void* watch);
  // Ends a watch. After it returns, the plugin calls no function with the watch's stream. Called once for each watch.
  void (*cancel)(void* store, void* watch);
  // Pushes a batch to each watch, soon; its revision is at least that of the store at the time of the call. Called up to ten times a
  // second. If it is NULL, every watch must receive every revision at once, as an empty batch if the revision changes no key with the
  // prefix.
  int32_t (*request_progress)(void* store, bp_error* error);
  // Discards history that only reads of revisions < `revision` need.
  int32_t (*compact)(void* store, int64_t revision, bp_error* error);
  // Creates a lease: its keys are removed after `seconds`. Returns the lease's number, which is positive; otherwise an error.
  int64_t (*grant_lease)(void* store, int64_t seconds, bp_error* error);
  // The check of /healthz. The host waits for its result for `milliseconds`. If it is NULL, the host calls current_revision() as the check.
  int32_t (*health)(void* store, uint32_t milliseconds, bp_error* error);
  // Returns the size of the store in bytes, on disk or in memory; -1: unknown.
  int64_t (*size)(void* store);
  // Makes the revision of the next commit greater than `revision`; durable on return. Without effect if the store's revision is already
  // greater. NULL: not supported.
  int32_t (*raise_revision)(void* store, int64_t revision, bp_error* error);
} bp_storage_backend;

// Filled by the host.
#define BP_STORAGE_TABLE "backplane.storage"
#define BP_STORAGE_TABLE_VERSION 1
typedef struct bp_storage_table {
  size_t struct_size;
  // Adds a backend. Call it in provision.
  int32_t (*add)(bp_context* context, const bp_storage_backend* backend, bp_error* error);
  // Adds a key to the result of range() or txn().
  void (*add_item)(bp_store_answer* answer, const bp_key_value* item);
  // Completes the result of range(). `revision`: the revision of the store at the time of the read. `count`: the number of keys in the
  // range, regardless of the limit. `more`: 1 if the limit has excluded some of them.
  void (*set_range)(bp_store_answer* answer, int64_t revision, int64_t count, int32_t more);
  // Completes the result of txn(). `committed`: 0 if a compare does not hold. `revision`: the revision of the commit; if nothing was
  // committed, that of the store.
  void (*set_txn)(bp_store_answer* answer, int32_t committed, int64_t revision);
  // add_event(), push() and end() may be called on any thread, by one thread at a time for each stream, even if the thread holds locks that
  // the store's functions acquire: they do not wait, and do not call the plugin. add_event() adds an event to the batch that push()
  // completes. Events are in the order of the commits.
  void (*add_event)(bp_event_stream* stream, const bp_store_event* event);
  // Queues the batch and returns BP_PUSHED, BP_FULL or BP_ENDED. `revision`: all changes up to this revision are in this batch or in
  // earlier ones, so the changes of a revision are never divided between batches. A batch without events only advances the revision.
  int32_t (*push)(bp_event_stream* stream, int64_t revision);
  // Ends the watch after the queued batches: with `error`, or with the reason Expired if `error` is NULL. The host then calls cancel().
  void (*end)(bp_event_stream* stream, const bp_error* error);
} bp_storage_table;

#ifdef __cplusplus
}
#endif

#endif
