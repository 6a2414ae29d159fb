// The storage backend "stable-store" in C: keys in memory with their history, watches, and leases. One lock guards each store.
#define _GNU_SOURCE  // pthread_cond_clockwait()
#include <backplane/stable/plugin.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

BP_MANIFEST("plugin.json")
#define TEXT(literal) ((bp_str){literal, sizeof(literal) - 1})

static const bp_host* host;
static const bp_storage_table* table;

// What one commit has made of a key; `removed`: nothing. `bytes`: the key, then the value.
struct version {
  int64_t create, mod, lease;
  bool removed;
  size_t key_size, value_size;
  char bytes[];
};
struct list {
  struct version** items;
  size_t count;
};
struct lease {
  int64_t id, end;  // in milliseconds of the monotonic clock
};
// A cursor into the history.
struct watch {
  struct watch* next_watch;
  bp_event_stream* stream;
  int64_t after, sent;  // the revision that the client has seen, that of the last batch
  size_t next;          // the first version to push, counted from the first of all
  size_t prefix_size;
  char prefix[];
};
struct store {
  pthread_mutex_t lock;
  pthread_cond_t changed;  // for the thread of the leases
  pthread_t lease_thread;
  bool closing;
  struct list versions;  // by key, then by revision
  struct list history;   // the same in commit order
  size_t discarded;      // how many compact() has taken from the front of the history
  struct lease* leases;
  size_t lease_count;
  struct watch* watches;
  int64_t compacted, last_lease;
  _Atomic int64_t revision;
};

// Without memory the process ends, because a commit must not be forgotten.
static void* memory_or_abort(void* memory) {
  if (memory == NULL) abort();
  return memory;
}

static void list_insert(struct list* list, size_t at, struct version* item) {
  if (list->count % 1024 == 0) list->items = memory_or_abort(realloc(list->items, (list->count + 1024) * sizeof(item)));
  memmove(list->items + at + 1, list->items + at, (list->count - at) * sizeof(item));
  list->items[at] = item;
  ++list->count;
}

static void list_erase(struct list* list, size_t at, size_t count) {
  memmove(list->items + at, list->items + at + count, (list->count - at - count) * sizeof(*list->items));
  list->count -= count;
}

// An error with this reason of metav1.Status; -1.
static int32_t refuse(bp_error* error, const char* reason, const char* message) {
  snprintf(error->reason, sizeof(error->reason), "%s", reason);
  snprintf(error->message, sizeof(error->message), "%s", message);
  return -1;
}

// ---- versions; with the lock held

static bp_str key_of(const struct version* version) { return (bp_str){version->bytes, version->key_size}; }
static bp_str value_of(const struct version* version) { return (bp_str){version->bytes + version->key_size, version->value_size}; }

static int compare(bp_str a, bp_str b) {
  const int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
  return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

// The place behind the versions of a key up to a revision, and behind all lesser keys.
static size_t place_behind(const struct store* store, bp_str key, int64_t revision) {
  size_t low = 0, high = store->versions.count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const struct version* version = store->versions.items[middle];
    const int order = compare(key_of(version), key);
    const bool before = order < 0 || (order == 0 && version->mod <= revision);
    low = before ? middle + 1 : low;
    high = before ? high : middle;
  }
  return low;
}

// The version of a key at a revision; NULL if the key did not exist.
static const struct version* version_at(const struct store* store, bp_str key, int64_t revision) {
  const size_t behind = place_behind(store, key, revision);
  const struct version* version = behind > 0 ? store->versions.items[behind - 1] : NULL;
  return version != NULL && !version->removed && compare(key_of(version), key) == 0 ? version : NULL;
}

static bp_key_value item_of(const struct version* version) {
  return (bp_key_value){sizeof(bp_key_value), key_of(version), value_of(version), version->create, version->mod, version->lease};
}

