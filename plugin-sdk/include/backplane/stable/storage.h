// Storage backends: an ordered history of changes of keys, numbered by one sequence of revisions. The semantics are those of etcd v3.
//
// The operator chooses a backend with --storage-backend NAME. The manifest lists it as "storage/NAME" in "provides". Keys and values are
// bytes; the host has the encodings, the watch cache and the encryption. An empty store has the revision 1, and every commit that changes
// something has the next one.
//
// Thread-safety: the functions of a store are called on threads that the host keeps for this store, several at a time.
// They may wait, and must not call the server. `committed_revision` and `size` are called on every thread, and must not wait.
// watch(), more() and cancel() of one watch are called one after another.
// Deadlines: after a time limit the host reports a timeout to the client; the call goes on, and its result is dropped. A call that never
// returns occupies a thread of the store.
// Lifetime: arguments are borrowed for the call; the host copies what it is given before its function returns. Otherwise as base.h.
// Errors: the reasons Expired (the revision is compacted away), BadRequest (a future revision), NotFound (an unknown lease), Timeout,
// ServiceUnavailable (the store cannot be reached), InternalError.
// A compare that does not hold is a result and no error.
//
// Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.
#ifndef BACKPLANE_STABLE_STORAGE_H
#define BACKPLANE_STABLE_STORAGE_H

#include "backplane/stable/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Answers of bp_storage_table.push. BP_FULL: the batch is dropped, and more() is called when the queue has room. BP_ENDED: the batch is
// dropped, and cancel() follows.
#define BP_PUSHED 0
#define BP_FULL 1
#define BP_ENDED 2

// Where range() and txn() write their results; valid during the call.
typedef struct bp_store_answer bp_store_answer;
// Where a watch pushes its events; valid from watch() until cancel() has returned, or until watch() has failed.
typedef struct bp_event_stream bp_event_stream;

// How a store is opened. Filled by the host.
typedef struct bp_store_settings {
  size_t struct_size;
  // A directory for this backend alone; it exists, mode 0700.
  bp_str data_dir;
  // 1: --unsafe-no-fsync, writes may be acknowledged before they are durable.
  int32_t no_fsync;
} bp_store_settings;

// One key at one revision. Filled by the plugin.
typedef struct bp_key_value {
  size_t struct_size;
  bp_str key;
  bp_str value;
  // The revision of the commit that has created the key, and that of its last change.
  int64_t create_revision;
  int64_t mod_revision;
  // 0: none.
  int64_t lease;
} bp_key_value;

// Which keys are read. Filled by the host.
typedef struct bp_range {
  size_t struct_size;
  bp_str start;
  // The first key behind the range; empty: only the key `start`.
  bp_str end;
  // 0: the newest.
  int64_t revision;
  // The most keys to add; 0: all.
  int64_t limit;
  // 1: values may be left out.
  int32_t keys_only;
  // 1: no keys are added.
  int32_t count_only;
  // 1: the count may end at the limit. Whether there is more must be exact.
  int32_t skip_count;
} bp_range;

// A condition: the last change of the key has this revision; 0: the key does not exist. Filled by the host.
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
  // 0: none.
  int64_t lease;
} bp_put;

// A transaction: if all compares hold, all puts and removes are committed in one revision; otherwise nothing is written. The host has
// checked that no key is empty or written twice, and that the sizes are bounded. Filled by the host.
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
  // 1: the key was removed. Of `item`, key and mod_revision are read alone.
  int32_t removed;
  // The value before, and its mod_revision; empty and 0 if the key did not exist.
  bp_str previous;
  int64_t previous_revision;
} bp_store_event;

