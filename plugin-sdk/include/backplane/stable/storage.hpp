// Storage backends (storage.h).
//
// Thread-safety: the functions of a Store are called on threads that the host uses only for this store, several at the same time. They may
//                wait, and must not call the server. committed_revision() and size() must not wait. more() and the destructor of a
//                StoreWatch are called one after another. An EventStream is used by one thread at a time.
// Lifetime:      the host destroys a Store after its last call, and a StoreWatch when it cancels the watch. The EventStream of a destroyed
//                StoreWatch must not be used. Arguments are valid during the call.
// Errors:        an Error with the reason Expired, BadRequest, NotFound, Timeout or ServiceUnavailable. Any other exception is an
//                InternalError.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/stable/base.hpp"
#include "backplane/stable/storage.h"

namespace backplane::stable {

// One key at one revision.
struct StoredKey {
  std::string_view key;
  std::string_view value = {};
  std::int64_t create_revision = 0;
  std::int64_t mod_revision = 0;
  std::int64_t lease = 0;
};
// One change of one key. For a removal, only the key and mod_revision of `item` are set.
struct StoredChange {
  StoredKey item;
  bool removed = false;
  std::string_view previous = {};
  std::int64_t previous_revision = 0;
};

namespace detail {
inline bp_key_value key_value(const StoredKey& item) noexcept {
  return {sizeof(bp_key_value), str(item.key), str(item.value), item.create_revision, item.mod_revision, item.lease};
}
}  // namespace detail

// The result of range() or txn().
class StoreAnswer {
 public:
  StoreAnswer(const bp_storage_table& table, bp_store_answer* answer) noexcept : table_(table), answer_(answer) {}
  // Adds a key of the range, in ascending order; or a compared key of a transaction that is not committed.
  void add(const StoredKey& item) const {
    const bp_key_value passed = detail::key_value(item);
    table_.add_item(answer_, &passed);
  }
  // Completes the result of range().
  void set_range(std::int64_t revision, std::int64_t count, bool more) const { table_.set_range(answer_, revision, count, more ? 1 : 0); }
  // Completes the result of txn().
  void set_txn(bool committed, std::int64_t revision) const { table_.set_txn(answer_, committed ? 1 : 0, revision); }

 private:
  const bp_storage_table& table_;
  bp_store_answer* answer_;
};

// A watch pushes its events to it. Its functions do not wait and do not call the store.
class EventStream {
 public:
  EventStream(const bp_storage_table& table, bp_event_stream* stream) noexcept : table_(&table), stream_(stream) {}
  void add(const StoredChange& change) const {
    const bp_key_value item = detail::key_value(change.item);
    const bp_store_event event = {sizeof(event), &item, change.removed ? 1 : 0, str(change.previous), change.previous_revision};
    table_->add_event(stream_, &event);
  }
  // Queues the added changes as one batch (bp_storage_table.push). Returns BP_PUSHED, BP_FULL or BP_ENDED.
  int push(std::int64_t revision) const { return table_->push(stream_, revision); }
  // Ends the watch with Expired.
  void end() const { table_->end(stream_, nullptr); }