static void add_version(struct store* store, int64_t revision, const bp_put* put, bool removed) {
  const struct version* old = version_at(store, put->key, revision);
  struct version* version = memory_or_abort(malloc(sizeof(struct version) + put->key.size + put->value.size));
  *version = (struct version){old != NULL ? old->create : revision, revision, put->lease, removed, put->key.size, put->value.size};
  memcpy(version->bytes, put->key.data, put->key.size);
  if (put->value.size != 0) memcpy(version->bytes + put->key.size, put->value.data, put->value.size);
  list_insert(&store->versions, place_behind(store, put->key, revision), version);
  list_insert(&store->history, store->history.count, version);
}

// Returns whether the key existed.
static bool remove_key(struct store* store, int64_t revision, bp_str key) {
  if (version_at(store, key, revision) == NULL) return false;
  const bp_put nothing = {.struct_size = sizeof(nothing), .key = key};
  add_version(store, revision, &nothing, true);
  return true;
}

// ---- watches

// If the watch is for the key, and has not begun behind the version.
static void add_event(const struct store* store, const struct watch* watch, const struct version* version) {
  if (version->mod <= watch->after || version->key_size < watch->prefix_size) return;
  if (memcmp(version->bytes, watch->prefix, watch->prefix_size) != 0) return;
  const bp_key_value item = item_of(version);
  bp_store_event event = {.struct_size = sizeof(event), .item = &item, .removed = version->removed};
  const struct version* old = version_at(store, key_of(version), version->mod - 1);
  if (old != NULL) {
    event.previous = value_of(old);
    event.previous_revision = old->mod;
  }
  table->add_event(watch->stream, &event);
}

// Pushes what the watch has not got yet, a batch for each revision, until the host's queue is full. With the lock held.
static void feed(struct store* store, struct watch* watch) {
  while (watch->sent < store->revision) {
    if (watch->next < store->discarded) {
      table->end(watch->stream, NULL);
      watch->sent = INT64_MAX;
      return;
    }
    size_t at = watch->next - store->discarded;
    const int64_t revision = store->history.items[at]->mod;
    for (; at < store->history.count && store->history.items[at]->mod == revision; ++at) {
      add_event(store, watch, store->history.items[at]);
    }
    const int32_t pushed = table->push(watch->stream, revision);
    if (pushed == BP_FULL) return;  // store_more() goes on
    watch->next = store->discarded + at;
    watch->sent = pushed == BP_ENDED ? INT64_MAX : revision;
  }
}

static void commit(struct store* store, int64_t revision) {
  store->revision = revision;
  for (struct watch* watch = store->watches; watch != NULL; watch = watch->next_watch) feed(store, watch);
}

static void* store_watch(void* self, bp_str prefix, int64_t after, bp_event_stream* stream, bp_error* error) {
  struct store* store = self;
  struct watch* watch = NULL;
  pthread_mutex_lock(&store->lock);
  if (after + 1 >= store->compacted) {
    size_t at = store->history.count;
    while (at > 0 && store->history.items[at - 1]->mod > after) --at;
    watch = memory_or_abort(malloc(sizeof(struct watch) + prefix.size));
    *watch = (struct watch){store->watches, stream, after, after, store->discarded + at, prefix.size};
    memcpy(watch->prefix, prefix.data, prefix.size);
    store->watches = watch;
    feed(store, watch);
  }
  pthread_mutex_unlock(&store->lock);
  if (watch == NULL) refuse(error, "Expired", "the requested revision has been compacted away");
  return watch;
}

static void store_more(void* self, void* watch) {
  struct store* store = self;
  pthread_mutex_lock(&store->lock);
  feed(store, watch);
  pthread_mutex_unlock(&store->lock);
}

static void store_cancel(void* self, void* watch) {
  struct store* store = self;
  pthread_mutex_lock(&store->lock);
  struct watch** place = &store->watches;
  while (*place != watch) place = &(*place)->next_watch;
  *place = (*place)->next_watch;
  pthread_mutex_unlock(&store->lock);
  free(watch);
}

// ---- reading and writing

static int64_t store_committed(void* self) { return ((struct store*)self)->revision; }
static int64_t store_current(void* self, bp_error* error) {
  (void)error;
  return store_committed(self);
}