// A backend. committed_revision, request_progress, health, size and raise_revision may be NULL. Filled by the plugin.
typedef struct bp_storage_backend {
  size_t struct_size;
  // The NAME of --storage-backend.
  bp_str name;
  // The first argument of open().
  void* self;
  // The encoding of built-in kinds, unless the operator has configured one: "json" or "protobuf"; empty: "json".
  bp_str stored_form;
  // Opens the store at startup: the first argument of the functions below; NULL and an error if that fails.
  void* (*open)(void* self, const bp_store_settings* settings, bp_error* error);
  // Writes what is left and closes the store. The last call; no other call is running, and all watches are cancelled.
  void (*close)(void* store);
  // The revision of the last acknowledged commit, linearizable; negative: an error.
  int64_t (*current_revision)(void* store, bp_error* error);
  // The same without waiting, for stores that one process has; 0: not known.
  int64_t (*committed_revision)(void* store);
  // Adds the keys in their order with add_item(), and calls set_range().
  int32_t (*range)(void* store, const bp_range* range, bp_store_answer* answer, bp_error* error);
  // Returns after the commit is durable, with set_txn(). If a compare does not hold, the compared keys that exist are added with
  // add_item(). After an error the transaction has been committed wholly or not at all.
  int32_t (*txn)(void* store, const bp_txn* txn, bp_store_answer* answer, bp_error* error);
  // Begins to push the changes with mod_revision > `after` of keys that start with `prefix`: older ones during the call or later, new ones
  // by the thread that commits them or by another one. Returns what more() and cancel() are called with; NULL: an error.
  void* (*watch)(void* store, bp_str prefix, int64_t after, bp_event_stream* stream, bp_error* error);
  // The queue has room again after BP_FULL: pushes the batches that it has not taken.
  void (*more)(void* store, void* watch);
  // Ends a watch: no function is called with its stream any more when this returns. Called once for each watch.
  void (*cancel)(void* store, void* watch);
  // NULL: every watch gets every revision at once, as an empty batch if it changes nothing below the prefix. Otherwise: pushes to each
  // watch, soon, a batch whose revision is at least that of the store at the time of the call; it is called up to ten times a second.
  int32_t (*request_progress)(void* store, bp_error* error);
  // Discards history that only revisions < `revision` need.
  int32_t (*compact)(void* store, int64_t revision, bp_error* error);
  // Creates a lease: its keys are removed after this time. Returns its number, which is positive; otherwise an error.
  int64_t (*grant_lease)(void* store, int64_t seconds, bp_error* error);
  // The check of /healthz, for which the host waits so long. NULL: current_revision() is the check.
  int32_t (*health)(void* store, uint32_t milliseconds, bp_error* error);
  // In bytes, on disk or in memory; -1: not known.
  int64_t (*size)(void* store);
  // NULL: not supported. Otherwise: the revision of the next commit is greater than `revision`, durable on return. Without effect if the
  // store is past it.
  int32_t (*raise_revision)(void* store, int64_t revision, bp_error* error);
} bp_storage_backend;

// Filled by the host.
#define BP_STORAGE_TABLE "backplane.storage"
#define BP_STORAGE_TABLE_VERSION 1
typedef struct bp_storage_table {
  size_t struct_size;
  // In provision.
  int32_t (*add)(bp_context* context, const bp_storage_backend* backend, bp_error* error);
  // Adds a key to a result.
  void (*add_item)(bp_store_answer* answer, const bp_key_value* item);
  // Completes the result of range(). `revision`: of the store at the time of the read; `count`: the keys of the range, regardless of the
  // limit; `more`: 1 if the limit has left out some of them.
  void (*set_range)(bp_store_answer* answer, int64_t revision, int64_t count, int32_t more);
  // Completes the result of txn(). `committed`: 0 if a compare does not hold; `revision`: of the commit, otherwise of the store.
  void (*set_txn)(bp_store_answer* answer, int32_t committed, int64_t revision);
  // The next three are called on any thread, by one at a time for each stream, also with locks that the store's functions take: they
  // neither wait nor call the plugin. Adds an event to the batch that push() completes. Events are in the order of commits.
  void (*add_event)(bp_event_stream* stream, const bp_store_event* event);
  // Queues the batch; BP_PUSHED, BP_FULL or BP_ENDED. `revision`: all changes up to it are in this batch or in earlier ones, so a revision
  // is never divided between batches. A batch without events only advances the revision.
  int32_t (*push)(bp_event_stream* stream, int64_t revision);
  // Ends the watch after the queued batches: with an error, or with Expired if `error` is NULL. cancel() follows.
  void (*end)(bp_event_stream* stream, const bp_error* error);
} bp_storage_table;

#ifdef __cplusplus
}
#endif

#endif