 private:
  const bp_storage_table* table_;
  bp_event_stream* stream_;
};

// A watch of a Store.
class StoreWatch {
 public:
  virtual ~StoreWatch() = default;
  // Called when the queue has room again after BP_FULL. Pushes the batches that the queue has not accepted.
  virtual void more() noexcept = 0;
};

class Store {
 public:
  virtual ~Store() = default;
  virtual std::int64_t current_revision() = 0;
  virtual std::int64_t committed_revision() noexcept { return 0; }
  virtual void range(const bp_range& range, const StoreAnswer& answer) = 0;
  virtual void txn(const bp_txn& txn, const StoreAnswer& answer) = 0;
  virtual std::unique_ptr<StoreWatch> watch(std::string_view prefix, std::int64_t after, EventStream stream) = 0;
  // Called only if StoreBackend::progress_on_request is true.
  virtual void request_progress() {}
  virtual void compact(std::int64_t revision) = 0;
  virtual std::int64_t grant_lease(std::int64_t seconds) = 0;
  virtual void health(std::uint32_t milliseconds) = 0;
  virtual std::int64_t size() noexcept { return -1; }
  // Called only if StoreBackend::raises_revision is true.
  virtual void raise_revision(std::int64_t) {}
};

struct StoreBackend {
  std::string name;
  std::function<std::unique_ptr<Store>(const bp_store_settings& settings)> open;
  std::string stored_form = {};
  bool progress_on_request = false;
  bool raises_revision = false;
};

namespace detail {

struct KeptBackend {
  Host& host;
  StoreBackend backend;
};
struct KeptStore {
  const bp_storage_table& table;
  std::unique_ptr<Store> store;
};
inline KeptStore& kept(void* store) noexcept { return *static_cast<KeptStore*>(store); }

inline void* open_store(void* self, const bp_store_settings* settings, bp_error* error) {
  void* opened = nullptr;
  barrier(error, [&] {
    auto& own = *static_cast<KeptBackend*>(self);
    const auto& table = own.host.find<bp_storage_table>(BP_STORAGE_TABLE, 1);
    opened = std::make_unique<KeptStore>(KeptStore{table, own.backend.open(*settings)}).release();
  });
  return opened;
}
inline void* begin_watch(void* store, bp_str prefix, std::int64_t after, bp_event_stream* stream, bp_error* error) {
  void* watch = nullptr;
  barrier(error, [&] { watch = kept(store).store->watch(view(prefix), after, EventStream(kept(store).table, stream)).release(); });
  return watch;
}
// Returns the number that a function of the store returns; -1 and an error if the function throws.
template <class Work>
std::int64_t number(bp_error* error, Work work) noexcept {
  std::int64_t answer = -1;
  barrier(error, [&] { answer = work(); });
  return answer;
}

inline void set_reads_and_writes(bp_storage_backend& table) {
  table.current_revision = [](void* store, bp_error* error) {
    return number(error, [&] { return kept(store).store->current_revision(); });
  };
  table.committed_revision = [](void* store) { return kept(store).store->committed_revision(); };
  table.range = [](void* store, const bp_range* range, bp_store_answer* answer, bp_error* error) {
    return barrier(error, [&] { kept(store).store->range(*range, StoreAnswer(kept(store).table, answer)); });
  };
  table.txn = [](void* store, const bp_txn* txn, bp_store_answer* answer, bp_error* error) {
    return barrier(error, [&] { kept(store).store->txn(*txn, StoreAnswer(kept(store).table, answer)); });
  };
  table.watch = begin_watch;
  table.more = [](void*, void* watch) { static_cast<StoreWatch*>(watch)->more(); };
  table.cancel = [](void*, void* watch) { delete static_cast<StoreWatch*>(watch); };
}
inline void set_upkeep(bp_storage_backend& table, const StoreBackend& backend) {
  table.compact = [](void* store, std::int64_t revision, bp_error* error) {
    return barrier(error, [&] { kept(store).store->compact(revision); });
  };
  table.grant_lease = [](void* store, std::int64_t seconds, bp_error* error) {
    return number(error, [&] { return kept(store).store->grant_lease(seconds); });
  };
  table.health = [](void* store, std::uint32_t milliseconds, bp_error* error) {
    return barrier(error, [&] { kept(store).store->health(milliseconds); });
  };
  table.size = [](void* store) { return kept(store).store->size(); };
  if (backend.progress_on_request) {
    table.request_progress = [](void* store, bp_error* error) { return barrier(error, [&] { kept(store).store->request_progress(); }); };
  }
  if (backend.raises_revision) {
    table.raise_revision = [](void* store, std::int64_t revision, bp_error* error) {
      return barrier(error, [&] { kept(store).store->raise_revision(revision); });
    };
  }
}

}  // namespace detail

// Registers a backend. Call it in provision().
inline void add_storage_backend(Host& host, StoreBackend backend) {
  auto* kept = host.keep(detail::KeptBackend{host, std::move(backend)});
  bp_storage_backend table{};
  table.struct_size = sizeof(table);
  table.name = str(kept->backend.name);
  table.self = kept;
  table.stored_form = str(kept->backend.stored_form);
  table.open = detail::open_store;
  table.close = [](void* store) { delete &detail::kept(store); };
  detail::set_reads_and_writes(table);
  detail::set_upkeep(table, kept->backend);
  const auto& storage = host.find<bp_storage_table>(BP_STORAGE_TABLE, 1);
  detail::checked([&](bp_error* error) { return storage.add(host.context(), &table, error); });
}

}  // namespace backplane::stable