static void read_keys(const struct store* store, const bp_range* range, int64_t revision, bp_store_answer* answer) {
  int64_t count = 0, added = 0;
  for (size_t at = place_behind(store, range->start, 0); at < store->versions.count; ++at) {
    const struct version* version = store->versions.items[at];
    const bp_str key = key_of(version);
    if (range->end.size == 0 ? compare(key, range->start) != 0 : compare(key, range->end) >= 0) break;
    if (version_at(store, key, revision) != version) continue;
    ++count;
    if (range->count_only || (range->limit > 0 && added == range->limit)) continue;
    const bp_key_value item = item_of(version);
    table->add_item(answer, &item);
    ++added;
  }
  table->set_range(answer, store->revision, count, !range->count_only && added < count);
}

static int32_t store_range(void* self, const bp_range* range, bp_store_answer* answer, bp_error* error) {
  struct store* store = self;
  pthread_mutex_lock(&store->lock);
  const int64_t revision = range->revision == 0 ? store->revision : range->revision;
  const bool future = revision > store->revision, compacted = revision < store->compacted;
  if (!future && !compacted) read_keys(store, range, revision, answer);
  pthread_mutex_unlock(&store->lock);
  if (future) return refuse(error, "BadRequest", "the requested revision is a future revision");
  return compacted ? refuse(error, "Expired", "the requested revision has been compacted away") : 0;
}

static bool has_lease(const struct store* store, int64_t id) {
  bool found = id == 0;
  for (size_t i = 0; i < store->lease_count; ++i) found |= store->leases[i].id == id;
  return found;
}

// Whether all compares hold. The keys that exist are added, which the host reads if they do not.
static bool compares_hold(const struct store* store, const bp_txn* txn, bp_store_answer* answer) {
  bool hold = true;
  for (size_t i = 0; i < txn->compare_count; ++i) {
    const struct version* version = version_at(store, txn->compares[i]->key, INT64_MAX);
    const bp_key_value item = version != NULL ? item_of(version) : (bp_key_value){0};
    hold &= item.mod_revision == txn->compares[i]->mod_revision;
    if (version != NULL) table->add_item(answer, &item);
  }
  return hold;
}

static int32_t store_txn(void* self, const bp_txn* txn, bp_store_answer* answer, bp_error* error) {
  struct store* store = self;
  bool leases = true, changed = txn->put_count != 0;
  pthread_mutex_lock(&store->lock);
  for (size_t i = 0; i < txn->put_count; ++i) leases &= has_lease(store, txn->puts[i]->lease);
  const bool hold = leases && compares_hold(store, txn, answer);
  if (hold) {
    const int64_t revision = store->revision + 1;
    for (size_t i = 0; i < txn->put_count; ++i) add_version(store, revision, txn->puts[i], false);
    for (size_t i = 0; i < txn->remove_count; ++i) changed |= remove_key(store, revision, txn->removes[i]);
    if (changed) commit(store, revision);
  }
  table->set_txn(answer, hold, store->revision);
  pthread_mutex_unlock(&store->lock);
  return leases ? 0 : refuse(error, "NotFound", "requested lease not found");
}

// Forgets the versions that `version`, the oldest of the history, has replaced, and itself if it is a removal.
static void discard(struct store* store, struct version* version) {
  const size_t behind = place_behind(store, key_of(version), version->mod), first = place_behind(store, key_of(version), 0);
  const size_t end = version->removed ? behind : behind - 1;
  for (size_t at = first; at < end; ++at) free(store->versions.items[at]);
  list_erase(&store->versions, first, end - first);
}

static int32_t store_compact(void* self, int64_t revision, bp_error* error) {
  struct store* store = self;
  size_t count = 0;
  pthread_mutex_lock(&store->lock);
  const bool future = revision > store->revision;
  if (!future && revision > store->compacted) store->compacted = revision;
  while (!future && count < store->history.count && store->history.items[count]->mod < revision)
    discard(store, store->history.items[count++]);
  list_erase(&store->history, 0, count);
  store->discarded += count;
  pthread_mutex_unlock(&store->lock);
  return future ? refuse(error, "BadRequest", "the requested revision is a future revision") : 0;
}

// ---- leases

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static int64_t store_grant(void* self, int64_t seconds, bp_error* error) {
  (void)error;
  struct store* store = self;
  pthread_mutex_lock(&store->lock);
  const int64_t id = ++store->last_lease;
  store->leases = memory_or_abort(realloc(store->leases, (store->lease_count + 1) * sizeof(struct lease)));
  store->leases[store->lease_count++] = (struct lease){id, now() + seconds * 1000};
  pthread_cond_signal(&store->changed);
  pthread_mutex_unlock(&store->lock);
  return id;
}

// Removes the keys of a lease in one revision.
static void end_lease(struct store* store, int64_t id) {
  const int64_t revision = store->revision + 1;
  bool changed = false;
  for (size_t at = 0; at < store->versions.count; ++at) {
    const struct version* version = store->versions.items[at];
    if (version->lease != id || version_at(store, key_of(version), INT64_MAX) != version) continue;
    changed |= remove_key(store, revision, key_of(version));
  }
  if (changed) commit(store, revision);
}

// The thread of the leases: ends those that are due, and sleeps until the next one is.
static void* end_leases(void* self) {
  struct store* store = self;
  pthread_mutex_lock(&store->lock);
  while (!store->closing) {
    int64_t next = now() + 3600000;
    for (size_t i = store->lease_count; i-- > 0;) {
      const struct lease lease = store->leases[i];
      if (lease.end > now()) {
        next = lease.end < next ? lease.end : next;
      } else {
        store->leases[i] = store->leases[--store->lease_count];
        end_lease(store, lease.id);
      }
    }
    const struct timespec until = {(time_t)(next / 1000), (long)(next % 1000) * 1000000};
    pthread_cond_clockwait(&store->changed, &store->lock, CLOCK_MONOTONIC, &until);
  }
  pthread_mutex_unlock(&store->lock);
  return NULL;
}

static void* store_open(void* self, const bp_store_settings* settings, bp_error* error) {
  (void)self, (void)settings, (void)error;
  struct store* store = memory_or_abort(malloc(sizeof(struct store)));
  *store = (struct store){.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .revision = 1};
  if (pthread_create(&store->lease_thread, NULL, end_leases, store) != 0) abort();
  host->log(host->context, BP_LOG_WARNING, TEXT("the objects are in memory, and end with the server"));
  return store;
}

static void store_close(void* self) {
  struct store* store = self;
  pthread_mutex_lock(&store->lock);
  store->closing = true;
  pthread_cond_signal(&store->changed);
  pthread_mutex_unlock(&store->lock);
  pthread_join(store->lease_thread, NULL);
  for (size_t at = 0; at < store->versions.count; ++at) free(store->versions.items[at]);
  free(store->leases), free(store->versions.items), free(store->history.items), free(store);
}

static int32_t provision(void* self, const bp_host* its_host, bp_error* error) {
  (void)self;
  host = its_host;
  table = host->table(host->context, TEXT(BP_STORAGE_TABLE), 1);
  if (table == NULL) return refuse(error, "", "the server has no storage backends of the stable tier");
  const bp_storage_backend backend = {.struct_size = sizeof(backend),
                                      .name = TEXT("stable-store"),
                                      .open = store_open,
                                      .close = store_close,
                                      .current_revision = store_current,
                                      .committed_revision = store_committed,
                                      .range = store_range,
                                      .txn = store_txn,
                                      .watch = store_watch,
                                      .more = store_more,
                                      .cancel = store_cancel,
                                      .compact = store_compact,
                                      .grant_lease = store_grant};
  return table->add(host->context, &backend, error);
}

const bp_plugin* backplane_stable_plugin(bp_error* error) {
  (void)error;
  static const bp_plugin plugin = {.struct_size = sizeof(plugin), .provision = provision};
  return &plugin;
}
